"""serve_mobilenet_v2 in PyTorch, batch norms folded by torch's fusion tool."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls._serving import ConvNorm, Depthwise, control, conv, same_pad

EPSILON = 1e-3
STEM, LAST = 32, 1280
ROWS = (  # expansion, channels, repeats, stride of the first
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def relu6(x: torch.Tensor) -> torch.Tensor:
    """Return x clipped to 0 and 6, in place."""
    return functional.relu6(x, inplace=True)


class InvertedResidual(nn.Module):
    """1x1 that widens, 3x3 depthwise, 1x1 that narrows; a shortcut if the shape stays."""

    def __init__(self, inputs: int, expansion: int, outputs: int, stride: int) -> None:
        super().__init__()
        wide = expansion * inputs
        self.expand = ConvNorm(conv(inputs, wide, 1), EPSILON) if expansion > 1 else None
        self.depthwise = ConvNorm(Depthwise(wide, 3, stride), EPSILON)
        self.project = ConvNorm(conv(wide, outputs, 1), EPSILON)
        self.keeps_shape = inputs == outputs and stride == 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] to [N,outputs,H/stride,W/stride]."""
        y = x if self.expand is None else relu6(self.expand(x))
        y = self.project(relu6(self.depthwise(y)))
        return y.add_(x) if self.keeps_shape else y


class MobileNetV2(nn.Module):
    """Stem, 17 inverted residuals, 1x1 convolution to 1280, global average, dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = ConvNorm(conv(3, STEM, 3, 2), EPSILON)
        self.blocks, inputs = nn.Sequential(), STEM
        for expansion, outputs, repeats, first in ROWS:
            for index in range(repeats):
                self.blocks.append(InvertedResidual(inputs, expansion, outputs, 1 if index else first))
                inputs = outputs
        self.last = ConvNorm(conv(inputs, LAST, 1), EPSILON)
        self.output = nn.Linear(LAST, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map photographs float32[N,3,224,224] to logits float32[N,1000]."""
        x = relu6(self.stem(same_pad(x, 3)))
        x = relu6(self.last(self.blocks(x)))
        return self.output(x.mean((2, 3)))


CONTROL = control(MobileNetV2)

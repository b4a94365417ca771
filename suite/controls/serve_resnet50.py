"""serve_resnet50 in PyTorch, batch norms folded by torch's fusion tool."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls._serving import ConvNorm, control, conv

EPSILON = 1.001e-5
WIDTHS = (64, 128, 256, 512)
BLOCKS = (3, 4, 6, 3)
EXPANSION = 4


def unit(inputs: int, features: int, kernel: int, stride: int = 1, padding: int = 0) -> ConvNorm:
    """Return a convolution with bias and its norm."""
    return ConvNorm(conv(inputs, features, kernel, stride, padding, bias=True), EPSILON)


class Bottleneck(nn.Module):
    """1x1, optionally strided, 3x3 and 1x1 to four times the width, plus a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = EXPANSION * width
        self.shortcut = unit(inputs, outputs, 1, stride) if inputs != outputs else nn.Identity()
        self.reduce = unit(inputs, width, 1, stride)
        self.middle = unit(width, width, 3, padding=1)
        self.expand = unit(width, outputs, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] to [N,4*width,H/stride,W/stride]."""
        y = functional.relu(self.reduce(x), inplace=True)
        y = functional.relu(self.middle(y), inplace=True)
        return functional.relu(self.expand(y).add_(self.shortcut(x)), inplace=True)


class ResNet(nn.Module):
    """Stem, four stages of bottlenecks, global average, dense layer."""

    def __init__(self, blocks: tuple[int, ...] = BLOCKS) -> None:
        super().__init__()
        self.stem = unit(3, WIDTHS[0], 7, 2, padding=3)
        self.blocks, inputs = nn.Sequential(), WIDTHS[0]
        for stage, (width, count) in enumerate(zip(WIDTHS, blocks, strict=True)):
            for index in range(count):
                self.blocks.append(Bottleneck(inputs, width, stride=2 if stage and not index else 1))
                inputs = EXPANSION * width
        self.output = nn.Linear(inputs, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map photographs float32[N,3,224,224] to logits float32[N,1000]."""
        x = functional.relu(self.stem(x), inplace=True)
        x = functional.max_pool2d(x, 3, 2, padding=1)  # x is at least 0, so zero padding is as in the source
        return self.output(self.blocks(x).mean((2, 3)))


CONTROL = control(ResNet)

"""cifar10_resnet63 in PyTorch."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import adam
from suite.data.prepare.pictures import Pixels

BLOCKS_PER_STAGE = 10
WIDTHS = (64, 128, 256)
MOMENTUM, EPSILON = 0.01, 1e-3  # torch's momentum is one minus Keras'


class Unit(nn.Module):
    """Convolution with bias and TensorFlow's same padding, then batch normalisation."""

    def __init__(self, inputs: int, features: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.uneven = kernel == 3 and stride == 2  # same padding of an even side pads only the end
        self.conv = nn.Conv2d(inputs, features, kernel, stride, padding=0 if self.uneven else kernel // 2)
        self.norm = nn.BatchNorm2d(features, eps=EPSILON, momentum=MOMENTUM)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] to [N,features,H/stride,W/stride]."""
        return self.norm(self.conv(functional.pad(x, (0, 1, 0, 1)) if self.uneven else x))


class Block(nn.Module):
    """Two 3x3 units and a shortcut, which is a strided 1x1 unit if the block halves the picture."""

    def __init__(self, inputs: int, features: int) -> None:
        super().__init__()
        stride = 1 if inputs == features else 2
        self.unit1 = Unit(inputs, features, 3, stride)
        self.unit2 = Unit(features, features, 3, 1)
        self.shortcut = Unit(inputs, features, 1, 2) if stride == 2 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,inputs,H,W] to [N,features,H/stride,W/stride]."""
        y = self.unit2(functional.relu(self.unit1(x), inplace=True))
        return functional.relu(y + self.shortcut(x), inplace=True)


class Cifar10ResNet(nn.Module):
    """Stem, three stages of residual blocks, global average, dense layer."""

    def __init__(self, blocks_per_stage: int = BLOCKS_PER_STAGE) -> None:
        super().__init__()
        self.stem = Unit(3, WIDTHS[0], 3, 1)
        inputs = (WIDTHS[0], *WIDTHS[:-1])
        self.blocks = nn.Sequential(
            *(
                Block(before if index == 0 else width, width)
                for before, width in zip(inputs, WIDTHS, strict=True)
                for index in range(blocks_per_stage)
            )
        )
        self.output = nn.Linear(WIDTHS[-1], 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map pictures float32[N,3,32,32] to logits float32[N,10]."""
        return self.output(self.blocks(functional.relu(self.stem(x))).mean((2, 3)))


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.cross_entropy(model(batch["images"]), batch["labels"])


CONTROL = Control(model=Cifar10ResNet, loss=loss, optimizer=adam, preparation=Pixels())

"""Shared code of the controls of the five serving networks."""

from collections.abc import Callable
from functools import partial

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from suite.controls._base import Batch, Control
from suite.data.random_inputs import photographs


class ConvNorm(nn.Module):
    """A convolution and the batch norm after it."""

    def __init__(self, conv: nn.Conv2d, epsilon: float) -> None:
        super().__init__()
        self.conv = conv
        self.norm = nn.BatchNorm2d(conv.out_channels, eps=epsilon)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,C,H,W] to [N,D,H',W']."""
        return self.norm(self.conv(x))


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0, bias: bool = False) -> nn.Conv2d:
    """Return a square convolution; the padding is on each side."""
    return nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=bias)


class Depthwise(nn.Conv2d):
    """A square depthwise convolution with TensorFlow's same padding."""

    def __init__(self, channels: int, kernel: int, stride: int = 1) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(channels, channels, kernel, stride, padding, groups=channels, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [N,C,H,W] to [N,C,H/stride,W/stride]."""
        return super().forward(same_pad(x, self.kernel_size[0]) if self.stride[0] == 2 else x)


def same_pad(x: torch.Tensor, kernel: int) -> torch.Tensor:
    """Return square x [N,C,S,S] with the same padding of a window of stride 2."""
    total = kernel - 2 + x.shape[2] % 2
    before, behind = total // 2, total - total // 2
    return functional.pad(x, (before, behind, before, behind))


def folded(network: nn.Module) -> nn.Module:
    """Return a network in evaluation mode with its norms folded into its convolutions by torch's own tool."""
    for module in list(network.modules()):
        if isinstance(module, ConvNorm):
            kind = type(module.conv)
            module.conv = fuse_conv_bn_eval(module.conv, module.norm)
            assert type(module.conv) is kind
            module.norm = nn.Identity()
    return network


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean over the batch of the likeliest class's probability."""
    return functional.softmax(model(batch["images"]).float(), 1).amax(1).mean()


def control(model: Callable[[], nn.Module], side: int = 224) -> Control:
    """Return the control of a network that maps photographs float32[N,3,side,side] to logits float32[N,1000]."""
    return Control(model=model, loss=loss, served=folded, draw=partial(photographs, side=side))

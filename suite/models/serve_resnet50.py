"""ResNet-50 answering one photograph at a time.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning", 2020, after Microsoft's "GPUs vs
    CPUs for deployment of deep learning models", 2018; network of He et al., "Deep Residual Learning for Image
    Recognition" (2015), as keras.applications has it.
Reported: 804 %, 3 GPU nodes against 5 CPU nodes, for one network of five that is not named.
Differs: one machine, no web service; random weights; batch norms folded before the step.
"""

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from suite.models import _serving
from suite.nn import flop
from suite.nn.frozen import Conv, ConvNorm

EPSILON = 1.001e-5
WIDTHS = (64, 128, 256, 512)
BLOCKS = (3, 4, 6, 3)
EXPANSION = 4


def unit(inputs: int, features: int, kernel: int, stride: int = 1, padding: int = 0) -> ConvNorm:
    """Return a convolution with bias and its norm, padded on each side."""
    return ConvNorm(Conv(inputs, features, kernel, stride, [(padding, padding)] * 2, bias=True), EPSILON)


class Bottleneck(nnx.Module):
    """1x1, optionally strided, 3x3 and 1x1 to four times the width, plus a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        outputs = EXPANSION * width
        self.shortcut = unit(inputs, outputs, 1, stride) if inputs != outputs else None
        self.reduce = unit(inputs, width, 1, stride)
        self.middle = unit(width, width, 3, padding=1)
        self.expand = unit(width, outputs, 1)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,4*width]."""
        shortcut = x if self.shortcut is None else self.shortcut(x)
        x = nnx.relu(self.reduce(x))
        x = nnx.relu(self.middle(x))
        return nnx.relu(shortcut + self.expand(x))


class ResNet(nnx.Module):
    """Stem, four stages of bottlenecks, global average, dense layer."""

    def __init__(self, rngs: nnx.Rngs, blocks: tuple[int, ...] = BLOCKS) -> None:
        self.stem = unit(3, WIDTHS[0], 7, 2, padding=3)
        self.blocks, inputs = nnx.List(), WIDTHS[0]
        for stage, (width, count) in enumerate(zip(WIDTHS, blocks, strict=True)):
            for index in range(count):
                self.blocks.append(Bottleneck(inputs, width, stride=2 if stage and not index else 1))
                inputs = EXPANSION * width
        self.output = nnx.Linear(inputs, 1000, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,224,224,3] to logits float32[N,1000]."""
        x = nnx.relu(self.stem(x))  # N 112 112 64
        x = max_pool(x)  # N 56 56 64
        for block in self.blocks:
            x = block(x)  # N 56 56 256, then N 28 28 512, then N 14 14 1024, then N 7 7 2048
        return self.output(x.mean((1, 2)))  # N 1000


def max_pool(x: jax.Array) -> jax.Array:
    """Return the maxima of 3x3 windows, stride 2, of x [N,H,W,C] zero-padded by 1; x is at least 0."""
    zero = jnp.zeros([], x.dtype)
    return lax.reduce_window(x, zero, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))


def forward_flop(blocks: tuple[int, ...]) -> int:
    """Return the forward FLOP of one example."""
    total, inputs = flop.conv(112, 112, 3, WIDTHS[0], 7), WIDTHS[0]
    for side, width, count in zip((56, 28, 14, 7), WIDTHS, blocks, strict=True):
        outputs = EXPANSION * width
        shortcut = flop.conv(side, side, inputs, outputs, 1)
        reduces = flop.conv(side, side, inputs, width, 1) + (count - 1) * flop.conv(side, side, outputs, width, 1)
        others = flop.conv(side, side, width, width, 3) + flop.conv(side, side, width, outputs, 1)
        total, inputs = total + shortcut + reduces + count * others, outputs
    return total + flop.dense(inputs, 1000)


WORKLOAD = _serving.workload(
    name="serve_resnet50",
    title="ResNet-50, inference",
    model=ResNet,
    forward=forward_flop(BLOCKS),
    parameters=25_636_712,
    trainable=25_583_592,
    cpu_kernels="onednn-alone",
    headline=True,
)

"""MobileNetV2 answering one photograph at a time.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning", 2020, after Microsoft's "GPUs vs
    CPUs for deployment of deep learning models", 2018; network of Sandler et al., "MobileNetV2: Inverted Residuals and
    Linear Bottlenecks" (2018), table 2, as keras.applications has it.
Reported: 804 %, 3 GPU nodes against 5 CPU nodes, for one network of five that is not named.
Differs: one machine, no web service; random weights; batch norms folded before the step.
"""

import jax
from flax import nnx

from suite.models import _serving
from suite.nn import flop
from suite.nn.frozen import Conv, ConvNorm, Depthwise

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


class InvertedResidual(nnx.Module):
    """1x1 that widens, 3x3 depthwise, 1x1 that narrows; a shortcut if the shape stays."""

    def __init__(self, inputs: int, expansion: int, outputs: int, stride: int) -> None:
        wide = expansion * inputs
        self.expand = ConvNorm(Conv(inputs, wide, 1), EPSILON) if expansion > 1 else None
        self.depthwise = ConvNorm(Depthwise(wide, 3, stride), EPSILON)
        self.project = ConvNorm(Conv(wide, outputs, 1), EPSILON)
        self.keeps_shape = inputs == outputs and stride == 1

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,outputs]."""
        y = x if self.expand is None else nnx.relu6(self.expand(x))
        y = nnx.relu6(self.depthwise(y))
        y = self.project(y)
        return x + y if self.keeps_shape else y


class MobileNetV2(nnx.Module):
    """Stem, 17 inverted residuals, 1x1 convolution to 1280, global average, dense layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.stem = ConvNorm(Conv(3, STEM, 3, 2), EPSILON)
        self.blocks, inputs = nnx.List(), STEM
        for expansion, outputs, repeats, first in ROWS:
            for index in range(repeats):
                self.blocks.append(InvertedResidual(inputs, expansion, outputs, 1 if index else first))
                inputs = outputs
        self.last = ConvNorm(Conv(inputs, LAST, 1), EPSILON)
        self.output = nnx.Linear(LAST, 1000, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,224,224,3] to logits float32[N,1000]."""
        x = nnx.relu6(self.stem(x))  # N 112 112 32
        for block in self.blocks:
            x = block(x)  # N 112 112 16, down to N 7 7 320
        x = nnx.relu6(self.last(x))  # N 7 7 1280
        return self.output(x.mean((1, 2)))  # N 1000


def forward_flop() -> int:
    """Return the forward FLOP of one example."""
    side, inputs = 112, STEM
    total = flop.conv(side, side, 3, STEM, 3)
    for expansion, outputs, repeats, first in ROWS:
        for index in range(repeats):
            wide = expansion * inputs
            total += flop.conv(side, side, inputs, wide, 1) if expansion > 1 else 0
            side //= 1 if index else first
            total += flop.separable(side, side, wide, outputs, 3)
            inputs = outputs
    return total + flop.conv(side, side, inputs, LAST, 1) + flop.dense(LAST, 1000)


WORKLOAD = _serving.workload(
    name="serve_mobilenet_v2",
    title="MobileNetV2, inference",
    model=MobileNetV2,
    forward=forward_flop(),
    parameters=3_538_984,
    trainable=3_504_872,
    cpu_kernels="xla",  # a call of oneDNN's costs more than most of its layers
)

"""A residual network of 63 convolutions on CIFAR-10.

Source: Hide Inada, "What's the speed difference between running an ML job on GPU vs CPU?", 2019; code in
    hideyukiinada/benchmark @ dacb0d2, project/benchmark1.
Reported: 28.38 s a step on a Mac mini, 9.30 s on a Core i5-7500, 0.178 s on a GTX 1080 (159x and 52x).
Differs: four sets of 64 examples are rotated instead of one repeated.
"""

import jax
from flax import nnx

from suite.data.prepare.pictures import Pixels
from suite.nn import flop
from suite.nn.elementwise import chain_end
from suite.nn.layers import BatchNorm, conv
from suite.nn.losses import softmax_cross_entropy
from suite.nn.optimizers import adam
from suite.workload import Claim, Description, Source, Workload

BLOCKS_PER_STAGE = 10
WIDTHS = (64, 128, 256)


class Unit(nnx.Module):
    """Convolution with bias and same padding, then batch normalisation."""

    def __init__(self, inputs: int, features: int, kernel: int, stride: int, rngs: nnx.Rngs) -> None:
        self.conv = conv(inputs, features, kernel, stride, rngs)
        self.norm = BatchNorm(features, rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H/stride,W/stride,features]."""
        return self.norm(self.conv(x))


class Block(nnx.Module):
    """Two 3x3 units and a shortcut, which is a strided 1x1 unit if the block halves the picture."""

    def __init__(self, inputs: int, features: int, rngs: nnx.Rngs) -> None:
        stride = 1 if inputs == features else 2
        self.unit1 = Unit(inputs, features, 3, stride, rngs)
        self.unit2 = Unit(features, features, 3, 1, rngs)
        self.shortcut = Unit(inputs, features, 1, 2, rngs) if stride == 2 else None

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H,W,features], with H and W halved if inputs and features differ."""
        shortcut = x if self.shortcut is None else self.shortcut(x)
        x = chain_end(nnx.relu(self.unit1(x)), self.unit1.norm.scale.get_value())
        x = self.unit2(x)
        return chain_end(nnx.relu(x + shortcut), self.unit2.norm.scale.get_value())


class Cifar10ResNet(nnx.Module):
    """Stem, three stages of residual blocks, global average, dense layer."""

    def __init__(self, rngs: nnx.Rngs, blocks_per_stage: int = BLOCKS_PER_STAGE) -> None:
        self.stem = Unit(3, WIDTHS[0], 3, 1, rngs)
        inputs = (WIDTHS[0], *WIDTHS[:-1])
        self.blocks = nnx.List(
            Block(before if index == 0 else width, width, rngs)
            for before, width in zip(inputs, WIDTHS, strict=True)
            for index in range(blocks_per_stage)
        )
        self.output = nnx.Linear(WIDTHS[-1], 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map pictures float32[N,32,32,3] to logits float32[N,10]."""
        x = nnx.relu(self.stem(x))  # N 32 32 64
        for block in self.blocks:
            x = block(x)  # N 32 32 64, then N 16 16 128, then N 8 8 256
        return self.output(x.mean((1, 2)))  # N 10


def loss(model: Cifar10ResNet, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return softmax_cross_entropy(model(batch["images"]), batch["labels"])


def forward_flop(blocks_per_stage: int) -> int:
    """Return the forward FLOP of one example."""
    total, inputs = STEM, WIDTHS[0]
    for side, width in zip((32, 16, 8), WIDTHS, strict=True):
        shortcut = flop.conv(side, side, inputs, width, 1) if inputs != width else 0
        first = flop.conv(side, side, inputs, width, 3)
        others = (2 * blocks_per_stage - 1) * flop.conv(side, side, width, width, 3)
        total, inputs = total + shortcut + first + others, width
    return total + flop.dense(WIDTHS[-1], 10)


STEM = flop.conv(32, 32, 3, WIDTHS[0], 3)
FORWARD = forward_flop(BLOCKS_PER_STAGE)

STEADY = "mean wall clock of calls 3 and 4 of three runs; a call is one training step on the same 64 pictures"
FIRST_CALL = "mean wall clock of the first call in three fresh processes, with all that starts up in it"
GTX_1080, MAC_MINI, I5 = "GTX 1080", "Mac mini late 2014, Core i5 2.6 GHz", "Core i5-7500 3.4 GHz, same box as the GPU"

WORKLOAD = Workload(
    description=Description(
        name="cifar10_resnet63",
        title="CIFAR-10, residual network of 63 convolutions",
        family="residual",
        source=Source(
            author="Hide Inada",
            title="What's the speed difference between running an ML job on GPU vs CPU?",
            year=2019,
            address="https://github.com/hideyukiinada/benchmark",
            place="project/benchmark1 @ dacb0d2",
            way="train-on-batch",
        ),
        claims=(
            Claim(
                metric="steady_step",
                definition=STEADY,
                unit="s",
                cpu_device=MAC_MINI,
                cpu_value=28.382499,
                gpu_device=GTX_1080,
                gpu_value=0.178036,
                speedup=159.42,
            ),
            Claim(
                metric="steady_step",
                definition=STEADY,
                unit="s",
                cpu_device=I5,
                cpu_value=9.302270,
                gpu_device=GTX_1080,
                gpu_value=0.178036,
                speedup=52.25,
            ),
            Claim(
                metric="first_call",
                definition=FIRST_CALL,
                unit="s",
                cpu_device=MAC_MINI,
                cpu_value=54.741573,
                gpu_device=GTX_1080,
                gpu_value=15.342640,
                speedup=3.57,
            ),
            Claim(
                metric="first_call",
                definition=FIRST_CALL,
                unit="s",
                cpu_device=I5,
                cpu_value=23.075324,
                gpu_device=GTX_1080,
                gpu_value=15.342640,
                speedup=1.50,
            ),
        ),
        differs=(
            "The source trains on the first 64 pictures of CIFAR-10 again and again; here four sets of 64 are rotated.",
            "Keras 2.2 scales the moving variance by n/(n - 1.001); here, as in Keras 3, it is not scaled. It takes no "
            "part in training.",
        ),
        inferred=False,
        dataset="cifar10",
        preprocessing="pixels / 255, labels one-hot, no augmentation",
        optimizer="Adam, learning rate 0.001, beta 0.9 and 0.999, epsilon 1e-7 as Keras places it",
        loss="categorical cross-entropy",
        batch=64,
        parameters=15_206_538,
        trainable_parameters=15_187_722,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD, STEM),
        headline=True,
    ),
    model=Cifar10ResNet,
    loss=loss,
    optimizer=adam,
    gpu_graph="whole",
    gpu_layout="channels-first",
    preparation=Pixels(),
    learning="halves",
)

"""TensorFlow's CIFAR-10 tutorial: two convolutions with local response normalisation on 24x24 crops.

Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks"; network of
    tensorflow/models, tutorials/image/cifar10 @ a2c785e.
Reported: at batch 512, 210 pictures/s on 16 cores and 90 in a virtual machine, 15,000 to 17,000 on a Tesla V100.
Differs: central crops in the timed step, which is training alone; scope `epoch` distorts random ones.
"""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from suite.data.prepare.crops import Crop
from suite.nn import flop
from suite.nn.augment import CropFlipLight
from suite.nn.dtypes import wide
from suite.nn.initial import Constant, TruncatedNormal
from suite.nn.layers import ConvRelu
from suite.nn.losses import softmax_cross_entropy
from suite.nn.lrn import local_response_norm
from suite.nn.optimizers import averaged, staircase_sgd
from suite.nn.pool import max_pool_3x3
from suite.workload import Claim, Description, LearningTarget, Source, Workload

BATCH, TRAINING_EXAMPLES = 512, 50_000
RATE, EPOCHS_PER_STAIR, STAIR = 0.1, 350, 0.1
STEPS_PER_STAIR = EPOCHS_PER_STAIR * TRAINING_EXAMPLES // BATCH
WEIGHT_DECAY = 0.004
TENTH = Constant(0.1)


class Cifar10TfCnn(nnx.Module):
    """Two 5x5 convolutions of 64 with pool and normalisation, hidden layers of 384 and 192, ten logits."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv1 = ConvRelu(3, 64, 5, "SAME", max_pool_3x3, kernel_draw=TruncatedNormal(0.05))
        self.conv2 = ConvRelu(64, 64, 5, "SAME", kernel_draw=TruncatedNormal(0.05), bias_draw=TENTH)
        self.local3 = dense(6 * 6 * 64, 384, TruncatedNormal(0.04), TENTH, rngs)
        self.local4 = dense(384, 192, TruncatedNormal(0.04), TENTH, rngs)
        self.softmax_linear = dense(192, 10, TruncatedNormal(1 / 192), Constant(0.0), rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map crops float32[N,24,24,3] to logits float32[N,10]."""
        x = local_response_norm(self.conv1(x))  # N 12 12 64
        x = max_pool_3x3(local_response_norm(self.conv2(x)))  # N 6 6 64
        x = nnx.relu(self.local3(x.reshape(x.shape[0], -1)))  # N 384
        x = nnx.relu(self.local4(x))  # N 192
        return self.softmax_linear(x)  # N 10


def dense(inputs: int, outputs: int, kernel: TruncatedNormal, bias: Constant, rngs: nnx.Rngs) -> nnx.Linear:
    """Return a dense layer with the source's initial values."""
    return nnx.Linear(inputs, outputs, kernel_metadata={"draw": kernel}, bias_metadata={"draw": bias}, rngs=rngs)


def loss(model: Cifar10TfCnn, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch and half the decayed squares of both hidden layers' weights."""
    decayed = sum(half_squares(layer.kernel.get_value()) for layer in (model.local3, model.local4))
    return softmax_cross_entropy(model(batch["images"]), batch["labels"]) + WEIGHT_DECAY * decayed


def half_squares(x: jax.Array) -> jax.Array:
    """Return half the sum of squares, in float32 even if x is narrower."""
    return 0.5 * jnp.sum(jnp.square(x.astype(wide(x.dtype))))


def optimizer() -> optax.GradientTransformation:
    """Return gradient descent with a falling rate and the moving average of all parameters."""
    return averaged(staircase_sgd(RATE, STEPS_PER_STAIR, STAIR))


CROP = Crop()
SIDE = 32  # of CIFAR-10's pictures

FIRST = flop.conv(24, 24, 3, 64, 5)
DENSE = flop.dense(6 * 6 * 64, 384) + flop.dense(384, 192) + flop.dense(192, 10)
FORWARD = FIRST + flop.conv(12, 12, 64, 64, 5) + DENSE

METRIC, DEFINITION = "throughput_b512", "training at batch 512, with reading and distorting the pictures"
SERVER, VM, V100 = "2x Xeon Silver 4110, 16 cores", "VirtualBox VM on a workstation", "Tesla V100"
SLOWEST, FASTEST = 15_000.0, 17_000.0  # the article gives a range, so each pair has two claims


def claim(cpu_device: str, cpu_value: float, gpu_value: float, speedup: float) -> Claim:
    """Return the claim of one pair of machines."""
    return Claim(
        metric=METRIC,
        definition=DEFINITION,
        unit="img/s",
        cpu_device=cpu_device,
        cpu_value=cpu_value,
        gpu_device=V100,
        gpu_value=gpu_value,
        speedup=speedup,
    )


WORKLOAD = Workload(
    description=Description(
        name="cifar10_tf_cnn",
        title="CIFAR-10, TensorFlow's tutorial network",
        family="convolution",
        source=Source(
            author="phoenixNAP",
            title="GPU vs CPU Deep Learning: Training Performance of Convolutional Networks",
            year=2018,
            address="https://phoenixnap.com/blog/gpu-deep-learning",
            place="the CIFAR-10 model; network after tensorflow/models, tutorials/image/cifar10 @ a2c785e",
        ),
        claims=(
            claim(SERVER, 210.0, SLOWEST, 71.0),
            claim(SERVER, 210.0, FASTEST, 81.0),
            claim(VM, 90.0, SLOWEST, 167.0),
            claim(VM, 90.0, FASTEST, 189.0),
        ),
        differs=(
            "The source cuts its crops at random and changes their direction, brightness and contrast: so does scope "
            "`epoch`. The headline is one training step in steady state on central crops, standardised alike.",
            f"The learning rate falls after {STEPS_PER_STAIR:,} steps, which are {EPOCHS_PER_STAIR} epochs of batch "
            f"{BATCH}, at any batch.",
        ),
        inferred=False,
        dataset="cifar10",
        preprocessing="central 24x24 crop, each of mean 0 and deviation 1, labels one-hot",
        optimizer="SGD, learning rate 0.1 times 0.1 every 350 epochs; moving average of all parameters every step",
        loss="softmax cross-entropy and 0.004 times half the squares of both hidden layers' weights",
        batch=BATCH,
        parameters=1_068_298,
        trainable_parameters=1_068_298,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD, FIRST),
        examples_per_epoch=50_000,
        augmented=True,
    ),
    model=Cifar10TfCnn,
    loss=loss,
    optimizer=optimizer,
    preparation=CROP,
    augment=CropFlipLight(side=CROP.side, brightness=CROP.brightness, contrast=CROP.contrast, whole=SIDE),
    gpu_graph="concurrent",
    gpu_layout="channels-first",
    learning=LearningTarget(steps=200, bound=0.8, batch=64),
)

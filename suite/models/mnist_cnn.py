"""Two convolutions and a hidden layer on MNIST: the other reading of the same article.

Source: option40, "ML - How much faster is a GPU?"; network of keras-team/keras @ 4f2e65c385, examples/mnist_cnn.py.
Reported: nothing of this network; one epoch of it fits the article's 1 min 52 s and 8.43 s as mnist_mlp does.
Differs: inferred network; the timed step is training alone.
"""

import jax
from flax import nnx

from suite.data.prepare.pictures import Pixels
from suite.nn import flop
from suite.nn.dropout import Dropout
from suite.nn.layers import ConvRelu
from suite.nn.losses import softmax_cross_entropy
from suite.nn.optimizers import adadelta
from suite.nn.pool import max_pool_2x2
from suite.workload import Description, LearningTarget, Source, WholeRun, Workload


class MnistCnn(nnx.Module):
    """Two 3x3 convolutions, 2x2 max pool, dropout 0.25, a hidden layer of 128, dropout 0.5, ten logits."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv1 = ConvRelu(1, 32, 3, "VALID")
        self.conv2 = ConvRelu(32, 64, 3, "VALID", max_pool_2x2)
        self.dropout1 = Dropout(0.25, rngs=rngs)
        self.hidden = nnx.Linear(12 * 12 * 64, 128, rngs=rngs)
        self.dropout2 = Dropout(0.5, rngs=rngs)
        self.output = nnx.Linear(128, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map digits float32[N,28,28,1] to logits float32[N,10]."""
        x = self.conv1(x)  # N 26 26 32
        x = self.dropout1(self.conv2(x))  # N 12 12 64
        x = x.reshape(x.shape[0], -1)  # N 9216
        x = self.dropout2(nnx.relu(self.hidden(x)))  # N 128
        return self.output(x)  # N 10


def loss(model: MnistCnn, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return softmax_cross_entropy(model(batch["images"]), batch["labels"])


FIRST = flop.conv(26, 26, 1, 32, 3)
FORWARD = FIRST + flop.conv(24, 24, 32, 64, 3) + flop.dense(9216, 128) + flop.dense(128, 10)

WORKLOAD = Workload(
    description=Description(
        name="mnist_cnn",
        title="MNIST, two convolutions",
        family="convolution",
        source=Source(
            author="option40",
            title="ML - How much faster is a GPU?",
            year=2018,
            address="https://option40.com/blog/ml-how-much-faster-is-a-gpu",
            place="whole article; network after keras-team/keras @ 4f2e65c385, examples/mnist_cnn.py",
            way="fit",
        ),
        claims=(),
        differs=(
            "The article does not document its network: this is the other Keras example that fits both of its times, "
            "with one epoch of batch 128. The article's numbers stand with mnist_mlp, which fits its words better.",
        ),
        inferred=True,
        dataset="mnist",
        preprocessing="pixels / 255, labels one-hot, no augmentation",
        optimizer="Adadelta, learning rate 1.0, rho 0.95, epsilon 1e-7",
        loss="categorical cross-entropy",
        batch=128,
        parameters=1_199_882,
        trainable_parameters=1_199_882,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD, FIRST),
        run=WholeRun(epochs=1, train=60_000, test=10_000),
    ),
    model=MnistCnn,
    loss=loss,
    optimizer=adadelta,
    preparation=Pixels(),
    gpu_graph="whole",
    learning=LearningTarget(steps=80, bound=0.85),
)

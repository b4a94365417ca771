"""A grid search over four small convolutional networks on MNIST; its step is that of the first of them.

Source: option40, "ML - How much faster is a GPU?", announces it; grid of keras-team/keras @ 4f2e65c385,
examples/mnist_sklearn_wrapper.py.
Reported: nothing; a comparison of CPU and GPU was announced and not found.
Differs: stand-in for a search that was only announced; the timed step is training of one network.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import jax
import msgspec
from flax import nnx

from suite.data.prepare.pictures import Pixels
from suite.nn import flop
from suite.nn.conv import conv_of_patches
from suite.nn.dropout import Dropout
from suite.nn.layers import ConvRelu
from suite.nn.losses import softmax_cross_entropy
from suite.nn.optimizers import adadelta
from suite.nn.pool import max_pool_2x2
from suite.workload import Description, Grid, LearningTarget, Source, WholeRun, Workload

FLAT = 12 * 12 * 8


class GridConv(ConvRelu):
    """A convolution that is a matrix product on a GPU, alone and stacked alike."""

    def convolved(self, x: jax.Array, kernel: jax.Array) -> jax.Array:
        """Return the convolution without bias."""
        return super().convolved(x, kernel) if jax.default_backend() == "cpu" else conv_of_patches(x, kernel)


class GridCnn(nnx.Module):
    """Two 3x3 convolutions of 8, 2x2 max pool, dropout 0.25, hidden layers as asked, dropout 0.5, ten logits."""

    def __init__(self, rngs: nnx.Rngs, hidden: Sequence[int]) -> None:
        self.conv1 = GridConv(1, 8, 3, "VALID")
        self.conv2 = GridConv(8, 8, 3, "VALID", max_pool_2x2)
        self.dropout1 = Dropout(0.25, rngs=rngs)
        inputs = (FLAT, *hidden[:-1])
        self.hidden = nnx.List([nnx.Linear(*ends, rngs=rngs) for ends in zip(inputs, hidden, strict=True)])
        self.dropout2 = Dropout(0.5, rngs=rngs)
        self.output = nnx.Linear(hidden[-1], 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map digits float32[N,28,28,1] to logits float32[N,10]."""
        x = self.conv1(x)  # N 26 26 8
        x = self.dropout1(self.conv2(x))  # N 12 12 8
        x = x.reshape(x.shape[0], -1)  # N 1152
        for layer in self.hidden:
            x = nnx.relu(layer(x))  # N D
        return self.output(self.dropout2(x))  # N 10


def loss(model: GridCnn, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return softmax_cross_entropy(model(batch["images"]), batch["labels"])


def parameters(hidden: Sequence[int]) -> int:
    """Return the number of parameters of the network with these hidden layers."""
    ends = zip((FLAT, *hidden), (*hidden, 10), strict=True)
    return (9 + 1) * 8 + (9 * 8 + 1) * 8 + sum((inputs + 1) * outputs for inputs, outputs in ends)


def forward(hidden: Sequence[int]) -> int:
    """Return the forward FLOP of one example, with these hidden layers."""
    ends = zip((FLAT, *hidden), (*hidden, 10), strict=True)
    return FIRST + flop.conv(24, 24, 8, 8, 3) + sum(flop.dense(*each) for each in ends)


def network(hidden: Sequence[int]) -> Workload:
    """Return the workload of the grid's network with these hidden layers."""
    count, flop_forward = parameters(hidden), forward(hidden)
    about = msgspec.structs.replace(
        WORKLOAD.description,
        parameters=count,
        trainable_parameters=count,
        forward_flop_per_example=flop_forward,
        flop_per_example=flop.training(flop_forward, FIRST),
    )
    return replace(WORKLOAD, model=partial(GridCnn, hidden=tuple(hidden)), description=about)


FIRST = flop.conv(26, 26, 1, 8, 3)
GRID = Grid(hidden=((32,), (64,), (32, 32), (64, 64)), epochs=(3, 6), folds=3)

WORKLOAD = Workload(
    description=Description(
        name="mnist_grid_search",
        title="MNIST, a grid of four small networks",
        family="convolution",
        source=Source(
            author="option40",
            title="ML - How much faster is a GPU?",
            year=2018,
            address="https://option40.com/blog/ml-how-much-faster-is-a-gpu",
            place="announced at its end; grid after keras-team/keras @ 4f2e65c385, examples/mnist_sklearn_wrapper.py",
            way="fit",
        ),
        claims=(),
        differs=(
            "The article announces a grid search and none was found: this is the grid of the Keras example of its day.",
            "The headline is one training step of the first network, hidden layer 32. Scope `run` is the whole search: "
            "8 points, 3 folds each, one fit after another, and the best point trained again on all examples.",
            "Variant `stacked` trains as many fits of one network at once as its batch has headline batches.",
        ),
        inferred=True,
        dataset="mnist",
        preprocessing="pixels / 255, labels one-hot, no augmentation",
        optimizer="Adadelta, learning rate 1.0, rho 0.95, epsilon 1e-7",
        loss="categorical cross-entropy",
        batch=32,
        parameters=parameters(GRID.hidden[0]),
        trainable_parameters=parameters(GRID.hidden[0]),
        forward_flop_per_example=forward(GRID.hidden[0]),
        flop_per_example=flop.training(forward(GRID.hidden[0]), FIRST),
        run=WholeRun(epochs=72, train=60_000),  # of all fits together: 4 networks x 3 folds x 9 epochs x 40,000
        grid=GRID,
    ),
    model=partial(GridCnn, hidden=GRID.hidden[0]),
    network=network,
    loss=loss,
    optimizer=adadelta,
    preparation=Pixels(),
    learning=LearningTarget(steps=250, bound=0.8),
)

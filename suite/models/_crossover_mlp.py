"""Dense networks of any width and depth on random rows, to find where a GPU begins to pay.

Source: none; the project's own. Reported: nothing.
"""

from functools import partial

import jax
from flax import nnx

from suite.data.random_inputs import labelled_rows
from suite.families import BATCH, CLASSES, Size
from suite.nn import flop
from suite.nn.losses import softmax_cross_entropy
from suite.nn.optimizers import sgd
from suite.workload import Description, Source, Workload


class CrossoverMlp(nnx.Module):
    """`depth` hidden layers of `width` with ReLU, inputs as wide, and an output for each class."""

    def __init__(self, rngs: nnx.Rngs, width: int, depth: int) -> None:
        self.hidden = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(depth)])
        self.output = nnx.Linear(width, CLASSES, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map rows float32[N,W] to logits float32[N,10]."""
        for layer in self.hidden:
            x = nnx.relu(layer(x))  # N W
        return self.output(x)  # N 10


def loss(model: CrossoverMlp, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return softmax_cross_entropy(model(batch["inputs"]), batch["labels"])


def made(name: str, size: Size) -> Workload:
    """Return the network of that width and depth."""
    first = flop.dense(size.width, size.width)
    forward = size.depth * first + flop.dense(size.width, CLASSES)
    parameters = size.depth * (size.width + 1) * size.width + (size.width + 1) * CLASSES
    return Workload(
        description=Description(
            name=name,
            title=f"Dense, {size.depth} hidden layers of {size.width}",
            family="dense",
            source=Source(
                author="The suite's maintainers",
                title="Where a GPU begins to pay",
                year=2026,
                address="https://doi.org/10.1145/1498765.1498785",
                place="no documented model: a size of a family",
            ),
            claims=(),
            differs=("No documented model: a network as small as it takes for the CPU to win.",),
            inferred=False,
            dataset="random rows",
            preprocessing="none",
            optimizer="SGD, learning rate 0.01, no momentum",
            loss="categorical cross-entropy",
            batch=BATCH,
            parameters=parameters,
            trainable_parameters=parameters,
            forward_flop_per_example=forward,
            flop_per_example=flop.training(forward, first),
            data="random",
        ),
        model=partial(CrossoverMlp, width=size.width, depth=size.depth),
        loss=loss,
        optimizer=sgd,
        draw=partial(labelled_rows, width=size.width, classes=CLASSES),
        cpu_kernels="xla",  # as for mnist_mlp: for few products a call of oneDNN's costs more than it saves
    )

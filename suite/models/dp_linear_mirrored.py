"""One weight and one bias, the same on every device: the smallest data-parallel model.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning"; the model of TensorFlow's guide
    "Use a GPU", whose compile call the article leaves out.
Reported: nothing but that data parallelism over several GPUs is fastest.
Differs: random points on a line, as the article has no data and no batch size; one device unless more are asked for.
"""

from functools import partial

import jax
from flax import nnx

from suite.data.random_inputs import points_on_a_line
from suite.nn import flop
from suite.nn.losses import mean_squared_error
from suite.nn.optimizers import sgd
from suite.workload import Description, Source, Workload


class Line(nnx.Module):
    """One dense unit on one number."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.output = nnx.Linear(1, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map numbers float32[N,1] to numbers float32[N]."""
        return self.output(x)[:, 0]  # N


def loss(model: Line, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean squared error of a batch."""
    return mean_squared_error(model(batch["inputs"]), batch["labels"])


FORWARD = flop.dense(1, 1)

WORKLOAD = Workload(
    description=Description(
        name="dp_linear_mirrored",
        title="One dense unit, data parallel",
        family="data parallel",
        source=Source(
            author="Marko Kovacevic",
            title="How GPU can Powerfully Speed Up Training in Deep Learning",
            year=2020,
            address="https://marko-kovacevic.com/blog/how-gpu-can-powerfully-speed-up-training-in-deep-learning",
            place="the snippet with a mirrored strategy; loss and optimizer after TensorFlow's guide 'Use a GPU'",
        ),
        claims=(),
        differs=(
            "The article shows no data and no batch size: random points on a line, 64 a step.",
            "The article leaves out the compile call: loss and optimizer are those of the guide that it follows.",
            "Without --devices it runs on one device, and says little about speed there: a step is one launch.",
        ),
        inferred=False,
        dataset="random points on a line",
        preprocessing="none",
        optimizer="SGD, learning rate 0.2, no momentum",
        loss="mean squared error",
        batch=64,
        parameters=2,
        trainable_parameters=2,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD, FORWARD),
        data="random",
    ),
    model=Line,
    loss=loss,
    optimizer=partial(sgd, 0.2),
    draw=points_on_a_line,
)

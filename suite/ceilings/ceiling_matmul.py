"""Peak FLOP/s: a chain of large matrix products, each with the result of the one before it.

Source: the roofline model of Williams, Waterman and Patterson (2009); the peak is measured, not the vendor's.
Reported: nothing.
Differs: rewriting the input once a step is in the time too, under 3 % of it on a large GPU.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from suite.ceilings import SOURCE
from suite.nn import flop
from suite.workload import Description, Workload

WIDTH = 4096
PRODUCTS = 16  # in one step


class Products(nnx.Module):
    """The same square matrix, applied PRODUCTS times."""

    def __init__(self, rngs: nnx.Rngs, width: int = WIDTH) -> None:
        self.kernel = nnx.Param(nnx.initializers.glorot_uniform()(rngs.params(), (width, width)))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map rows float32[N,D] to rows float32[N,D] of about the same norm."""
        for _ in range(PRODUCTS):
            x = x @ self.kernel[...]  # N D
        return x


def mean_square(model: Products, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean square of all outputs as float32; XLA needs every output for it."""
    return jnp.mean(jnp.square(model(batch["inputs"]).astype(jnp.float32)))


def rows(rng: np.random.Generator, examples: int) -> dict[str, np.ndarray]:
    """Return rows float32[N,WIDTH], normally distributed."""
    return {"inputs": rng.standard_normal((examples, WIDTH), np.float32)}


FORWARD = PRODUCTS * flop.dense(WIDTH, WIDTH)

WORKLOAD = Workload(
    description=Description(
        name="ceiling_matmul",
        title="Matrix products",
        family="ceiling",
        source=SOURCE,
        claims=(),
        differs=("No network: the most arithmetic that the machine does in a second.",),
        inferred=False,
        dataset="random rows",
        preprocessing="none",
        optimizer="none",
        loss="mean square of all outputs",
        batch=8192,
        parameters=WIDTH * WIDTH,
        trainable_parameters=WIDTH * WIDTH,
        forward_flop_per_example=FORWARD,
        flop_per_example=FORWARD,
        data="random",
    ),
    model=Products,
    loss=mean_square,
    draw=rows,
    cpu_kernels="xla",  # the fastest products of the three kernel sets
)

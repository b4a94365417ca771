"""Peak memory bandwidth: numbers read from memory and written back, far more than a cache holds.

Source: the roofline model of Williams, Waterman and Patterson (2009); the bandwidth is measured, not the vendor's.
Reported: nothing.
Differs: written where it was read, so that a CPU does not fetch lines only to overwrite them.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from suite.ceilings import SOURCE
from suite.workload import Description, Workload

BLOCKS = 16  # independent, so that XLA can work on them side by side
ROWS = COLUMNS = 4096  # 64 MiB a block, 1 GiB in all


class Block(nnx.Module):
    """A block of the memory."""

    def __init__(self) -> None:
        self.scale = nnx.Param(jnp.ones((ROWS, COLUMNS)))


class Memory(nnx.Module):
    """All memory that is read and written."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        del rngs
        self.blocks = nnx.List([Block() for _ in range(BLOCKS)])


def nothing(model: Memory, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the input's mean, which touches nothing of the memory."""
    del model
    return jnp.mean(batch["inputs"])


def rewrite() -> optax.GradientTransformation:
    """Return an optimizer that adds to each number a multiple of it that is 0, which is known only at run time."""

    def update(gradients: Any, multiple: jax.Array, params: Any) -> tuple[Any, jax.Array]:
        del gradients
        return jax.tree.map(lambda leaf: multiple * leaf, params), multiple

    return optax.GradientTransformation(lambda _: jnp.zeros([]), update)  # pyright: ignore[reportArgumentType]


def number(rng: np.random.Generator, examples: int) -> dict[str, np.ndarray]:
    """Return numbers float32[N] from 0 to 1."""
    return {"inputs": rng.random(examples, np.float32)}


WORKLOAD = Workload(
    description=Description(
        name="ceiling_copy",
        title="Memory read and written",
        family="ceiling",
        source=SOURCE,
        claims=(),
        differs=("No network: the most bytes that the machine reads and writes in a second.",),
        inferred=False,
        dataset="random numbers",
        preprocessing="none",
        optimizer="none",
        loss="none",
        batch=1,
        parameters=BLOCKS * ROWS * COLUMNS,
        trainable_parameters=BLOCKS * ROWS * COLUMNS,
        forward_flop_per_example=0,
        flop_per_example=0,
        data="random",
    ),
    model=Memory,
    loss=nothing,
    optimizer=rewrite,
    draw=number,
    cpu_kernels="xla",
)

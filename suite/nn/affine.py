"""A factor and an offset of each channel, which is what a batch norm comes down to."""

import jax
from jax import lax


def affine(x: jax.Array, factor: jax.Array, offset: jax.Array) -> jax.Array:
    """Return x [...,C] times a factor [C] plus an offset [C], in the type of x."""
    x = x * lax.broadcast_to_rank(factor.astype(x.dtype), x.ndim)
    return x + lax.broadcast_to_rank(offset.astype(x.dtype), x.ndim)

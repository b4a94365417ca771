"""Rows of a table looked up by token ids."""

import jax
import jax.numpy as jnp
from flax import nnx


class Embedding(nnx.Module):
    """A table of `rows` vectors, drawn from -0.05 to 0.05 as Keras does."""

    def __init__(self, rows: int, features: int) -> None:
        self.embedding = nnx.Param(jnp.zeros((rows, features)))

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Map ids int32[...], each below `rows`, to the table's type [...,features].

        The gradients of a row are summed in float32 whatever the type: padding alone adds thousands, of which
        bfloat16 keeps the first hundreds, and a GPU adds only float32 in its memory without reading it first.
        """
        table = self.embedding.get_value()
        return jnp.take(table.astype(jnp.float32), tokens, axis=0).astype(table.dtype)

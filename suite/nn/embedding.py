"""Rows of a table looked up by token ids."""

import jax
import jax.numpy as jnp
from flax import nnx

from suite.nn.dtypes import wide


class Embedding(nnx.Module):
    """A table of `rows` vectors, drawn from -0.05 to 0.05 as Keras does."""

    def __init__(self, rows: int, features: int) -> None:
        self.embedding = nnx.Param(jnp.zeros((rows, features)))

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Map ids int32[...], each below `rows`, to the table's type [...,features].

        The gradients of a row are summed in float32 where the type is narrower: padding alone adds thousands, of which
        bfloat16 keeps the first hundreds, and a GPU adds only wider numbers in its memory without reading them first.
        """
        table = self.embedding.get_value()
        raised = table.astype(wide(table.dtype))
        return jnp.take(raised, tokens, axis=0).astype(table.dtype)

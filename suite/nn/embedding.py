"""Rows of a table looked up by token ids."""

import jax
import jax.numpy as jnp
from flax import nnx


class Embedding(nnx.Module):
    """A table of `rows` vectors, drawn from -0.05 to 0.05 as Keras does."""

    def __init__(self, rows: int, features: int) -> None:
        self.embedding = nnx.Param(jnp.zeros((rows, features)))

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Map ids int32[...], each below `rows`, to float32[...,features]."""
        return jnp.take(self.embedding.get_value(), tokens, axis=0)

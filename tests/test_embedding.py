"""Rows looked up by token ids."""

import jax.numpy as jnp
from flax import nnx

from suite.nn.embedding import Embedding


def test_the_gradients_of_a_row_are_summed_in_float32_whatever_the_type():
    layer, tokens = Embedding(2, 1), jnp.zeros(1000, jnp.int32)
    layer.embedding.set_value(jnp.ones((2, 1), jnp.bfloat16))
    gradient = nnx.grad(lambda layer: layer(tokens).sum())(layer).embedding.get_value()
    assert gradient.dtype == jnp.bfloat16
    assert gradient[:, 0].tolist() == [1000, 0]

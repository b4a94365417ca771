"""Rows looked up by token ids."""

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from suite.nn.layers import Embedding


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_the_gradients_of_a_row_are_summed_in_float32_at_least(dtype):
    with jax.enable_x64(True):
        layer, tokens = Embedding(2, 1), jnp.zeros(1000, jnp.int32)
        layer.embedding.set_value(jnp.ones((2, 1), dtype))
        gradient = nnx.grad(lambda layer: layer(tokens).sum())(layer).embedding.get_value()
    assert gradient.dtype == dtype
    assert gradient[:, 0].tolist() == [1000, 0]


def test_rows_keep_all_their_digits():
    with jax.enable_x64(True):
        layer = Embedding(1, 1)
        layer.embedding.set_value(jnp.full((1, 1), 1 / 3, jnp.float64))
        assert float(layer(jnp.zeros(1, jnp.int32))[0, 0]) == 1 / 3

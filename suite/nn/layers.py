"""Layers that several models share, written so that XLA runs them fast on CPU and GPU."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from suite.nn.conv import conv_general_dilated
from suite.nn.dtypes import alike, wide
from suite.nn.elementwise import affine, mean_of_channels, relu
from suite.nn.initial import Draw

KERAS_MOMENTUM, KERAS_EPSILON = 0.99, 1e-3


def conv(inputs: int, outputs: int, kernel: int, stride: int, rngs: nnx.Rngs) -> nnx.Conv:
    """Return a square convolution with bias and same padding: [N,H,W,inputs] to [N,H/stride,W/stride,outputs]."""
    return nnx.Conv(
        inputs,
        outputs,
        (kernel, kernel),
        strides=(stride, stride),
        padding="SAME",
        conv_general_dilated=conv_general_dilated,
        rngs=rngs,
    )


class ConvRelu(nnx.Module):
    """Square convolution with bias and ReLU, and an optional max pool.

    Neither bias nor ReLU changes which value is the largest, so both follow the pool, on fewer values.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        padding: str,
        pool: Callable[[jax.Array], jax.Array] | None = None,
        kernel_draw: Draw | None = None,
        bias_draw: Draw | None = None,
    ) -> None:
        self.kernel = nnx.Param(jnp.zeros((kernel, kernel, inputs, outputs)), draw=kernel_draw)
        self.bias = nnx.Param(jnp.zeros(outputs), draw=bias_draw)
        self.padding, self.pool = padding, pool

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map [N,H,W,inputs] to [N,H',W',outputs], none below 0."""
        x, kernel, bias = alike(x, self.kernel.get_value(), self.bias.get_value())
        x = self.convolved(x, kernel)
        x = x if self.pool is None else self.pool(x)
        return relu(x + lax.broadcast_to_rank(bias, x.ndim))

    def convolved(self, x: jax.Array, kernel: jax.Array) -> jax.Array:
        """Return the convolution alone."""
        return conv_general_dilated(x, kernel, (1, 1), self.padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


class BatchNorm(nnx.Module):
    """Batch normalisation over all axes but the last, with Keras' momentum 0.99 and epsilon 1e-3."""

    def __init__(self, features: int, rngs: nnx.Rngs) -> None:
        self.scale = nnx.Param(jnp.ones(features))
        self.bias = nnx.Param(jnp.zeros(features))
        self.mean = nnx.BatchStat(jnp.zeros(features))
        self.var = nnx.BatchStat(jnp.ones(features))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Normalise x [...,C] by its own statistics, in one pass and at least float32; update the running ones."""
        raised = x.astype(wide(x.dtype))
        mean = mean_of_channels(raised)
        var = jnp.maximum(mean_of_channels(raised * raised) - mean * mean, 0.0)
        for running, batch in ((self.mean, mean), (self.var, var)):
            old = running.get_value()
            running.set_value((KERAS_MOMENTUM * old + (1 - KERAS_MOMENTUM) * batch).astype(old.dtype))
        factor = self.scale.get_value().astype(raised.dtype) * lax.rsqrt(var + KERAS_EPSILON)
        offset = self.bias.get_value().astype(raised.dtype) - mean * factor
        return affine(x, factor, offset)


class Embedding(nnx.Module):
    """A table of `rows` vectors, drawn from -0.05 to 0.05 as Keras does."""

    def __init__(self, rows: int, features: int) -> None:
        self.embedding = nnx.Param(jnp.zeros((rows, features)))

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Map ids int32[...], each below `rows`, to the table's type [...,features].

        A row's gradients are summed in float32 if the type is narrower. Padding alone adds thousands, of which bfloat16
        keeps hundreds, and a GPU has atomic additions in memory only for wider types.
        """
        table = self.embedding.get_value()
        raised = table.astype(wide(table.dtype))
        return jnp.take(raised, tokens, axis=0).astype(table.dtype)

"""Layers that several models share, written so that XLA runs them fast on both sides."""

import jax
import jax.numpy as jnp
from flax import nnx

from suite.nn.conv import conv_general_dilated

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


class BatchNorm(nnx.Module):
    """Batch normalisation over all axes but the last, with Keras' momentum 0.99 and epsilon 1e-3."""

    def __init__(self, features: int, rngs: nnx.Rngs) -> None:
        self.scale = nnx.Param(jnp.ones(features))
        self.bias = nnx.Param(jnp.zeros(features))
        self.mean = nnx.BatchStat(jnp.zeros(features))
        self.var = nnx.BatchStat(jnp.ones(features))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Normalise x [...,C] by its own statistics, in one pass and at least float32, and move the running ones."""
        axes = tuple(range(x.ndim - 1))
        wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
        mean = jnp.mean(wide, axes)
        var = jnp.maximum(jnp.mean(wide * wide, axes) - mean * mean, 0.0)
        for running, batch in ((self.mean, mean), (self.var, var)):
            old = running.get_value()
            running.set_value((KERAS_MOMENTUM * old + (1 - KERAS_MOMENTUM) * batch).astype(old.dtype))
        factor = self.scale.get_value().astype(wide.dtype) * jax.lax.rsqrt(var + KERAS_EPSILON)
        offset = self.bias.get_value().astype(wide.dtype) - mean * factor
        return x * factor.astype(x.dtype) + offset.astype(x.dtype)

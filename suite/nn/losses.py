"""Losses of the documented models, in float32 even if the network computes in a narrower type."""

import jax
import jax.numpy as jnp

from suite.nn.dtypes import wide


def mean_squared_error(outputs: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the mean squared difference float32[] of outputs [N] and labels float32[N]."""
    dtype = wide(outputs.dtype)
    return jnp.mean(jnp.square(outputs.astype(dtype) - labels.astype(dtype)))


def softmax_cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the mean cross-entropy float32[] of logits [N,K] against one-hot labels float32[N,K]."""
    dtype = wide(logits.dtype)
    logs = jax.nn.log_softmax(logits.astype(dtype))
    return -jnp.mean(jnp.sum(labels.astype(dtype) * logs, axis=-1))


def sigmoid_cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the mean cross-entropy float32[] of logits [N] against labels float32[N], 0 or 1."""
    logits = logits.astype(wide(logits.dtype))
    return jnp.mean(jax.nn.softplus(logits) - labels.astype(logits.dtype) * logits)

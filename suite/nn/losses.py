"""Losses as the documented models use them, in float32 whatever the network computes in."""

import jax
import jax.numpy as jnp


def softmax_cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the mean cross-entropy float32[] of logits [N,K] against one-hot labels float32[N,K]."""
    logs = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.mean(jnp.sum(labels.astype(jnp.float32) * logs, axis=-1))

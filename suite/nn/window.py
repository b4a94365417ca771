"""Largest and mean values of 3x3 windows, as networks from Keras use them when they are no longer trained."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SIDE = 3


def zero_padded_max(x: jax.Array, padding: tuple[int, int]) -> jax.Array:
    """Return the largest of each 3x3 window, stride 2, of x [N,H,W,C] with so many zeros before and behind."""
    return _windows(x, 2, (padding, padding), lax.max, -jnp.inf)


def zero_padded_mean(x: jax.Array, padding: tuple[int, int]) -> jax.Array:
    """Return the mean of each 3x3 window, stride 2, of x [N,H,W,C] with so many zeros before and behind."""
    return _windows(x, 2, (padding, padding), lax.add, 0.0) * (1 / SIDE**2)


def same_mean(x: jax.Array) -> jax.Array:
    """Return the mean of each pixel of x [N,H,W,C] and the neighbours that it has, at most 8."""
    counts = [np.convolve(np.ones(side), np.ones(SIDE), "same") for side in x.shape[1:3]]
    shares = 1 / (counts[0][:, None, None] * counts[1][:, None])
    return _windows(x, 1, ((1, 1), (1, 1)), lax.add, 0.0) * shares.astype(x.dtype)


def same_padding(side: int, kernel: int, stride: int) -> tuple[int, int]:
    """Return how much TensorFlow's same padding adds before and behind."""
    total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
    return total // 2, total - total // 2


def _windows(x: jax.Array, stride: int, padding: tuple, reduce: Any, start: float) -> jax.Array:
    x = jnp.pad(x, ((0, 0), *padding, (0, 0)))
    zero = jnp.asarray(start, x.dtype)
    return lax.reduce_window(x, zero, reduce, (1, SIDE, SIDE, 1), (1, stride, stride, 1), "VALID")

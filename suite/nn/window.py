"""Moving windows over pictures, and 3x3 max and mean pools as in Keras networks."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SIDE = 3
_GROWING = 4  # partial results, so that an operation need not wait for the previous one


def zero_padded_max(x: jax.Array, padding: tuple[int, int]) -> jax.Array:
    """Return the maxima of the 3x3 windows, stride 2, of x [N,H,W,C], zero-padded before and after."""
    return _windows(x, 2, padding, lax.max, -jnp.inf)


def zero_padded_mean(x: jax.Array, padding: tuple[int, int]) -> jax.Array:
    """Return the means of the 3x3 windows, stride 2, of x [N,H,W,C], zero-padded before and after."""
    return _windows(x, 2, padding, lax.add, 0.0) * (1 / SIDE**2)


def same_mean(x: jax.Array) -> jax.Array:
    """Return the mean of each pixel of x [N,H,W,C] and its up to 8 neighbours."""
    counts = [np.convolve(np.ones(side), np.ones(SIDE), "same") for side in x.shape[1:3]]
    shares = 1 / (counts[0][None, :, None, None] * counts[1][:, None])
    return _windows(x, 1, (1, 1), lax.add, 0.0) * shares.astype(x.dtype)


def _windows(x: jax.Array, stride: int, padding: tuple[int, int], operation: Any, start: float) -> jax.Array:
    """Return the reduction of each window: on a CPU by moved pictures, in one loop on all cores."""
    if jax.default_backend() == "cpu":
        return grown(operation, moved(x, SIDE, stride, (padding, padding)))
    x = jnp.pad(x, ((0, 0), padding, padding, (0, 0)))
    return lax.reduce_window(
        x, jnp.asarray(start, x.dtype), operation, (1, SIDE, SIDE, 1), (1, stride, stride, 1), "VALID"
    )


def same_padding(side: int, kernel: int, stride: int) -> tuple[int, int]:
    """Return TensorFlow's same padding before and after."""
    total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
    return total // 2, total - total // 2


def moved(x: jax.Array, size: int, stride: int, pads: Sequence[tuple[int, int]]) -> list[jax.Array]:
    """Return the values of x [N,H,W,C] at each place of a square window, row by row.

    `pads` are the zeros before and after H and W.
    """
    spans = [(side + sum(pad) - size) // stride * stride + 1 for side, pad in zip(x.shape[1:3], pads, strict=True)]
    x = jnp.pad(x, ((0, 0), *pads, (0, 0)))
    places = [(row, column) for row in range(size) for column in range(size)]
    return [x[:, row : row + spans[0] : stride, column : column + spans[1] : stride] for row, column in places]


def grown(operation: Callable[[jax.Array, jax.Array], jax.Array], parts: Sequence[jax.Array]) -> jax.Array:
    """Return the reduction of at least 4 parts by an operation that needs no order."""
    results = list(parts[:_GROWING])
    for index, part in enumerate(parts[_GROWING:]):
        results[index % _GROWING] = operation(results[index % _GROWING], part)
    return operation(operation(results[0], results[1]), operation(results[2], results[3]))

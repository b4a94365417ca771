"""Max pools whose gradient compares the stored position of each maximum.

XLA's own gradient searches each window again: in one loop on the CPU, in one slow kernel on a GPU. Of equal values the
first in a window counts, as usual.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_NOWHERE, _OUTSIDE = 98, 99  # numbers that no place in a window has


def max_pool_2x2(x: jax.Array) -> jax.Array:
    """Return the maxima [N,H//2,W//2,C] of the 2x2 windows of [N,H,W,C]; an odd last row or column is dropped."""
    _, height, width, _ = x.shape

    @jax.custom_vjp
    def pool(x: jax.Array) -> jax.Array:
        return forward(x)[0]

    def forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        rows, columns = height // 2 * 2, width // 2 * 2
        return first_maximum([x[:, i:rows:2, j:columns:2] for i in range(2) for j in range(2)])

    def backward(places: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
        n, h, w, c = gradient.shape
        x = where_at(places, gradient, [[0, 1], [2, 3]]).reshape(n, 2 * h, 2 * w, c)
        odd = ((0, 0, 0), (0, height - 2 * h, 0), (0, width - 2 * w, 0), (0, 0, 0))
        return (lax.pad(x, jnp.zeros([], x.dtype), odd),)

    pool.defvjp(forward, backward)
    return pool(x)


def max_pool_3x3(x: jax.Array) -> jax.Array:
    """Return the maxima [N,H/2,W/2,C] of the 3x3 windows with stride 2 of [N,H,W,C] with even sides.

    Same padding as in TensorFlow: one row below and one column to the right, lower than any number.
    """
    shape = x.shape
    _, height, width, _ = shape
    if height % 2 or width % 2:
        raise ValueError(f"max_pool_3x3 of even sides asked for, found {height}x{width}; add the padding of odd sides")

    @jax.custom_vjp
    def pool(x: jax.Array) -> jax.Array:
        return forward(x)[0]

    def forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = lax.pad(x, jnp.array(-jnp.inf, x.dtype), ((0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0)))
        maxima = first_maximum([x[:, i : height + i : 2, j : width + j : 2] for i in range(3) for j in range(3)])
        # Otherwise XLA repeats the search for each of the four windows that may hold a place.
        return lax.optimization_barrier(maxima) if jax.default_backend() == "cpu" else maxima

    def backward(places: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
        def from_window(up: int, left: int) -> jax.Array:
            """Return what each 2x2 block gets from the window that begins so many windows earlier."""
            move = ((0, 0, 0), (up, -up, 0), (left, -left, 0), (0, 0, 0))
            numbers = [[number(a + 2 * up, b + 2 * left) for b in range(2)] for a in range(2)]
            moved = lax.pad(places, jnp.uint8(_OUTSIDE), move), lax.pad(gradient, jnp.zeros([], gradient.dtype), move)
            return where_at(*moved, numbers)

        parts = from_window(0, 0) + from_window(0, 1) + from_window(1, 0) + from_window(1, 1)
        return (parts.reshape(shape),)

    def number(row: int, column: int) -> int:
        return 3 * row + column if row < 3 and column < 3 else _NOWHERE

    pool.defvjp(forward, backward)
    return pool(x)


def first_maximum(parts: Sequence[jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Return the element-wise maximum of the parts, and in uint8 the number of the first part that has it."""
    most, places = parts[0], jnp.zeros(parts[0].shape, jnp.uint8)
    for number, part in enumerate(parts[1:], 1):
        places = jnp.where(part > most, jnp.uint8(number), places)
        most = jnp.maximum(most, part)
    return most, places


def where_at(places: jax.Array, gradient: jax.Array, numbers: Sequence[Sequence[int]]) -> jax.Array:
    """Return [N,H,2,W,2,C]: at [n,h,a,w,b,c] the gradient [N,H,W,C] if its place is number [a][b], else 0."""
    wanted = np.array(numbers, np.uint8).reshape(1, 1, 2, 1, 2, 1)
    return jnp.where(
        places[:, :, None, :, None] == wanted, gradient[:, :, None, :, None], jnp.zeros([], gradient.dtype)
    )

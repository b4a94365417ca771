"""Max pools whose gradient is a comparison with the stored place of each maximum.

XLA's own gradient searches each window again: in one loop on the CPU, in one slow kernel on a GPU. Of equal values the
first in a window counts, as everywhere.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax


def max_pool_2x2(x: jax.Array) -> jax.Array:
    """Return the maxima [N,H//2,W//2,C] of the 2x2 windows of [N,H,W,C]; an odd last row or column is left out."""
    _, height, width, _ = x.shape

    @jax.custom_vjp
    def pool(x: jax.Array) -> jax.Array:
        return forward(x)[0]

    def forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        rows, columns = height // 2 * 2, width // 2 * 2
        return first_maximum([x[:, i:rows:2, j:columns:2] for i in range(2) for j in range(2)])

    def backward(places: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
        zero = jnp.zeros([], gradient.dtype)
        phases = [jnp.where(places == place, gradient, zero) for place in range(4)]
        return (interleaved(phases, height, width),)

    pool.defvjp(forward, backward)
    return pool(x)


def max_pool_3x3(x: jax.Array) -> jax.Array:
    """Return the maxima [N,H/2,W/2,C] of the 3x3 windows, two apart, of [N,H,W,C] with even sides.

    Same padding as TensorFlow has it: one row below and one column to the right, less than any number.
    """
    _, height, width, _ = x.shape
    if height % 2 or width % 2:
        raise ValueError(f"max_pool_3x3 of even sides asked for, found {height}x{width}; add the padding of odd sides")

    @jax.custom_vjp
    def pool(x: jax.Array) -> jax.Array:
        return forward(x)[0]

    def forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = lax.pad(x, jnp.array(-jnp.inf, x.dtype), ((0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0)))
        return first_maximum([x[:, i : height + i : 2, j : width + j : 2] for i in range(3) for j in range(3)])

    def backward(places: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
        zero = jnp.zeros([], gradient.dtype)

        def part(i: int, j: int) -> jax.Array:
            """Return what each window gives to its place (i, j), moved to where that lies in its phase."""
            here = jnp.where(places == 3 * i + j, gradient, zero)
            down, right = i // 2, j // 2
            return lax.pad(here, zero, ((0, 0, 0), (down, -down, 0), (right, -right, 0), (0, 0, 0)))

        phases = [
            part(0, 0) + part(0, 2) + part(2, 0) + part(2, 2),
            part(0, 1) + part(2, 1),
            part(1, 0) + part(1, 2),
            part(1, 1),
        ]
        return (interleaved(phases, height, width),)

    pool.defvjp(forward, backward)
    return pool(x)


def first_maximum(parts: Sequence[jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Return the largest of the parts element by element, and in uint8 the number of the first part that has it."""
    most, places = parts[0], jnp.zeros(parts[0].shape, jnp.uint8)
    for number, part in enumerate(parts[1:], 1):
        places = jnp.where(part > most, jnp.uint8(number), places)
        most = jnp.maximum(most, part)
    return most, places


def interleaved(phases: Sequence[jax.Array], height: int, width: int) -> jax.Array:
    """Return [N,height,width,C] whose element 2i+a, 2j+b is element i, j of phase 2a+b; zeros where sides are odd."""
    first, second, third, fourth = phases
    rows = [jnp.stack(pair, axis=3) for pair in ((first, second), (third, fourth))]  # N H/2 W/2 2 C
    n, h, w, _, c = rows[0].shape
    x = jnp.stack(rows, axis=2).reshape(n, 2 * h, 2 * w, c)
    odd = ((0, 0, 0), (0, height - 2 * h, 0), (0, width - 2 * w, 0), (0, 0, 0))
    return lax.pad(x, jnp.zeros([], x.dtype), odd)

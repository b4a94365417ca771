"""Weight gradient of a 3x3 convolution by Winograd's algorithm: a quarter of the multiplications, on 4x4 tiles.

Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016, here for weights: along each axis a
tile of 4 gradients and its 6 inputs become 6 points each, whose products give the kernel's 3 places.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

TILE, WINDOW = 4, 3
# Beside infinity. With these, a float32 gradient is 1.5e-6 off; with the usual integers 3.4e-6; the sum of all products
# 0.3e-6.
_POINTS = [Fraction(point, 8) for point in (0, 5, -5, 12, -12)]


def weight_gradient(x: jax.Array, gradient: jax.Array, pads: Sequence[tuple[int, int]]) -> jax.Array:
    """Return the gradient [3,3,C,D] of a kernel from inputs [N,H,W,C] and gradient [N,H',W',D], stride 1.

    `pads` are the inputs' padding before and after H and W.
    """
    high, wide = (-(-size // TILE) for size in gradient.shape[1:3])
    for_inputs, for_gradients, for_kernel = (jnp.asarray(each, x.dtype) for each in _matrices())
    x = _padded(x, [low for low, _ in pads], (high, wide), TILE + WINDOW - 1)
    gradient = _padded(gradient, (0, 0), (high, wide), TILE)
    # Otherwise each place of a tile checks whether it lies beyond the edge.
    x, gradient = lax.optimization_barrier((x, gradient))
    points = jnp.einsum(
        "wpmc,wpmd->wpcd", _points(x, for_inputs, high, wide), _points(gradient, for_gradients, high, wide)
    )
    return jnp.einsum("pk,wl,wpcd->klcd", for_kernel, for_kernel, points)


def _padded(x: jax.Array, lows: Sequence[int], tiles: Sequence[int], reach: int) -> jax.Array:
    """Return x [N,H,W,C] zero-padded to cover `tiles` tiles."""
    sizes = [(count - 1) * TILE + reach for count in tiles]
    edges = [(low, size - low - was, 0) for low, size, was in zip(lows, sizes, x.shape[1:3], strict=True)]
    return lax.pad(x, jnp.zeros([], x.dtype), [(0, 0, 0), *edges, (0, 0, 0)])


def _points(x: jax.Array, matrix: jax.Array, high: int, wide: int) -> jax.Array:
    """Return [6,6,M,C], the points along W and along H of the M = N high wide tiles of x [N,H,W,C]."""
    # One axis after the other, the first result kept: both at once read each input 36 times.
    rows = lax.optimization_barrier(_along(x, 1, matrix, high))  # 6 N high W C
    return _along(rows, 3, matrix, wide).reshape(len(matrix), len(matrix), -1, x.shape[-1])


def _along(x: jax.Array, axis: int, matrix: jax.Array, tiles: int) -> jax.Array:
    """Return [6, ..., tiles, ...]: the rows of a matrix times the places of each tile along an axis of x."""
    reach = (tiles - 1) * TILE + 1
    places = [lax.slice_in_dim(x, place, place + reach, TILE, axis)[None] for place in range(matrix.shape[1])]
    columns = matrix.T.reshape(len(places), -1, *[1] * x.ndim)
    return sum((column * place for column, place in zip(columns[1:], places[1:], strict=True)), columns[0] * places[0])


@cache
def _matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the matrices [6,6] of inputs, [6,4] of gradients and [6,3] of the kernel, from Lagrange polynomials."""
    rows, scales = [], []
    for point in _POINTS:
        others = [other for other in _POINTS if other != point]
        rows.append([*_polynomial(others), Fraction(0)])
        scales.append(math.prod(point - other for other in others))
    inputs = np.array([*rows, _polynomial(_POINTS)], float)
    gradients = np.array([*([point**power for power in range(TILE)] for point in _POINTS), [0, 0, 0, 1]], float)
    kernel = [[point**power / scale for power in range(WINDOW)] for point, scale in zip(_POINTS, scales, strict=True)]
    kernel = np.array([*kernel, [0, 0, 1]], float)
    # Powers of two change no digit and keep the points at the inputs' scale.
    small = [2.0 ** -np.round(np.log2(np.abs(each).sum(1, keepdims=True))) for each in (inputs, gradients)]
    return inputs * small[0], gradients * small[1], kernel / (small[0] * small[1])


def _polynomial(roots: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients, lowest first, of the polynomial with these roots."""
    coefficients = [Fraction(1)]
    for root in roots:
        coefficients = [
            up - root * same
            for up, same in zip([Fraction(0), *coefficients], [*coefficients, Fraction(0)], strict=True)
        ]
    return coefficients

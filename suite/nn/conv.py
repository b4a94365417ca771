"""Convolution whose weight gradient is a matrix product where XLA's own is slow on the CPU."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

_LEAST_CHANNELS = 64
_SLICES = 16  # of the contraction, so that each of up to sixteen cores has work of its own


def conv_general_dilated(
    x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **options: Any
) -> jax.Array:
    """Return lax.conv_general_dilated, its weight gradient chosen by shape; takes its place in nnx.Conv.

    x is [N,H,W,C], kernel [3,3,C,D] where the choice matters; anything else is passed on as it is.
    """
    own = partial(lax.conv_general_dilated, window_strides=window_strides, padding=padding, **options)
    wide = x.ndim == 4 and min(x.shape[3], kernel.shape[3]) >= _LEAST_CHANNELS
    plain = kernel.shape[:2] == (3, 3) and tuple(window_strides) == (1, 1) and padding == "SAME"
    even = math.prod(x.shape[:3]) % _SLICES == 0
    if not (jax.default_backend() == "cpu" and wide and plain and even):
        return own(x, kernel)

    @jax.custom_vjp
    def conv(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return own(x, kernel)

    def forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        return own(x, kernel), (x, kernel)

    def backward(saved: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
        x, kernel = saved
        # Otherwise the batch norm's gradient is computed again for each of the moves below. A division does not help
        # here, because XLA folds it into the batch norm's scale.
        gradient = lax.optimization_barrier(gradient)
        (towards_x,) = jax.linear_transpose(lambda x: own(x, kernel), x)(gradient)
        return towards_x, weight_gradient(x, gradient)

    conv.defvjp(forward, backward)
    return conv(x, kernel)


def weight_gradient(x: jax.Array, gradient: jax.Array) -> jax.Array:
    """Return the gradient [3,3,C,D] of a same-padded 3x3 kernel from inputs [N,H,W,C] and gradient [N,H,W,D].

    Inputs moved along W against gradients moved along H: each pair of moves is one place of the kernel, so that a
    single product of 3C by 3D gives all nine without a multiplication too many, and neither side is copied nine times.
    """
    channels, features = x.shape[-1], gradient.shape[-1]
    columns = moved(x, 2).reshape(_SLICES, -1, 3 * channels)
    rows = moved(gradient, 1).reshape(_SLICES, -1, 3 * features)
    product = jnp.einsum("smc,smd->scd", columns, rows).sum(0).reshape(3, channels, 3, features)
    return product[:, :, ::-1].transpose(2, 0, 1, 3)  # gradients move against the kernel's rows


def moved(x: jax.Array, axis: int) -> jax.Array:
    """Return [N,H,W,3C]: x moved by 1, 0 and -1 along an axis, zeros where it left, side by side."""

    def part(place: int) -> jax.Array:
        edges = [(0, 0, 0)] * 4
        edges[axis] = (1 - place, place - 1, 0)
        edges[3] = (place * x.shape[3], (2 - place) * x.shape[3], 0)
        return lax.pad(x, jnp.zeros([], x.dtype), edges)

    return part(0) + part(1) + part(2)  # XLA sums on all cores, and concatenates on one

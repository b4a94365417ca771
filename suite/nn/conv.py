"""Convolution whose weight gradient is a matrix product where XLA's own is slow on the CPU."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

_LARGEST_AREA = 16 * 16  # above it XLA's own weight gradient is as fast
_LEAST_CHANNELS = 64
_SLICES = 4  # of the contraction, so that four cores have work of their own


def conv_general_dilated(
    x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **options: Any
) -> jax.Array:
    """Return lax.conv_general_dilated, its weight gradient chosen by shape; takes its place in nnx.Conv.

    x is [N,H,W,C], kernel [3,3,C,D] where the choice matters; anything else is passed on as it is.
    """
    own = partial(lax.conv_general_dilated, window_strides=window_strides, padding=padding, **options)
    small = x.ndim == 4 and x.shape[1] * x.shape[2] <= _LARGEST_AREA and x.shape[3] >= _LEAST_CHANNELS
    plain = kernel.shape[:2] == (3, 3) and tuple(window_strides) == (1, 1) and padding == "SAME"
    even = x.shape[0] % _SLICES == 0
    if not (jax.default_backend() == "cpu" and small and plain and even):
        return own(x, kernel)

    @jax.custom_vjp
    def conv(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return own(x, kernel)

    def forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        return own(x, kernel), (x, kernel)

    def backward(saved: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
        x, kernel = saved
        (towards_x,) = jax.linear_transpose(lambda x: own(x, kernel), x)(gradient)
        return towards_x, weight_gradient(x, gradient)

    conv.defvjp(forward, backward)
    return conv(x, kernel)


def weight_gradient(x: jax.Array, gradient: jax.Array) -> jax.Array:
    """Return the gradient [3,3,C,D] of a same-padded 3x3 kernel from inputs [N,H,W,C] and gradient [N,H,W,D]."""
    n, height, width, channels = x.shape
    features = gradient.shape[-1]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = [padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
    patches = jnp.concatenate(windows, -1).reshape(_SLICES, n // _SLICES * height * width, 9 * channels)
    rows = gradient.reshape(_SLICES, -1, features)
    slices = jnp.einsum("smd,smc->sdc", rows, patches)  # the narrow side first: the product is written once
    return slices.sum(0).T.reshape(3, 3, channels, features)

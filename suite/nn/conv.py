"""Convolution whose weight gradient is a matrix product, since XLA's own is slow on the CPU; also one of patches."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from suite.nn import winograd

_NARROW = 8  # below so many channels the inputs of all kernel places lie side by side
_MANY = 128  # from so many channels and features on Winograd's fewer products pay for moving its points
_BYTES = 4  # least size of a number: the points are sums that cancel, so narrow types lose too much
_SLICES = 16  # of the contraction, one for each of up to sixteen cores

Padding = Sequence[tuple[int, int]]


def conv_general_dilated(
    x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **options: Any
) -> jax.Array:
    """Return lax.conv_general_dilated with its weight gradient as a matrix product on the CPU; for use in nnx.Conv.

    x is [N,H,W,C], kernel [K,L,C,D] without strides or dilation; other forms are passed on unchanged. The input
    gradient flips its kernel beforehand. JAX leaves the flip to the convolution, which XLA then does not hand to oneDNN
    within a loop, and its own takes 40 times as long.
    """
    own = partial(lax.conv_general_dilated, window_strides=window_strides, padding=padding, **options)
    window, dense = kernel.shape[:2], kernel.shape[2:3] == x.shape[3:]
    whole = {*window_strides, *(options.get("lhs_dilation") or ()), *(options.get("rhs_dilation") or ())} == {1}
    if not (jax.default_backend() == "cpu" and dense and math.prod(window) > 1 and whole):
        return own(x, kernel)
    pads = lax.padtype_to_pads(x.shape[1:3], window, (1, 1), padding) if isinstance(padding, str) else padding

    @jax.custom_vjp
    def conv(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return own(x, kernel)

    def forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        return own(x, kernel), (x, kernel)

    def backward(saved: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
        x, kernel = saved
        # Otherwise the element-wise chains that end in either are computed again for each move below. A division does
        # not help here: XLA folds it into a batch norm's scale.
        x, gradient = lax.optimization_barrier((x, gradient))
        sides = [(size - 1 - low, size - 1 - high) for size, (low, high) in zip(window, pads, strict=True)]
        turned = lax.rev(kernel, (0, 1)).swapaxes(2, 3)
        towards_x = lax.conv_general_dilated(gradient, turned, (1, 1), sides, **options)
        return towards_x, weight_gradient(x, gradient, tuple(window), tuple(map(tuple, pads)))

    conv.defvjp(forward, backward)
    return conv(x, kernel)


@partial(jax.jit, static_argnums=(2, 3))
def weight_gradient(x: jax.Array, gradient: jax.Array, window: tuple[int, ...], pads: Padding) -> jax.Array:
    """Return the gradient [K,L,C,D] of a KxL kernel from inputs [N,H,W,C] and gradient [N,H',W',D].

    Inputs are moved along W and gradients along H: each pair of moves is one place of the kernel. One product of LC by
    KD then gives all places, and neither side is copied KL times. With few channels the inputs are moved along H too: a
    product of KLC by D. Without padding the product includes some zeros. With many channels on both sides a 3x3 kernel
    uses Winograd's algorithm, with a quarter of the multiplications.
    """
    (high, wide), ((top, _), (left, _)) = window, pads
    channels, features = x.shape[3], gradient.shape[3]
    many = min(channels, features) >= _MANY and x.dtype.itemsize >= _BYTES
    if many and window == (winograd.WINDOW,) * 2:
        return winograd.weight_gradient(x, gradient, pads)
    inputs = moved(x, 2, [left - place for place in range(wide)], gradient.shape[2])  # N H W' LC
    if channels <= _NARROW:
        inputs = lax.optimization_barrier(inputs)
        inputs = moved(inputs, 1, [top - place for place in range(high)], gradient.shape[1])  # N H' W' KLC
        return product(inputs, gradient).reshape(high, wide, channels, features)
    rows = moved(gradient, 1, [place - top for place in range(high)], x.shape[1])  # N H W' KD
    return product(inputs, rows).reshape(wide, channels, high, features).transpose(2, 0, 1, 3)


def moved(x: jax.Array, axis: int, moves: Sequence[int], length: int) -> jax.Array:
    """Return x [N,H,W,C] moved along an axis by each of the moves, concatenated; cropped or zero-padded to length."""
    channels = x.shape[3]

    def part(place: int, move: int) -> jax.Array:
        edges = [(0, 0, 0)] * 4
        edges[axis] = (move, length - x.shape[axis] - move, 0)
        edges[3] = (place * channels, (len(moves) - 1 - place) * channels, 0)
        return lax.pad(x, jnp.zeros([], x.dtype), edges)

    # XLA sums on all cores, and concatenates on one.
    return sum((part(place, move) for place, move in enumerate(moves[1:], 1)), part(0, moves[0]))


def product(x: jax.Array, y: jax.Array) -> jax.Array:
    """Return [C,D], the products of [N,H,W,C] and [N,H,W,D] summed over all but their last axes."""
    slices = math.gcd(math.prod(x.shape[:3]), _SLICES)
    x, y = x.reshape(slices, -1, x.shape[3]), y.reshape(slices, -1, y.shape[3])
    return jnp.einsum("smc,smd->scd", x, y).sum(0)


def conv_of_patches(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """Return the valid convolution [N,H',W',D] of x [N,H,W,C] with a kernel [K,L,C,D] and stride 1."""
    high, wide = x.shape[1] - kernel.shape[0] + 1, x.shape[2] - kernel.shape[1] + 1
    places = [(row, column) for row in range(kernel.shape[0]) for column in range(kernel.shape[1])]
    patches = [lax.slice_in_dim(lax.slice_in_dim(x, i, i + high, axis=1), j, j + wide, axis=2) for i, j in places]
    return jnp.concatenate(patches, axis=3) @ kernel.reshape(-1, kernel.shape[3])

"""Convolution with a weight gradient that is a matrix product, because XLA's own is slow on the CPU, or of patches."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from suite.nn import winograd

_NARROW = 8  # so few channels that the inputs of all places of the kernel lie side by side
_MANY = 128  # so many channels and features that fewer products pay for the points to be moved through memory
_BYTES = 4  # of a number, at least: the points are sums that cancel, which leaves little of fewer digits
_SLICES = 16  # of the contraction, so that each of up to sixteen cores has work of its own

Padding = Sequence[tuple[int, int]]


def conv_general_dilated(
    x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **options: Any
) -> jax.Array:
    """Return lax.conv_general_dilated, its weight gradient a matrix product on the CPU; takes its place in nnx.Conv.

    x is [N,H,W,C], kernel [K,L,C,D] without strides or dilation where the form matters; anything else is passed on as
    it is. The gradient towards x has its kernel turned around first: JAX leaves that to the convolution's form, which
    XLA does not hand to oneDNN within a loop, and takes 40 times as long itself.
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
        # Otherwise the chains of element-wise work that end in either are computed again for each of the moves below.
        # A division does not help here, because XLA folds it into a batch norm's scale.
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

    Inputs moved along W against gradients moved along H: each pair of moves is one place of the kernel, so that a
    single product of LC by KD gives all of them and neither side is copied KL times. Where the inputs have few
    channels, they are moved along H as well: a product of KLC by D. Without padding the product has some zeros more.
    Where both have many, a 3x3 kernel's is Winograd's, with a quarter of the multiplications.
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
    """Return x [N,H,W,C] moved along an axis by each of the moves, side by side; cut or filled with zeros to length."""
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
    """Return the valid convolution [N,H',W',D] of x [N,H,W,C] by a kernel [K,L,C,D] with stride 1."""
    high, wide = x.shape[1] - kernel.shape[0] + 1, x.shape[2] - kernel.shape[1] + 1
    places = [(row, column) for row in range(kernel.shape[0]) for column in range(kernel.shape[1])]
    patches = [lax.slice_in_dim(lax.slice_in_dim(x, i, i + high, axis=1), j, j + wide, axis=2) for i, j in places]
    return jnp.concatenate(patches, axis=3) @ kernel.reshape(-1, kernel.shape[3])

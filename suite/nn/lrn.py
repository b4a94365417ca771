"""Local response normalisation across channels, whose gradient is one more window sum."""

import jax
import jax.numpy as jnp
from jax import lax

RADIUS, ALPHA, BETA = 4, 0.001 / 9, 0.75  # of TensorFlow's CIFAR-10 tutorial; bias 1


@jax.custom_vjp
def local_response_norm(x: jax.Array) -> jax.Array:
    """Return x / (1 + alpha * s) ** 0.75 of [N,H,W,C]; s is the sum of squares over the nine nearest channels.

    Source: Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural networks (2012).
    """
    return _forward(x)[0]


def _forward(x: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    base = 1 + ALPHA * window_sum(x * x)
    return x * _power(base), (x, base)


def _backward(saved: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array]:
    x, base = saved
    factor = _power(base)
    shared = window_sum(gradient * x * factor / base)
    return (gradient * factor - (2 * ALPHA * BETA) * x * shared,)


local_response_norm.defvjp(_forward, _backward)


def _power(base: jax.Array) -> jax.Array:
    """Return base ** -0.75 by two roots, which are cheaper than a power."""
    root = lax.rsqrt(base)
    return root * jnp.sqrt(root)


def window_sum(x: jax.Array) -> jax.Array:
    """Return the sum over each channel and its neighbours up to the radius, with zeros beyond the ends."""

    def moved(by: int) -> jax.Array:
        return lax.pad(x, jnp.zeros([], x.dtype), ((0, 0, 0),) * (x.ndim - 1) + ((-by, by, 0),))

    return sum((moved(by) for by in range(-RADIUS, RADIUS + 1) if by), x)

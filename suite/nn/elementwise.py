"""Element-wise operations between products, in forms that XLA compiles well: ReLU, affine maps, means, chain ends."""

import jax
import jax.numpy as jnp
from jax import lax

from suite.nn.compiler import has_kernel_sets


@jax.custom_vjp
def relu(x: jax.Array) -> jax.Array:
    """Return the larger of x and 0, element by element; its gradient at 0 is 0."""
    return _forward(x)[0]


def _forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    x = jnp.maximum(x, jnp.zeros([], x.dtype))
    # Otherwise XLA searches all windows of the preceding pool again, for the gradient and for each use of the result.
    x = lax.optimization_barrier(x) if jax.default_backend() == "cpu" else x
    return x, x


def _backward(x: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
    return (jnp.where(x > 0, gradient, jnp.zeros([], gradient.dtype)),)


relu.defvjp(_forward, _backward)


def affine(x: jax.Array, factor: jax.Array, offset: jax.Array) -> jax.Array:
    """Return x [...,C] times a factor [C] plus an offset [C], in the type of x."""
    x = x * lax.broadcast_to_rank(factor.astype(x.dtype), x.ndim)
    return x + lax.broadcast_to_rank(offset.astype(x.dtype), x.ndim)


def mean_of_channels(x: jax.Array) -> jax.Array:
    """Return the mean [C] of x [...,C] over all axes but the last.

    With the suite's options jaxlib 0.10 adds a channel's values one by one on a CPU. Logits after 63 convolutions with
    batch norms are then 3.6e-6 off in float32; reduced axis by axis, 1.0e-6.
    """
    if jax.default_backend() == "cpu" and not has_kernel_sets():
        while x.ndim > 1:
            x = jnp.mean(x, -2)
        return x
    return jnp.mean(x, tuple(range(x.ndim - 1)))


def chain_end(x: jax.Array, anything: jax.Array) -> jax.Array:
    """Return x, computed once on the CPU however many gradients use it.

    XLA would recompute the element-wise chain before x for each use. It does not repeat a division, so a division by a
    1.0 known only at run time, made from any finite array, ends the chain.
    """
    if jax.default_backend() != "cpu":
        return x
    one = 1.0 + 0.0 * jax.lax.stop_gradient(anything.ravel()[0])
    return x / one.astype(x.dtype)

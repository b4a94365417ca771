"""ReLU whose gradient looks at its result, which the next layer keeps anyway."""

import jax
import jax.numpy as jnp
from jax import lax


@jax.custom_vjp
def relu(x: jax.Array) -> jax.Array:
    """Return the larger of x and 0, element by element; its gradient at 0 is 0."""
    return _forward(x)[0]


def _forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    x = jnp.maximum(x, jnp.zeros([], x.dtype))
    # Otherwise XLA searches all windows of the pool before it again, for the gradient and for each user of the result.
    x = lax.optimization_barrier(x) if jax.default_backend() == "cpu" else x
    return x, x


def _backward(x: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
    return (jnp.where(x > 0, gradient, jnp.zeros([], gradient.dtype)),)


relu.defvjp(_forward, _backward)

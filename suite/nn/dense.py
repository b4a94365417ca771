"""Product of a dense layer whose weight gradient becomes part of the update on the CPU."""

from typing import Any

import jax
from jax import lax

_DENSE = (((1,), (0,)), ((), ()))  # [N,C] by [C,D]
# With one example XLA leaves the weight gradient in the update's loop by itself. With more than these the product takes
# longer than the update, and turning its inputs around costs what the update gains.
_EXAMPLES = range(2, 129)


def dot_general(x: jax.Array, kernel: jax.Array, dimension_numbers: Any, **options: Any) -> jax.Array:
    """Return lax.dot_general, its weight gradient made for the CPU and few examples; takes its place in nnx.Linear.

    x is [N,C], kernel [C,D] where the form matters; anything else is passed on as it is. The weight gradient has its
    inputs turned around first: as JAX writes it, examples come first on both sides, which XLA's libraries do not
    multiply, so that the update is no part of the product and all gradients pass through memory. And it waits for the
    gradient towards x, which reads the kernel: otherwise XLA does not see that the kernel has been read when it is
    written over, and copies it at every step.
    """
    few = x.ndim == 2 and dimension_numbers == _DENSE and x.shape[0] in _EXAMPLES
    if not (jax.default_backend() == "cpu" and few):
        return lax.dot_general(x, kernel, dimension_numbers, **options)

    @jax.custom_vjp
    def dense(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return lax.dot_general(x, kernel, _DENSE, **options)

    def forward(x: Any, kernel: Any) -> tuple[jax.Array, tuple[jax.Array, jax.Array | None]]:
        return dense(x.value, kernel.value), (x.value, kernel.value if x.perturbed else None)

    def backward(saved: tuple[jax.Array, jax.Array | None], gradient: jax.Array) -> tuple[jax.Array | None, jax.Array]:
        x, kernel = saved
        towards_x = None if kernel is None else lax.dot_general(gradient, kernel, (((1,), (1,)), ((), ())), **options)
        towards_x, turned, gradient = lax.optimization_barrier((towards_x, x.T, gradient))
        return towards_x, lax.dot_general(turned, gradient, _DENSE, **options)

    dense.defvjp(forward, backward, symbolic_zeros=True)
    return dense(x, kernel)

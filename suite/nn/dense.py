"""Product of a dense layer whose weight gradient fuses with the update on the CPU."""

from typing import Any

import jax
from jax import lax

_DENSE = (((1,), (0,)), ((), ()))  # [N,C] by [C,D]
# With one example XLA fuses the weight gradient into the update by itself. Above this the product takes longer than the
# update, and transposing its inputs costs the gain.
_EXAMPLES = range(2, 129)


def dot_general(x: jax.Array, kernel: jax.Array, dimension_numbers: Any, **options: Any) -> jax.Array:
    """Return lax.dot_general with a weight gradient for the CPU and few examples; for use in nnx.Linear.

    x is [N,C], kernel [C,D]; other forms are passed on unchanged. The weight gradient transposes its inputs first. As
    JAX writes it, examples come first on both sides: XLA's libraries do not multiply that, so nothing fuses and all
    gradients pass through memory. It also waits for the input gradient, which reads the kernel. Otherwise XLA does not
    see that the kernel was read before it is overwritten, and copies it every step.
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

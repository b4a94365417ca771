"""Mean over pictures that is exact to float32 where XLA adds up number by number, too."""

import jax
import jax.numpy as jnp

from suite.nn.compiler import has_kernel_sets


def mean_of_channels(x: jax.Array) -> jax.Array:
    """Return the mean [C] of x [...,C] over all axes but the last.

    With the options that the suite gives it jaxlib 0.10 adds up all that a channel has one by one on a CPU: logits
    after 63 convolutions with their batch norms are then 3.6e-6 off in float32, along one axis after another 1.0e-6.
    """
    if jax.default_backend() == "cpu" and not has_kernel_sets():
        while x.ndim > 1:
            x = jnp.mean(x, -2)
        return x
    return jnp.mean(x, tuple(range(x.ndim - 1)))

"""An end to the chains of element-wise work that XLA would otherwise repeat for each of their users."""

import jax


def chain_end(x: jax.Array, anything: jax.Array) -> jax.Array:
    """Return x, computed once on the CPU however many gradients need it.

    XLA would compute the whole chain of element-wise work before x again for each of its users. It does not repeat a
    division, so one by a 1.0 that only the run time knows, made from any finite array, ends the chain.
    """
    if jax.default_backend() != "cpu":
        return x
    one = 1.0 + 0.0 * jax.lax.stop_gradient(anything.ravel()[0])
    return x / one.astype(x.dtype)

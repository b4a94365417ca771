"""A convolution as one matrix product, which for several networks side by side is one batched product."""

import jax
import jax.numpy as jnp
from jax import lax


def conv_of_patches(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """Return the valid convolution [N,H',W',D] of x [N,H,W,C] by a kernel [K,L,C,D] with stride 1."""
    high, wide = x.shape[1] - kernel.shape[0] + 1, x.shape[2] - kernel.shape[1] + 1
    places = [(row, column) for row in range(kernel.shape[0]) for column in range(kernel.shape[1])]
    patches = [lax.slice_in_dim(lax.slice_in_dim(x, i, i + high, axis=1), j, j + wide, axis=2) for i, j in places]
    return jnp.concatenate(patches, axis=3) @ kernel.reshape(-1, kernel.shape[3])

"""Explicit type promotion: implicit promotion by JAX is an error in the tests."""

import jax
import jax.numpy as jnp
import numpy as np


def wide(dtype: np.dtype) -> np.dtype:
    """Return the type; float32 if it is narrower."""
    return np.promote_types(dtype, np.float32)


def alike(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    """Return floating arrays in the widest of their types."""
    dtype = np.result_type(*(array.dtype for array in arrays))
    return tuple(jnp.asarray(array, dtype) for array in arrays)

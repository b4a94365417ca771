"""Dropout whose mask a CPU draws in one loop.

Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011), for Threefry with two words and twenty
rounds, which is JAX's generator.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax, random

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_GROUPS = 5  # of four rounds each, with part of the key after each


class Dropout(nnx.Dropout):
    """nnx.Dropout with the same mask; on a CPU JAX draws it in a loop of rounds on one core."""

    def __call__(self, inputs: jax.Array, **options: Any) -> jax.Array:
        """Map [...] to the same shape, a share of `rate` zeroed and the rest scaled up; unchanged in evaluation."""
        rngs, plain = self.rngs, options or self.deterministic or not 0 < self.rate < 1
        if plain or rngs is None or jax.default_backend() != "cpu":
            return super().__call__(inputs, **options)
        kept = 1.0 - self.rate
        mask = lax.optimization_barrier(bernoulli(rngs(), kept, inputs.shape))  # drawn once, not once for each use
        return jnp.where(mask, inputs / kept, jnp.zeros_like(inputs))


def bernoulli(key: jax.Array, p: float, shape: tuple[int, ...]) -> jax.Array:
    """Return jax.random.bernoulli(key, p, shape), bool; by JAX itself for keys of another generator."""
    words = random.key_data(key)
    by_place = jax.config.jax_threefry_partitionable  # pyright: ignore[reportAttributeAccessIssue]
    if words.shape != (2,) or math.prod(shape) >= 2**32 or not by_place:
        return random.bernoulli(key, p, shape)
    place = lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    high, low = threefry((words[0], words[1]), jnp.uint32(0), place)
    mantissa = ((high ^ low) >> jnp.uint32(9)) | jnp.uint32(0x3F800000)  # of a float32 from 1 up to 2
    return lax.bitcast_convert_type(mantissa, jnp.float32) - jnp.float32(1) < jnp.float32(p)


def threefry(key: tuple[jax.Array, jax.Array], high: jax.Array, low: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return Threefry-2x32 of counters uint32[...], given as high and low halves, under a key uint32[2]."""
    parts = (*key, key[0] ^ key[1] ^ jnp.uint32(_PARITY))
    high, low = high + parts[0], low + parts[1]
    for group in range(_GROUPS):
        for bits in _ROTATIONS[group % 2]:
            high = high + low
            low = high ^ ((low << jnp.uint32(bits)) | (low >> jnp.uint32(32 - bits)))
        high, low = high + parts[(group + 1) % 3], low + parts[(group + 2) % 3] + jnp.uint32(group + 1)
    return high, low

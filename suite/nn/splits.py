"""The best split of each node, from histograms of packed sums.

A split is one 64-bit integer, larger for a better one: 32 bits of gain above its column and bin, counted downwards. The
largest is the best split; of equals the first column and bin win, on any number of devices.

Source: Chen and Guestrin, XGBoost (2016), for gain and weight of a leaf.
"""

import jax
import jax.numpy as jnp
from jax import lax

from suite.nn.growth import Growth
from suite.nn.histograms import BINS, fields

_BIN_BITS, _COLUMN_BITS = 8, 24
_COLUMNS = 2**_COLUMN_BITS  # of a table
_LEAST_GAIN = 1e-6  # of a split, whatever is asked for


def best(growth: Growth, histogram: jax.Array, totals: jax.Array, unit: float) -> jax.Array:
    """Return each node's best split int64[K] in a histogram int64[C,256,K] with totals int64[K]."""
    gains = gain(growth, jnp.cumsum(histogram, 1), totals, unit)
    places = (BINS - 1 - jnp.arange(BINS, dtype=jnp.int64))[None, :, None]
    return _over_columns(jnp.max(_bits(gains) + places, 1))


def swept(growth: Growth, histogram: jax.Array, totals: jax.Array, unit: float) -> jax.Array:
    """Return the same as `best`, bin by bin: a CPU then keeps the working set in a cache."""

    def look(bin: jax.Array, seen: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, splits = seen
        left = left + lax.dynamic_index_in_dim(histogram, bin, 1, keepdims=False)
        return left, jnp.maximum(splits, _bits(gain(growth, left, totals, unit)) + (BINS - 1 - bin).astype(jnp.int64))

    shape = (len(histogram), totals.size)
    start = jnp.zeros(shape, histogram.dtype), jnp.full(shape, jnp.iinfo(jnp.int64).min)
    return _over_columns(lax.fori_loop(jnp.int32(0), jnp.int32(BINS), look, start)[1])


def _bits(gains: jax.Array) -> jax.Array:
    """Return gains as the high bits of a split: the bits of non-negative floats sort like the floats."""
    return lax.bitcast_convert_type(gains, jnp.int32).astype(jnp.int64) << (_COLUMN_BITS + _BIN_BITS)


def _over_columns(splits: jax.Array) -> jax.Array:
    """Return the best int64[K] of splits [C,K] that already hold their bins."""
    columns = jnp.arange(len(splits), dtype=jnp.int64)[:, None]
    return jnp.max(splits + ((_COLUMNS - 1 - columns) << _BIN_BITS), 0)


def shifted(splits: jax.Array, first: jax.Array) -> jax.Array:
    """Return splits with columns counted from `first`."""
    return splits - (first.astype(jnp.int64) << _BIN_BITS)


def opened(splits: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return gain float32[K], column int32[K] and last left bin int32[K] of splits."""
    gains = lax.bitcast_convert_type((splits >> (_COLUMN_BITS + _BIN_BITS)).astype(jnp.int32), jnp.float32)
    columns = _COLUMNS - 1 - ((splits >> _BIN_BITS) & (_COLUMNS - 1)).astype(jnp.int32)
    return gains, columns, BINS - 1 - (splits & (BINS - 1)).astype(jnp.int32)


def lefts(histogram: jax.Array, splits: jax.Array) -> jax.Array:
    """Return the packed sum int64[K] of the rows that each node's split sends left."""
    _, columns, bins = opened(splits)
    sums = histogram[columns, :, jnp.arange(columns.size, dtype=jnp.int32)]  # K 256
    return jnp.sum(jnp.where(jnp.arange(BINS, dtype=jnp.int32)[None] <= bins[:, None], sums, 0), 1)


def worth(growth: Growth, gains: jax.Array, totals: jax.Array, unit: float) -> jax.Array:
    """Return whether to split each node, bool[K], given its children's gain."""
    gained = gains - score(growth, *fields(totals, unit))
    return (gained > _LEAST_GAIN) & (gained >= growth.least_gain)


def gain(growth: Growth, lefts: jax.Array, totals: jax.Array, unit: float) -> jax.Array:
    """Return the score of both children [...,K] of splits with these packed left sums."""
    left, right = fields(lefts, unit), fields(lax.broadcast_to_rank(totals, lefts.ndim) - lefts, unit)
    enough = (left[1] >= growth.least_hessian) & (right[1] >= growth.least_hessian)
    return jnp.where(enough, score(growth, *left) + score(growth, *right), -jnp.inf)


def score(growth: Growth, gradients: jax.Array, hessians: jax.Array) -> jax.Array:
    """Return twice the decrease of the objective when these rows get their best weight."""
    kept = shrunk(growth, gradients)
    return kept * kept / (hessians + jnp.float32(growth.l2))


def shrunk(growth: Growth, gradients: jax.Array) -> jax.Array:
    """Return sums of gradients, shrunk towards 0 by the L1 penalty."""
    return jnp.sign(gradients) * jnp.maximum(jnp.abs(gradients) - jnp.float32(growth.l1), 0)

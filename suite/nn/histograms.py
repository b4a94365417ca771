"""Exact sums of gradients and hessians for each bin of each column.

A row's gradient and hessian are two fields of one 64-bit integer, so one addition serves both. The sums are exact: a
tree depends neither on the order of the rows nor on the number of devices that share them.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

BINS = 256
HESSIAN_BITS = 24  # the lower field; the gradient lies above it
HESSIANS = 2**HESSIAN_BITS - 1  # mask of that field
GRADIENT_BITS = 38  # of the sum over all rows, without its sign
LARGEST = 4.0  # gradient and hessian of a row
MOST_ROWS = int(2**HESSIAN_BITS / LARGEST)  # of a table; more could overflow
_SHARES = (2, 4, 5, 6, 7, 8, 16)  # sixteenths of the rows for which a histogram is compiled


def packed(gradients: jax.Array, hessians: jax.Array, unit: float) -> jax.Array:
    """Return gradients in units of 1/unit and integer hessians, packed as int64[N]."""
    bound = jnp.clip(gradients, -LARGEST, LARGEST)
    upper = jnp.round(bound * jnp.float32(unit)).astype(jnp.int64) << HESSIAN_BITS
    return upper + hessians.astype(jnp.int64)


def fields(sums: jax.Array, unit: float) -> tuple[jax.Array, jax.Array]:
    """Return gradients and hessians of packed sums as float32, by halves: CPUs convert no int64 directly."""
    low, high = sums.astype(jnp.int32), (sums >> 32).astype(jnp.int32)
    parts = lax.shift_right_logical(low, jnp.int32(HESSIAN_BITS)).astype(jnp.float32)
    gradients = high.astype(jnp.float32) * jnp.float32(2.0 ** (32 - HESSIAN_BITS)) + parts
    return gradients * jnp.float32(1 / unit), (low & HESSIANS).astype(jnp.float32)


def counted(
    bins: jax.Array, node: jax.Array, rows: jax.Array, nodes: int, columns: int, here: jax.Array | None = None
) -> jax.Array:
    """Return histograms int64[columns,256,nodes], column by column, so that one column's sums stay in a cache.

    Takes bins uint8[C,N]; columns beyond C are empty; `here` are the rows that `node` and `rows` describe.
    """

    def with_column(index: jax.Array, sums: jax.Array) -> jax.Array:
        column = lax.dynamic_index_in_dim(bins, index, keepdims=False)
        found = column if here is None else taken(column, here)
        places = found.astype(jnp.uint32) * jnp.uint32(nodes) + node
        of_column = jnp.zeros(BINS * nodes, rows.dtype).at[places].add(rows, mode="promise_in_bounds")
        return lax.dynamic_update_index_in_dim(sums, of_column, index, 0)

    empty = jnp.zeros((columns, BINS * nodes), rows.dtype)
    return lax.fori_loop(jnp.int32(0), jnp.int32(len(bins)), with_column, empty).reshape(-1, BINS, nodes)


def gathered(
    bins: jax.Array, node: jax.Array, rows: jax.Array, every: jax.Array, nodes: int, columns: int
) -> jax.Array:
    """Return histograms int64[columns,256,nodes]; only rows of these nodes are read, in order.

    `every` numbers the rows, uint32[N].
    """
    counted_rows = node < nodes  # N
    place = lax.associative_scan(jnp.add, counted_rows.astype(jnp.uint32))  # N
    slots = jnp.where(counted_rows, place - 1, jnp.uint32(rows.size))
    order = jnp.zeros(rows.size + 1, jnp.uint32).at[slots].set(every, mode="promise_in_bounds")  # N+1

    def some(size: int) -> jax.Array:
        here = order[:size]
        there = every[:size] < place[-1]  # the others are fill: they add nothing to the first node
        found, at = (jnp.where(there, taken(x, here), 0) for x in (rows, node))
        return counted(bins, at, found, nodes, columns, here)

    sizes = sorted({-(-rows.size * share // _SHARES[-1]) for share in _SHARES})
    which = jnp.sum(place[-1] > jnp.asarray(sizes[:-1], jnp.uint32), dtype=jnp.int32)
    return lax.switch(which, [partial(some, size) for size in sizes])


def added(table: jax.Array, node: jax.Array, rows: jax.Array, nodes: int, columns: int) -> jax.Array:
    """Return histograms int64[columns,256,nodes] in one pass; rows of other nodes are dropped.

    Takes the table row by row, uint8[N,C]: what a GPU adds at a time then spreads over all columns. Column by column it
    would contend for one column's few lines of memory.
    """
    size = columns * BINS * nodes
    base = jnp.arange(table.shape[1], dtype=jnp.uint32) * jnp.uint32(BINS)  # C
    there = (base[None] + table.astype(jnp.uint32)) * jnp.uint32(nodes) + node[:, None]  # N C
    places = jnp.where((node < nodes)[:, None], there, jnp.uint32(size))
    sums = jnp.zeros(size, rows.dtype)
    sums = sums.at[places.reshape(-1)].add(jnp.broadcast_to(rows[:, None], places.shape).reshape(-1), mode="drop")
    return sums.reshape(-1, BINS, nodes)


def row_by_row(bins: jax.Array) -> jax.Array:
    """Return bins uint8[C,N] row by row, uint8[N,C]; in memory too, since the barrier sees one axis alone."""
    return lax.optimization_barrier(bins.T.reshape(-1)).reshape(bins.shape[::-1])


def taken(values: jax.Array, places: jax.Array) -> jax.Array:
    """Return the values at places uint32, all in range."""
    return values.at[places].get(mode="promise_in_bounds")

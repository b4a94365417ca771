"""Gradient-boosted trees on binned columns, grown level by level from histograms.

Gradient and hessian of a row are two fields of one whole number of 64 bits. Its sums are exact, so that a tree depends
neither on the order of the rows nor on the number of devices that share them; one addition serves both fields.

Source: Chen and Guestrin, XGBoost (2016), for gain and weight of a leaf; the larger of two children is what the smaller
leaves of its parent, as in LightGBM (Ke et al., 2017).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

BINS = 256
_HESSIAN_BITS = 24  # the lower field; what lies above it is the gradient
_GRADIENT_BITS = 38  # of the sum over all rows, without its sign
_LARGEST = 4.0  # gradient and hessian of a row
_LEAST_GAIN = 1e-6  # of a split, whatever is asked for
_SHARES = (2, 4, 5, 6, 7, 8, 16)  # sixteenths of the rows, for which a histogram is compiled


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How trees grow, and what a row weighs."""

    rounds: int = 100
    depth: int = 8
    rate: float = 0.1
    least_gain: float = 0.1
    l1: float = 0.9
    l2: float = 1.0
    least_hessian: float = 30.0  # of a child
    positive_weight: float = 2.0
    start: float = 0.5  # of every margin


class Tree(NamedTuple):
    """A whole tree of depth D; a node that is not split sends every row to the left."""

    columns: jax.Array  # int32[2^D-1], level by level
    thresholds: jax.Array  # float32[2^D-1]; bins above it go to the right
    leaves: jax.Array  # float32[2^D], what is added to a margin


def boosted(
    growth: Growth, margins: jax.Array, bins: jax.Array, labels: jax.Array, axis: str | None = None, dense: bool = False
) -> tuple[jax.Array, Tree, jax.Array]:
    """Return margins float32[N] after one more tree, the tree, and the weighted mean squared error before it.

    Takes bins uint8[C,N] and labels float32[N]. `axis` names the devices that share the rows; `dense` adds a
    level's rows in one go, as a GPU does fastest. Raises ValueError for more rows than the fields can add up.
    """
    rows = labels.shape[0] * (1 if axis is None else lax.axis_size(axis))
    if rows * _LARGEST > 2**_HESSIAN_BITS:
        raise ValueError(f"{rows} rows asked for, boosting adds up to {int(2**_HESSIAN_BITS / _LARGEST)}; take fewer")
    summed: Callable = (lambda x: x) if axis is None else partial(lax.psum, axis_name=axis)
    weights = jnp.where(labels > 0, jnp.float32(growth.positive_weight), jnp.float32(1))  # N
    errors = margins - labels  # N
    loss = summed(jnp.sum(weights * errors * errors)) / rows
    with jax.enable_x64(True):
        unit = 2.0 ** (_GRADIENT_BITS - (int(rows * _LARGEST) - 1).bit_length())
        tree, leaf = grown(growth, bins, packed(weights * errors, weights, unit), unit, summed, dense)
    return margins + taken(tree.leaves, leaf), tree, loss


def packed(gradients: jax.Array, hessians: jax.Array, unit: float) -> jax.Array:
    """Return gradients in parts of 1/unit and whole hessians as int64[N]."""
    bound = jnp.clip(gradients, -_LARGEST, _LARGEST)
    upper = jnp.round(bound * jnp.float32(unit)).astype(jnp.int64) << _HESSIAN_BITS
    return upper + hessians.astype(jnp.int64)


def fields(sums: jax.Array, unit: float) -> tuple[jax.Array, jax.Array]:
    """Return gradients and hessians as float32 of packed sums."""
    gradients = (sums >> _HESSIAN_BITS).astype(jnp.float32) * jnp.float32(1 / unit)
    return gradients, (sums & (2**_HESSIAN_BITS - 1)).astype(jnp.int32).astype(jnp.float32)


def grown(
    growth: Growth, bins: jax.Array, rows: jax.Array, unit: float, summed: Callable, dense: bool
) -> tuple[Tree, jax.Array]:
    """Return a tree of packed rows int64[N] and the leaf of each row, uint32[N]."""
    columns, thresholds = [], []
    node = jnp.zeros(rows.shape, jnp.uint32)  # of a kind that is not looked at for negative places
    here = jnp.arange(rows.size, dtype=jnp.uint32)
    histogram = summed((added if dense else counted)(bins, node, rows, 1))  # C 256 1
    totals = jnp.sum(histogram[0], 0)  # 1
    for level in range(growth.depth):
        if level:
            histogram = children(histogram, totals, bins, node, rows, summed, dense)  # C 256 2^level
        column, threshold, left = (best if dense else swept)(growth, histogram, totals, unit)
        flat = taken(column.astype(jnp.uint32) * jnp.uint32(rows.size), node) + here
        there = taken(bins.reshape(-1), flat).astype(jnp.int32)  # N
        node = 2 * node + (there > taken(threshold, node)).astype(jnp.uint32)
        totals = jnp.stack([left, totals - left], 1).reshape(-1)
        columns.append(column)
        thresholds.append(threshold.astype(jnp.float32))
    gradients, hessians = fields(totals, unit)
    leaves = -jnp.float32(growth.rate) * shrunk(growth, gradients) / (hessians + jnp.float32(growth.l2))
    return Tree(jnp.concatenate(columns), jnp.concatenate(thresholds), leaves), node


def taken(values: jax.Array, places: jax.Array) -> jax.Array:
    """Return the values at places uint32, which are all there."""
    return values.at[places].get(mode="promise_in_bounds")


def children(
    parents: jax.Array,
    totals: jax.Array,
    bins: jax.Array,
    node: jax.Array,
    rows: jax.Array,
    summed: Callable,
    dense: bool,
) -> jax.Array:
    """Return a level's histograms int64[C,256,K]: those of smaller children counted, of larger ones what is left."""
    pairs = (totals & (2**_HESSIAN_BITS - 1)).reshape(-1, 2)
    right = pairs[:, 1] <= pairs[:, 0]  # K/2: whether the right child is the smaller
    parent = node >> 1
    mine = (node & 1).astype(bool) == taken(right, parent)  # N
    if dense:
        smaller = summed(added(bins, jnp.where(mine, parent, jnp.uint32(right.size)), rows, right.size))
    else:
        smaller = summed(gathered(bins, parent, rows, mine, right.size))  # C 256 K/2
    larger = parents - smaller
    both = [jnp.where(right, larger, smaller), jnp.where(right, smaller, larger)]
    return jnp.stack(both, 3).reshape(len(bins), BINS, -1)


def gathered(bins: jax.Array, node: jax.Array, rows: jax.Array, mine: jax.Array, nodes: int) -> jax.Array:
    """Return the histograms int64[C,256,nodes] of the rows that are `mine`: only they are read, in their order."""
    place = lax.associative_scan(jnp.add, mine.astype(jnp.uint32))  # N
    slots = jnp.where(mine, place - 1, jnp.uint32(rows.size))
    order = jnp.arange(rows.size, dtype=jnp.uint32)
    order = jnp.zeros(rows.size + 1, jnp.uint32).at[slots].set(order, mode="promise_in_bounds")  # N+1

    def some(size: int) -> jax.Array:
        here = order[:size]
        real = jnp.arange(size, dtype=jnp.uint32) < place[-1]
        return counted(bins, taken(node, here), jnp.where(real, taken(rows, here), 0), nodes, here)

    sizes = sorted({-(-rows.size * share // _SHARES[-1]) for share in _SHARES})
    which = jnp.sum(place[-1] > jnp.asarray(sizes[:-1], jnp.uint32), dtype=jnp.int32)
    return lax.switch(which, [partial(some, size) for size in sizes])


def counted(bins: jax.Array, node: jax.Array, rows: jax.Array, nodes: int, here: jax.Array | None = None) -> jax.Array:
    """Return histograms int64[C,256,nodes], column by column, so that the sums of one lie in a cache."""

    def of_column(column: jax.Array) -> jax.Array:
        found = column if here is None else taken(column, here)
        places = found.astype(jnp.uint32) * jnp.uint32(nodes) + node
        return jnp.zeros(BINS * nodes, rows.dtype).at[places].add(rows, mode="promise_in_bounds")

    return lax.map(of_column, bins).reshape(-1, BINS, nodes)


def added(bins: jax.Array, node: jax.Array, rows: jax.Array, nodes: int) -> jax.Array:
    """Return histograms int64[C,256,nodes] in one go; rows of a node beyond the last are left out."""
    size = len(bins) * BINS * nodes
    base = (jnp.arange(len(bins), dtype=jnp.uint32) * jnp.uint32(BINS))[:, None]  # C 1
    places = jnp.where(node < nodes, (base + bins) * jnp.uint32(nodes) + node, jnp.uint32(size))  # C N
    sums = jnp.zeros(size, rows.dtype)
    sums = sums.at[places.reshape(-1)].add(jnp.broadcast_to(rows, places.shape).reshape(-1), mode="drop")
    return sums.reshape(-1, BINS, nodes)


def best(
    growth: Growth, histogram: jax.Array, totals: jax.Array, unit: float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the best split of each node: column int32[K], last bin to the left int32[K], packed sum of the left.

    The first column and bin of several equally good ones. A node without a good one has its threshold at the last bin.
    """
    lefts = jnp.cumsum(histogram, 1)  # C 256 K
    gains = gain(growth, lefts, totals, unit)
    threshold = lax.argmax(gains, 1, jnp.int32)  # C K
    left = jnp.take_along_axis(lefts, threshold[:, None], 1)[:, 0]
    return chosen(growth, jnp.max(gains, 1), threshold, left, totals, unit)


def swept(
    growth: Growth, histogram: jax.Array, totals: jax.Array, unit: float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return what `best` does, bin after bin: a CPU keeps all that it needs for that in a cache."""

    def look(bin: jax.Array, seen: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        left, most, threshold, leftmost = seen
        left = left + lax.dynamic_index_in_dim(histogram, bin, 1, keepdims=False)
        here = gain(growth, left, totals, unit)
        better = here > most
        found = jnp.where(better, here, most), jnp.where(better, bin, threshold), jnp.where(better, left, leftmost)
        return left, *found

    shape = (len(histogram), totals.size)
    nothing = jnp.zeros(shape, histogram.dtype)
    start = nothing, jnp.full(shape, -jnp.inf, jnp.float32), jnp.zeros(shape, jnp.int32), nothing
    _, most, threshold, left = lax.fori_loop(jnp.int32(0), jnp.int32(BINS), look, start)
    return chosen(growth, most, threshold, left, totals, unit)


def chosen(
    growth: Growth, most: jax.Array, threshold: jax.Array, left: jax.Array, totals: jax.Array, unit: float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return each node's split among the best ones of the columns [C,K]."""
    column = lax.argmax(most, 0, jnp.int32)  # K
    node = jnp.arange(totals.size, dtype=jnp.int32)
    gained = most[column, node] - score(growth, *fields(totals, unit))
    split = (gained > _LEAST_GAIN) & (gained >= growth.least_gain)
    threshold = jnp.where(split, threshold[column, node], BINS - 1)
    return jnp.where(split, column, 0), threshold, jnp.where(split, left[column, node], totals)


def gain(growth: Growth, lefts: jax.Array, totals: jax.Array, unit: float) -> jax.Array:
    """Return the score of both children [...,K] of splits with these packed sums on the left."""
    left, right = fields(lefts, unit), fields(totals - lefts, unit)
    enough = (left[1] >= growth.least_hessian) & (right[1] >= growth.least_hessian)
    return jnp.where(enough, score(growth, *left) + score(growth, *right), -jnp.inf)


def score(growth: Growth, gradients: jax.Array, hessians: jax.Array) -> jax.Array:
    """Return by how much the objective falls, doubled, when these rows get their best weight."""
    kept = shrunk(growth, gradients)
    return kept * kept / (hessians + jnp.float32(growth.l2))


def shrunk(growth: Growth, gradients: jax.Array) -> jax.Array:
    """Return sums of gradients, nearer to 0 by the L1 penalty."""
    return jnp.sign(gradients) * jnp.maximum(jnp.abs(gradients) - jnp.float32(growth.l1), 0)


def predicted(growth: Growth, forest: Tree, bins: jax.Array) -> jax.Array:
    """Return margins float32[N] of bins uint8[C,N] after all trees of a forest [T,...]."""
    rows = jnp.arange(bins.shape[1])

    def one(margins: jax.Array, tree: Tree) -> tuple[jax.Array, None]:
        node = jnp.zeros(bins.shape[1], jnp.int32)
        for _ in range(growth.depth):
            there = bins[tree.columns[node], rows].astype(jnp.float32)
            node = 2 * node + 1 + (there > tree.thresholds[node])
        return margins + tree.leaves[node - (2**growth.depth - 1)], None

    return lax.scan(one, jnp.full(bins.shape[1], growth.start, jnp.float32), forest)[0]

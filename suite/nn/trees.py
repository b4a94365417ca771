"""Gradient-boosted trees on binned columns, grown level by level from histograms.

Devices share the rows. Each keeps some columns of the summed histograms and searches them for splits.

Source: Chen and Guestrin, XGBoost (2016); the larger child is the parent minus the smaller, as in LightGBM (Ke et al.,
2017).
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from suite.nn import splits
from suite.nn.growth import Growth
from suite.nn.histograms import (
    BINS,
    GRADIENT_BITS,
    HESSIANS,
    LARGEST,
    MOST_ROWS,
    added,
    counted,
    fields,
    gathered,
    packed,
    row_by_row,
    taken,
)


class Tree(NamedTuple):
    """A complete tree of depth D; a node without a split sends every row left."""

    columns: jax.Array  # int32[2^D-1], level by level
    thresholds: jax.Array  # float32[2^D-1]; larger bins go right
    leaves: jax.Array  # float32[2^D], added to a margin


@dataclass(frozen=True)
class Devices:
    """The devices along a mesh axis, or a single one: all hold rows of the table, each owns some columns."""

    axis: str | None
    columns: int  # of the table

    @property
    def number(self) -> int:
        """The number of devices."""
        return 1 if self.axis is None else lax.axis_size(self.axis)

    @property
    def each(self) -> int:
        """The number of columns per device."""
        return -(-self.columns // self.number)

    @property
    def width(self) -> int:
        """The number of columns of all devices; the last ones may lie beyond the table's."""
        return self.each * self.number

    def first(self) -> jax.Array:
        """The first column of this device."""
        return jnp.int32(0) if self.axis is None else lax.axis_index(self.axis) * jnp.int32(self.each)

    def summed(self, x: jax.Array) -> jax.Array:
        """Return the sum over the devices."""
        return x if self.axis is None else lax.psum(x, self.axis)

    def all_gathered(self, x: jax.Array) -> jax.Array:
        """Return every device's array, [D,...]."""
        return x[None] if self.axis is None else lax.all_gather(x, self.axis)

    def own(self, histogram: jax.Array) -> jax.Array:
        """Return this device's columns of the summed histograms [width,...]."""
        if self.axis is None:
            return histogram
        return lax.psum_scatter(histogram, self.axis, scatter_dimension=0, tiled=True)


def check_rows_fit(rows: int) -> None:
    """Raise ValueError if there are more rows than the fields of a histogram can sum."""
    if rows > MOST_ROWS:
        raise ValueError(f"{rows} rows asked for, boosting adds up to {MOST_ROWS}; take fewer")


def boosted(
    growth: Growth, margins: jax.Array, bins: jax.Array, labels: jax.Array, axis: str | None = None, dense: bool = False
) -> tuple[jax.Array, Tree, jax.Array]:
    """Return margins float32[N] after one more tree, the tree, and the weighted mean squared error before it.

    Takes bins uint8[C,N] and labels float32[N]. `axis` names the devices that share the rows; `dense` adds a level's
    rows in one pass, fastest on a GPU. Raises ValueError for more rows than the fields can sum.
    """
    devices = Devices(axis, len(bins))
    rows = labels.shape[0] * devices.number
    check_rows_fit(rows)
    weights = jnp.where(labels > 0, jnp.float32(growth.positive_weight), jnp.float32(1))  # N
    errors = margins - labels  # N
    loss = devices.summed(jnp.sum(weights * errors * errors)) / rows
    with jax.enable_x64(True):
        unit = 2.0 ** (GRADIENT_BITS - (int(rows * LARGEST) - 1).bit_length())
        tree, gained = grown(growth, bins, packed(weights * errors, weights, unit), unit, devices, dense)
    return margins + gained, tree, loss


def grown(
    growth: Growth, bins: jax.Array, rows: jax.Array, unit: float, devices: Devices, dense: bool
) -> tuple[Tree, jax.Array]:
    """Return a tree of packed rows int64[N], and its addition to each row's margin, float32[N].

    During growth the smaller children of a level come before the larger ones, each half in the order of its parents. So
    the rows to count belong to the first half, and the level's histograms are two blocks. `names` maps each node to its
    place in the tree.
    """
    columns, thresholds = [], []
    node = jnp.zeros(rows.shape, jnp.uint32)  # unsigned: no check for negative places
    names = jnp.zeros(1, jnp.int32)
    every = lax.optimization_barrier(jnp.arange(rows.size, dtype=jnp.uint32))  # once; otherwise each use makes its own
    table = row_by_row(bins) if dense else bins
    totals = devices.summed(jnp.sum(rows, keepdims=True))  # 1
    histogram = devices.own((added if dense else counted)(table, node, rows, 1, devices.width))
    for level in range(growth.depth):
        if level:
            histogram = children(histogram, table, node, rows, every, devices, dense)  # own 256 2^level
        column, threshold, left = chosen(growth, histogram, totals, unit, devices, dense)
        right = totals - left
        swapped = (right & HESSIANS) <= (left & HESSIANS)  # whether the right child is the smaller one
        flat = taken(column.astype(jnp.uint32) * jnp.uint32(rows.size), node) + every
        there = taken(bins.reshape(-1), flat).astype(jnp.int32)  # N
        larger = (there > taken(threshold, node)) != taken(swapped, node)
        node = node + larger.astype(jnp.uint32) * jnp.uint32(len(names))
        totals = jnp.concatenate([jnp.where(swapped, right, left), jnp.where(swapped, left, right)])
        columns.append(_placed(column, names))
        thresholds.append(_placed(threshold, names).astype(jnp.float32))
        names = jnp.concatenate([2 * names + side.astype(jnp.int32) for side in (swapped, ~swapped)])
    gradients, hessians = fields(totals, unit)
    leaves = -jnp.float32(growth.rate) * splits.shrunk(growth, gradients) / (hessians + jnp.float32(growth.l2))
    return Tree(jnp.concatenate(columns), jnp.concatenate(thresholds), _placed(leaves, names)), taken(leaves, node)


def _placed(values: jax.Array, names: jax.Array) -> jax.Array:
    """Return values of a level's nodes in the order of the tree."""
    return jnp.zeros_like(values).at[names].set(values, mode="promise_in_bounds", unique_indices=True)


def children(
    parents: jax.Array,
    table: jax.Array,
    node: jax.Array,
    rows: jax.Array,
    every: jax.Array,
    devices: Devices,
    dense: bool,
) -> jax.Array:
    """Return a level's histograms int64[own,256,K]: smaller children counted, larger ones by subtraction.

    The table is uint8[N,C] if dense, else uint8[C,N].
    """
    nodes = parents.shape[2]
    if dense:
        counts = added(table, node, rows, nodes, devices.width)
    else:
        counts = gathered(table, node, rows, every, nodes, devices.width)
    smaller = devices.own(counts)
    return jnp.concatenate([smaller, parents - smaller], 2)


def chosen(
    growth: Growth, histogram: jax.Array, totals: jax.Array, unit: float, devices: Devices, dense: bool
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return each node's split: column int32[K], last left bin int32[K], packed left sum int64[K].

    A node that is not worth a split has its threshold at the last bin.
    """
    own = (splits.best if dense else splits.swept)(growth, histogram, totals, unit)  # K
    both = jnp.stack([splits.shifted(own, devices.first()), splits.lefts(histogram, own)])
    candidates, lefts = jnp.moveaxis(devices.all_gathered(both), 1, 0)  # D K each
    best = jnp.max(candidates, 0)  # K; no two devices own the same column
    left = jnp.sum(jnp.where(candidates == best[None], lefts, 0), 0)
    gains, column, threshold = splits.opened(best)
    split = splits.worth(growth, gains, totals, unit)
    return jnp.where(split, column, 0), jnp.where(split, threshold, BINS - 1), jnp.where(split, left, totals)


def predicted(growth: Growth, forest: Tree, bins: jax.Array) -> jax.Array:
    """Return margins float32[N] of bins uint8[C,N] after all trees of a forest [T,...]."""
    rows = jnp.arange(bins.shape[1])

    def one(margins: jax.Array, tree: Tree) -> tuple[jax.Array, None]:
        node = jnp.zeros(bins.shape[1], jnp.int32)
        for _ in range(growth.depth):
            there = bins[tree.columns[node], rows].astype(tree.thresholds.dtype)
            node = 2 * node + 1 + (there > tree.thresholds[node]).astype(node.dtype)
        return margins + tree.leaves[node - (2**growth.depth - 1)], None

    return lax.scan(one, jnp.full(bins.shape[1], growth.start, jnp.float32), forest)[0]

"""Whether two times differ by more than hosts of their kind and processes do."""

import math

from suite.results.stats.pooling import moments
from suite.results.stats.statistics import t_quantile
from suite.results.stats.variance_components import Cell, Components

_CALLED = 3.0  # standard errors beyond which a difference is called a change


def changed(new: Cell, old: Cell, among: Components) -> bool | None:
    """Return whether two cells of a kind of machine, measured on different hosts, differ significantly.

    Each may be one campaign or a pool; if both are one campaign, tau counts twice. None if nothing tells how much hosts
    differ. Raises ValueError as `pooled` does.
    """
    least = smallest_change(new, old, among)
    return None if least is None else abs(moments(new, among)[0] - moments(old, among)[0]) > math.log(least)


def smallest_change(new: Cell, old: Cell, among: Components, olds: Components | None = None) -> float | None:
    """Return the smallest ratio of two times that is called a change: three standard errors, or the 95 % interval's
    if that is wider, as with few degrees of freedom.

    `olds` are the components of the old cell if it is of another kind. None if they tell nothing of how hosts differ.
    """
    (_, ours, _, known), (_, theirs, _, other) = moments(new, among), moments(old, olds or among)
    degrees = min(known, other)
    return math.exp(max(_CALLED, t_quantile(degrees)) * math.sqrt(ours + theirs)) if degrees else None

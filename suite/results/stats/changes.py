"""Changes: whether two times differ by more than hosts of their kind and processes do."""

import math

from suite.results.stats.pooling import moments
from suite.results.stats.statistics import t_quantile
from suite.results.stats.variance_components import Cell, Components

_CALLED = 3.0  # standard errors beyond which a difference is called a change


def changed(new: Cell, old: Cell, among: Components) -> bool | None:
    """Return whether two of a kind of machine, measured on different hosts, differ by more than hosts and processes do.

    `new` may be one campaign and `old` a pool, or both one campaign: then tau counts twice. None if nothing says how
    much hosts differ. Raises ValueError as `pooled` does.
    """
    least = smallest_change(new, old, among)
    return None if least is None else abs(moments(new, among)[0] - moments(old, among)[0]) > math.log(least)


def smallest_change(new: Cell, old: Cell, among: Components, olds: Components | None = None) -> float | None:
    """Return the ratio of two times above which it is called a change: that of three standard errors.

    `olds` are the components of the old one, if it is of another kind. Where few degrees of freedom say what an error
    is, it is that of a 95 % interval if this is more.
    """
    (_, ours, _, known), (_, theirs, _, other) = moments(new, among), moments(old, olds or among)
    degrees = min(known, other)
    return math.exp(max(_CALLED, t_quantile(degrees)) * math.sqrt(ours + theirs)) if degrees else None

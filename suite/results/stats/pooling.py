"""Pool times of several hosts into a value of their kind of machine, and tell whether two pools differ.

Source of the weights: DerSimonian and Laird, Meta-analysis in clinical trials (1986).
"""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from msgspec.structs import replace

from suite.results.stats.statistics import Estimate, t_quantile
from suite.results.stats.variance_components import Cell, Components, logarithms, of_cell
from suite.results.stats.variances import SMALLEST
from suite.workload import Plain

FEWEST_DEGREES = 1.5  # of freedom of an interval; with one, as from two hosts far apart, t is 12.7
_CALLED = 3.0  # standard errors beyond which a difference is called a change
VERSION = 2  # of the estimator; raised if it returns another number for equal values
_Moments = tuple[float, float, float, float]  # as `moments` returns them
Side = tuple[Cell, Components]


class Pooled(Plain, frozen=True, kw_only=True):
    """Mean over the hosts of a kind of machine, with its interval and the range of a further campaign."""

    value: float
    low: float | None = None  # 95 % interval of the kind of machine; None if too little is known of how hosts differ
    high: float | None = None
    range_low: float | None = None  # 95 % range of a further campaign of one round on a further host
    range_high: float | None = None
    hosts: int
    processes: int
    outdated: bool = False  # by a method of timing that is no longer used

    @property
    def estimate(self) -> Estimate:
        """The value with its interval, without the range."""
        return Estimate(value=self.value, low=self.low, high=self.high, processes=self.processes)

    def per(self, quantity: float) -> "Pooled":
        """Return a quantity over this value, with interval and range inverted: a rate from a time."""
        ends = (self.high, self.low, self.range_high, self.range_low)
        low, high, range_low, range_high = (None if end is None else quantity / end for end in ends)
        value = quantity / self.value
        return replace(self, value=value, low=low, high=high, range_low=range_low, range_high=range_high)

    def times(self, other: "Pooled") -> "Pooled":
        """Return the product with an independent value; hosts and processes are those of the one with fewer.

        Half-widths of logarithms add as squares. Source: Zou and Donner, Construction of confidence limits about effect
        measures (2008).
        """
        value = self.value * other.value
        near, far = _half_width(self, other, "low"), _half_width(self, other, "range_low")
        ends = {} if near is None else {"low": value / near, "high": value * near}
        ends |= {} if far is None else {"range_low": value / far, "range_high": value * far}
        hosts, processes = min(self.hosts, other.hosts), min(self.processes, other.processes)
        outdated = self.outdated or other.outdated
        return Pooled(value=value, **ends, hosts=hosts, processes=processes, outdated=outdated)


def _half_width(one: Pooled, other: Pooled, end: Literal["low", "range_low"]) -> float | None:
    """Return the factor from the product of two values to its ends; None if one of them has none."""
    ends = [(each.value, getattr(each, end)) for each in (one, other)]
    if any(low is None for _, low in ends):
        return None
    return math.exp(math.hypot(*(math.log(value / low) for value, low in ends)))


def pooled(cell: Cell, among: Components) -> Pooled:
    """Return the mean over the hosts of a cell, with its interval and the range of a further campaign.

    If its hosts differ far more than those of other cells, its own spread is used. Raises ValueError for a cell without
    a value, or with one that is not positive.
    """
    return _estimate([cell], [moments(cell, among)])


def ratio(numerator: Side, denominator: Side) -> Pooled:
    """Return one cell's value over another's, for cells that were not measured side by side.

    Degrees of freedom combine both. Source: Satterthwaite (1946). Raises ValueError as `pooled` does.
    """
    sides = numerator, denominator
    return _estimate([cell for cell, _ in sides], [moments(*side) for side in sides])


def mean_ratio(pairs: Sequence[tuple[Side, Side]]) -> Pooled:
    """Return the geometric mean of the ratios of pairs, for sides of different machines.

    A slow host is slow in most cells, so the errors of one side's cells count as wholly correlated: the interval is
    rather too wide. Those of the two sides are independent. Raises ValueError without a pair, and as `pooled` does.
    """
    if not pairs:
        raise ValueError("a mean of ratios needs at least one pair")
    sides = [[moments(*pair[place]) for pair in pairs] for place in (0, 1)]
    return _estimate([cell for pair in pairs for cell, _ in pair], [_together(side) for side in sides])


def _together(side: Sequence[_Moments]) -> _Moments:
    """Return the moments of the mean of cells whose errors are wholly correlated."""
    means, errors, furthers, degrees = zip(*side, strict=True)
    error, further = (fmean(map(math.sqrt, variances)) ** 2 for variances in (errors, furthers))
    return fmean(means), error, further, min(degrees)


def _estimate(cells: Sequence[Cell], sides: Sequence[_Moments]) -> Pooled:
    """Return the first side's value, over the second's if there is one; hosts are those of the smaller side."""
    centre = sides[0][0] - sum(mean for mean, *_ in sides[1:])
    hosts, processes = min(map(len, cells)), min(sum(map(len, cell)) for cell in cells)
    parts = [(error2, degrees) for _, error2, _, degrees in sides]
    if not all(degrees for _, degrees in parts) or freedom(parts) < FEWEST_DEGREES:
        return Pooled(value=math.exp(centre), hosts=hosts, processes=processes)
    near = reach(parts)
    far = reach([(error2 + further2, degrees) for _, error2, further2, degrees in sides])
    return Pooled(
        value=math.exp(centre),
        low=math.exp(centre - near),
        high=math.exp(centre + near),
        range_low=math.exp(centre - far),
        range_high=math.exp(centre + far),
        hosts=hosts,
        processes=processes,
    )


def moments(cell: Cell, among: Components) -> _Moments:
    """Return mean, its variance, variance of a further round about mu, and degrees of freedom, of a cell's logarithms.

    Raises ValueError as `pooled` does.
    """
    logs = logarithms(cell)
    if not logs:
        raise ValueError("a pool needs at least one host with a value")
    among = of_cell(logs, among)
    weights = [1 / max(among.tau2 + among.sigma2 / len(host), SMALLEST) for host in logs]
    total = sum(weights)
    centre = sum(weight * fmean(host) for weight, host in zip(weights, logs, strict=True)) / total
    return centre, 1 / total, among.tau2 + among.sigma2, among.degrees


def reach(parts: Sequence[tuple[float, float]]) -> float:
    """Return the half-width of a sum of independent parts, given their variances and degrees of freedom."""
    return t_quantile(freedom(parts)) * math.sqrt(sum(variance for variance, _ in parts))


def freedom(parts: Sequence[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a sum of variances, given theirs. Source: Satterthwaite (1946)."""
    total = sum(variance for variance, _ in parts)
    shares = sum(variance**2 / degrees for variance, degrees in parts)
    return total**2 / shares


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

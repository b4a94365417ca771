"""Variance between hosts of one kind of machine and between processes of one host, pooled over cells.

    log(time) = mu + host effect + process effect

A *cell* holds the values of one side: a sequence per host, one value per process. Host effects have variance tau^2,
process effects sigma^2. Both are pooled over the cells of one kind of machine, since a cell of two hosts tells almost
nothing of tau. A wild cell widens only its own interval. A kind with few hosts borrows from similar kinds.

Source of the levels: Kalibera and Jones, Rigorous benchmarking in reasonable time (2013).
"""

import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from suite.results.stats.variances import EFFICIENCY, HEAVIEST, Spread, agreed, calm, root, spread
from suite.workload import Plain

Cell = Sequence[Sequence[float]]  # positive values by host, one per process
_FEWEST = 3.0  # degrees of freedom below which a kind borrows from others
_DEGREES = 1e-2, 1e6  # fewest and most degrees of freedom
_BOTH = operator.attrgetter("tau2"), operator.attrgetter("sigma2")


class Components(Plain, frozen=True, kw_only=True):
    """Variances of logarithms between hosts of one kind and between processes of one host."""

    tau2: float
    sigma2: float
    degrees: float  # of freedom of both together; 0 if too little is known of how hosts differ
    cells: int  # with two hosts or more

    @property
    def total(self) -> float:
        """The variance of one process on a host of this kind."""
        return self.tau2 + self.sigma2

    @property
    def enough(self) -> bool:
        """Whether it needs no other kind's components."""
        return self.degrees >= _FEWEST

    @property
    def tau(self) -> float:
        """The standard deviation between hosts, as a logarithm: 0.08 is about 8 %."""
        return math.sqrt(self.tau2)

    @property
    def sigma(self) -> float:
        """The standard deviation between processes of one host, as a logarithm."""
        return math.sqrt(self.sigma2)


def components(cells: Sequence[Cell], hosts: Sequence[Sequence[Hashable]] = ()) -> Components:
    """Return the variance components pooled over cells.

    `hosts` names each cell's hosts in their order; by default no two cells share a host. A slow host is slow in most
    cells, so cells that share hosts count for fewer degrees of freedom.

    Raises ValueError for a value that is not positive.
    """
    logs = [logarithms(cell) for cell in cells]
    within = [spread(host) for cell in logs for host in cell if len(host) > 1]
    sigma2 = agreed(within)
    several = [_between(cell, sigma2) for cell in logs if len(cell) > 1]
    between = calm(several)
    tau2 = agreed(between)
    if sigma2 and not tau2:
        # If hosts differ no more than processes, both estimate sigma2. Source: Thompson, The problem of negative
        # estimates of variance components (1962).
        sigma2 = agreed([*within, *(each.times(sigma2 / each.noise) for each in between)])
    degrees = EFFICIENCY * sum(each.weight for each in between)
    if hosts:
        names = dict(zip(several, (each for each in hosts if len(each) > 1), strict=True))
        means = [dict(zip(names[each], each.values, strict=True)) for each in between]
        degrees /= 1 + _agreement(means) / max(degrees, 1)
    return Components(tau2=tau2, sigma2=sigma2, degrees=degrees, cells=len(several))


def wild(cell: Cell, among: Components) -> bool:
    """Return whether the hosts of a cell differ far more than those of other cells."""
    logs = logarithms(cell)
    return of_cell(logs, among) is not among


def of_cell(logs: Sequence[Sequence[float]], among: Components) -> Components:
    """Return a cell's components: the pooled ones, or its own if these cannot explain how its hosts differ."""
    if len(logs) < 2 or not among.degrees:
        return among
    between = _between(logs, among.sigma2)
    # The pooled spread is itself uncertain; ignoring that would call one cell in a few hundred wild.
    if not between.wild(among.tau2):
        return among
    tau2 = max(between.variance - between.noise, 0.0)
    return Components(tau2=tau2, sigma2=among.sigma2, degrees=float(between.degrees), cells=1)


def logarithms(cell: Cell) -> list[list[float]]:
    """Return the logarithms of a cell's values by host. Raises ValueError unless all are positive and finite."""
    for host in cell:
        if not host or min(host) <= 0 or not all(map(math.isfinite, host)):
            raise ValueError(f"a pool needs positive finite values of each host, got {list(host)}")
    return [[math.log(value) for value in host] for host in cell]


def _between(logs: Sequence[Sequence[float]], sigma2: float) -> Spread:
    """Return the spread of a cell's host means."""
    return spread(tuple(map(fmean, logs)), sigma2 * fmean(1 / len(host) for host in logs))


def _agreement(cells: Sequence[Mapping[Hashable, float]]) -> float:
    """Return the degrees of freedom that cells share: those of common hosts, if these agree in speed.

    If the host means of two cells correlate by r, their spreads correlate by r^2.
    """
    products = scale = shared = 0.0
    for one, other in combinations(cells, 2):
        names = [name for name in one if name in other]
        if len(names) < 2:
            continue
        ours, theirs = ([cell[name] - fmean(map(cell.__getitem__, names)) for name in names] for cell in (one, other))
        products += sum(map(operator.mul, ours, theirs))
        scale += math.hypot(*ours) * math.hypot(*theirs)
        shared += 2 * EFFICIENCY * min(len(names) - 1, HEAVIEST)
    return max(products / scale, 0.0) ** 2 * shared if scale else 0.0


def unlikeness(groups: Iterable[Iterable[Components]]) -> float:
    """Return how much kinds of machine differ: the variance of the log of their hosts' variance, beyond chance.

    Only kinds in one group are compared. 0 if no group has two kinds.

    Source: DerSimonian and Laird (1986).
    """
    beyond = scale = 0.0
    for group in groups:
        logs = _log_variances(group)
        weights = [1 / chance for _, chance in logs]
        if len(logs) > 1:
            centre = _mean(logs, weights)
            beyond += sum(weight * (log - centre) ** 2 for weight, (log, _) in zip(weights, logs, strict=True))
            beyond -= len(logs) - 1
            scale += sum(weights) - sum(weight**2 for weight in weights) / sum(weights)
    return max(beyond / scale, 0.0) if scale else 0.0


def borrowed(own: Components, others: Iterable[Components], between: float) -> Components:
    """Return the components of a kind with too few hosts: its own and other kinds', weighted by degrees of freedom.

    `between` is the unlikeness of kinds: the larger it is, the fewer degrees of freedom the others count for.

    Source: Smyth, Linear models and empirical Bayes methods for assessing differential expression (2004).
    """
    from scipy.special import psi

    if own.enough:
        return own
    others = list(others)
    logs = _log_variances(others)
    if not logs:
        return own
    weights = [1 / (between + chance) for _, chance in logs]
    degrees = _degrees(between + 1 / sum(weights))
    variance = math.exp(_mean(logs, weights) + float(psi(degrees / 2)) - math.log(degrees / 2))
    scale = variance / sum(kind.degrees * kind.total for kind in others)
    tau2, sigma2 = (scale * sum(kind.degrees * each(kind) for kind in others) for each in _BOTH)
    total = own.degrees + degrees
    return Components(
        tau2=(own.degrees * own.tau2 + degrees * tau2) / total,
        sigma2=(own.degrees * own.sigma2 + degrees * sigma2) / total,
        degrees=total,
        cells=own.cells,
    )


def _log_variances(kinds: Iterable[Components]) -> list[tuple[float, float]]:
    """Return for each kind with degrees of freedom the log of its hosts' variance, and that log's sampling variance.

    The log is corrected for its bias at few degrees of freedom.
    """
    from scipy.special import psi, zeta

    halves = [(kind.total, kind.degrees / 2) for kind in kinds if kind.degrees and kind.total]
    return [(math.log(total) + math.log(half) - float(psi(half)), float(zeta(2, half))) for total, half in halves]


def _mean(logs: Sequence[tuple[float, float]], weights: Sequence[float]) -> float:
    return sum(weight * log for weight, (log, _) in zip(weights, logs, strict=True)) / sum(weights)


def _degrees(variance: float) -> float:
    """Return the degrees of freedom for which the log of a sample variance has this variance."""
    from scipy.special import zeta

    return root(lambda degrees: float(zeta(2, degrees / 2)) - variance, *_DEGREES)

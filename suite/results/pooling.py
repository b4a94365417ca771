"""From the times on several hosts to the time on the next machine of their kind: a random-effects model of logarithms.

    log(time) = mu + host effect + process effect

A *cell* is all that is known of one side: the values of each host, one a process. Host effects have variance tau^2,
process effects sigma^2. Both are pooled over the cells of one kind of machine, since a cell of two hosts tells almost
nothing of tau. No cell counts for more than normal noise would let it: a wild cell widens no other, it widens itself.

Source: Kalibera and Jones, Rigorous benchmarking in reasonable time (2013), for the levels; DerSimonian and Laird,
Meta-analysis in clinical trials (1986), for the weights.
"""

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import fmean

from suite.results.statistics import Estimate, t_quantile
from suite.workload import Plain

VERSION = 2  # of the estimator; raised when it gives another number for the same values
Cell = Sequence[Sequence[float]]  # positive values by host, one a process

_Moments = tuple[float, float, float, float]  # as `moments` returns them
_HEAVIEST = 4  # degrees of freedom that one cell counts for among others
_CUT = 0.05  # chance with which normal noise exceeds what one cell may count for
_EFFICIENCY = 0.8  # degrees of freedom that the cut leaves of those that went in
_WILD = 1e-3  # chance of a cell's own spread of hosts, below which the cell is judged by that spread
_FEWEST = 3.0  # degrees of freedom, below which a kind borrows of others
_CALLED = 3.0  # standard errors beyond which a difference is called a change
_TINY, _LARGEST = 1e-12, 100.0  # variances of logarithms
_DEGREES = 1e-2, 1e6  # fewest and most degrees of freedom


class Components(Plain, frozen=True, kw_only=True):
    """How much hosts of one kind differ, and processes of one host: variances of logarithms."""

    tau2: float
    sigma2: float
    degrees: float  # of freedom, of the two together; 0: nothing says how much hosts differ
    cells: int  # that have two hosts or more

    @property
    def total(self) -> float:
        """The variance of one process on a host of this kind."""
        return self.tau2 + self.sigma2

    @property
    def enough(self) -> bool:
        """Whether it needs no other kind to say how much hosts differ."""
        return self.degrees >= _FEWEST

    @property
    def tau(self) -> float:
        """The standard deviation between hosts, as a logarithm: 0.08 is about 8 %."""
        return math.sqrt(self.tau2)

    @property
    def sigma(self) -> float:
        """The standard deviation between processes of one host, as a logarithm."""
        return math.sqrt(self.sigma2)


class Pooled(Plain, frozen=True, kw_only=True):
    """What a kind of machine takes: the mean over its hosts, and where a further campaign will come out."""

    value: float
    low: float | None = None  # 95 % interval of the kind of machine; None: nothing says how much hosts differ
    high: float | None = None
    range_low: float | None = None  # 95 % range of a further campaign of one round on a further host
    range_high: float | None = None
    hosts: int
    processes: int

    @property
    def estimate(self) -> Estimate:
        """The value with its interval alone."""
        return Estimate(value=self.value, low=self.low, high=self.high, processes=self.processes)

    def per(self, quantity: float) -> "Pooled":
        """Return a quantity over this value, interval and range turned round: a rate from a time."""
        ends = (self.high, self.low, self.range_high, self.range_low)
        low, high, range_low, range_high = (None if end is None else quantity / end for end in ends)
        return Pooled(
            value=quantity / self.value,
            low=low,
            high=high,
            range_low=range_low,
            range_high=range_high,
            hosts=self.hosts,
            processes=self.processes,
        )


def components(cells: Sequence[Cell], hosts: Sequence[Sequence[Hashable]] = ()) -> Components:
    """Return how much hosts and processes differ, pooled over cells.

    `hosts` names each cell's hosts in their order; without them no two cells share a host. A slow host is slow in most
    cells: those that share hosts tell less of tau than as many cells of other hosts, and count for fewer degrees.

    Raises ValueError for a value that is not positive.
    """
    logs = [_logs(cell) for cell in cells]
    within = [_spread(host) for cell in logs for host in cell if len(host) > 1]
    sigma2 = _solved(within)
    several = [_between(cell, sigma2) for cell in logs if len(cell) > 1]
    between = _calm(several)
    tau2 = _solved(between)
    if sigma2 and not tau2:
        # Where hosts differ no more than processes, both say how much processes do. Source: Thompson, The problem of
        # negative estimates of variance components (1962).
        sigma2 = _solved([*within, *(each.times(sigma2 / each.noise) for each in between)])
    degrees = _EFFICIENCY * sum(each.weight for each in between)
    if hosts:
        names = dict(zip(several, (each for each in hosts if len(each) > 1), strict=True))
        means = [dict(zip(names[each], each.values, strict=True)) for each in between]
        degrees /= 1 + _agreement(means) / max(degrees, 1)
    return Components(tau2=tau2, sigma2=sigma2, degrees=degrees, cells=len(several))


def unlikeness(groups: Iterable[Iterable[Components]]) -> float:
    """Return how much kinds of machine differ: the variance of the logarithm of their hosts' variance, beyond chance.

    Only kinds of one group are compared. 0 where no group has two: a kind that stands alone is taken for all.

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
    """Return the components of a kind with too few hosts: what they say and what other kinds do, each by its degrees.

    `between` is the unlikeness of kinds: the more they differ, the fewer degrees of freedom the others count for.

    Source: Smyth, Linear models and empirical Bayes methods for assessing differential expression (2004).
    """
    from scipy.special import psi

    others = list(others)
    logs = _log_variances(others)
    if own.enough or not logs:
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


_BOTH = operator.attrgetter("tau2"), operator.attrgetter("sigma2")


def _log_variances(kinds: Iterable[Components]) -> list[tuple[float, float]]:
    """Return for each kind that says it the logarithm of its hosts' variance, and the variance that chance gives it.

    Few degrees of freedom make the logarithm too small, which is made good.
    """
    from scipy.special import psi, zeta

    halves = [(kind.total, kind.degrees / 2) for kind in kinds if kind.degrees and kind.total]
    return [(math.log(total) + math.log(half) - float(psi(half)), float(zeta(2, half))) for total, half in halves]


def _mean(logs: Sequence[tuple[float, float]], weights: Sequence[float]) -> float:
    return sum(weight * log for weight, (log, _) in zip(weights, logs, strict=True)) / sum(weights)


def _degrees(variance: float) -> float:
    """Return the degrees of freedom with which chance gives the logarithm of a variance this variance."""
    from scipy.special import zeta

    return _root(lambda degrees: float(zeta(2, degrees / 2)) - variance, *_DEGREES)


def pooled(cell: Cell, among: Components) -> Pooled:
    """Return the mean over the hosts of a cell, with its interval and the range of a further campaign.

    Hosts that differ far more than those of other cells are judged by their own spread. Raises ValueError for a cell
    without a value, or with one that is not positive.
    """
    return _estimate([cell], [moments(cell, among)])


def ratio(numerator: tuple[Cell, Components], denominator: tuple[Cell, Components]) -> Pooled:
    """Return one kind's value over another's, of two sides that were not measured at the same moment.

    Its degrees of freedom come from both. Source: Satterthwaite (1946). Raises ValueError as `pooled` does.
    """
    sides = numerator, denominator
    return _estimate([cell for cell, _ in sides], [moments(*side) for side in sides])


def _estimate(cells: Sequence[Cell], sides: Sequence[_Moments]) -> Pooled:
    """Return the first side's value, over the second's if there is one; hosts are those of the side that has fewer."""
    centre = sides[0][0] - sum(mean for mean, *_ in sides[1:])
    hosts, processes = min(map(len, cells)), min(sum(map(len, cell)) for cell in cells)
    if not all(degrees for *_, degrees in sides):
        return Pooled(value=math.exp(centre), hosts=hosts, processes=processes)
    near = reach([(error2, degrees) for _, error2, _, degrees in sides])
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
    (_, mine, _, known), (_, theirs, _, other) = moments(new, among), moments(old, olds or among)
    degrees = min(known, other)
    return math.exp(max(_CALLED, t_quantile(degrees)) * math.sqrt(mine + theirs)) if degrees else None


def moments(cell: Cell, among: Components) -> _Moments:
    """Return the mean of a cell's logarithms, its variance, that of a further round about mu, degrees of freedom."""
    logs = _logs(cell)
    if not logs:
        raise ValueError("a pool needs a value of one host at least")
    among = _own(logs, among)
    weights = [1 / max(among.tau2 + among.sigma2 / len(host), _TINY) for host in logs]
    total = sum(weights)
    centre = sum(weight * fmean(host) for weight, host in zip(weights, logs, strict=True)) / total
    return centre, 1 / total, among.tau2 + among.sigma2, among.degrees


def wild(cell: Cell, among: Components) -> bool:
    """Return whether the hosts of a cell differ far more than those of other cells."""
    logs = _logs(cell)
    return _own(logs, among) is not among


def _own(logs: Sequence[Sequence[float]], among: Components) -> Components:
    """Return the components that hold for a cell: the pooled ones, or its own where these cannot explain its hosts."""
    if len(logs) < 2 or not among.degrees:
        return among
    found = _between(logs, among.sigma2)
    # The pooled spread is itself uncertain; a chi-square that ignores that would call one cell in a few hundred wild.
    if not found.wild(among.tau2):
        return among
    tau2 = max(found.variance - found.noise, 0.0)
    return Components(tau2=tau2, sigma2=among.sigma2, degrees=float(found.degrees), cells=1)


def _logs(cell: Cell) -> list[list[float]]:
    for host in cell:
        if not host or min(host) <= 0 or not all(map(math.isfinite, host)):
            raise ValueError(f"a pool needs positive finite values of each host, got {list(host)}")
    return [[math.log(value) for value in host] for host in cell]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Spread:
    """How far values are apart, and the noise that is known to be in their variance."""

    values: Sequence[float]
    variance: float
    noise: float

    @property
    def degrees(self) -> int:
        return len(self.values) - 1

    @property
    def weight(self) -> int:
        """The degrees of freedom for which it counts among others."""
        return min(self.degrees, _HEAVIEST)

    def times(self, factor: float) -> "_Spread":
        """Return it with a variance that is by this factor larger, of which no noise is known."""
        return _Spread(values=self.values, variance=factor * self.variance, noise=0.0)

    def over(self, expected: float) -> float:
        """Return its variance over that which is expected beside the noise."""
        return self.variance / max(expected + self.noise, _TINY)

    def wild(self, expected: float) -> bool:
        """Return whether normal noise of the variance expected cannot explain it."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.degrees * self.over(expected))) <= _WILD


def _spread(values: Sequence[float], noise: float = 0.0) -> _Spread:
    centre = fmean(values)  # statistics.variance is exact, and takes ten times as long
    squares = sum((value - centre) ** 2 for value in values)
    return _Spread(values=values, variance=squares / (len(values) - 1), noise=noise)


def _between(logs: Sequence[Sequence[float]], sigma2: float) -> _Spread:
    """Return how far the means of a cell's hosts are apart."""
    return _spread(tuple(map(fmean, logs)), sigma2 * fmean(1 / len(host) for host in logs))


def _calm(found: Sequence[_Spread]) -> list[_Spread]:
    """Return those that are not wild beside the others: a cell that is judged by itself says nothing of them."""
    expected = _solved(found)
    return [each for each in found if not each.wild(expected)]


def _solved(found: Sequence[_Spread]) -> float:
    """Return the variance that these agree on beside their noise; 0 if there are none, or none is needed.

    One far above its expectation counts as if it were at the cut, which normal noise exceeds in 5 of 100 cases.

    Source: Huber, Robust estimation of a location parameter (1964), for the cut.
    """
    weighed = [(each, each.weight, _cut(each.degrees)) for each in found]
    usual = sum(weight * _usual(each.degrees) for each, weight, _ in weighed)

    def excess(value: float) -> float:
        return sum(weight * min(each.over(value), cut) for each, weight, cut in weighed) - usual

    return _root(excess, _TINY, _LARGEST) if found and excess(_TINY) > 0 else 0.0


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0, between these."""
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return math.sqrt(low * high)


@cache
def _cut(degrees: int) -> float:
    """Return what a sample variance of normal noise over its expectation exceeds in 5 of 100 cases."""
    from scipy.special import chdtri

    return float(chdtri(degrees, _CUT)) / degrees


@cache
def _usual(degrees: int) -> float:
    """Return what a sample variance of normal noise over its expectation is on average, if cut."""
    from scipy.special import chdtr

    cut = _cut(degrees)
    return float(chdtr(degrees + 2, cut * degrees)) + cut * _CUT


def _agreement(cells: Sequence[Mapping[Hashable, float]]) -> float:
    """Return the degrees of freedom that cells have in common: those of shared hosts, where these agree in speed.

    Of two cells whose hosts' means correlate by r, the spreads correlate by r^2.
    """
    products = scale = shared = 0.0
    for one, other in combinations(cells, 2):
        names = [name for name in one if name in other]
        if len(names) < 2:
            continue
        mine, theirs = ([cell[name] - fmean(map(cell.__getitem__, names)) for name in names] for cell in (one, other))
        products += sum(map(operator.mul, mine, theirs))
        scale += math.hypot(*mine) * math.hypot(*theirs)
        shared += 2 * _EFFICIENCY * min(len(names) - 1, _HEAVIEST)
    return max(products / scale, 0.0) ** 2 * shared if scale else 0.0


def reach(parts: Sequence[tuple[float, float]]) -> float:
    """Return the half-width of a sum whose variances have these degrees of freedom."""
    total = sum(variance for variance, _ in parts)
    shares = sum(variance**2 / degrees for variance, degrees in parts)
    return t_quantile(total**2 / shares) * math.sqrt(total)

"""From the times on several hosts to the time on the next machine of their kind: a random-effects model of logarithms.

    log(time) = mu + host effect + process effect

A *cell* is all that is known of one side: the values of each host, one a process. Host effects have variance tau^2,
process effects sigma^2. Both are pooled over the cells of one kind of machine, since a cell of two hosts tells almost
nothing of tau. No cell counts for more than normal noise would let it: a wild cell widens no other, it widens itself.

Source: Kalibera and Jones, Rigorous benchmarking in reasonable time (2013), for the levels; DerSimonian and Laird,
Meta-analysis in clinical trials (1986), for the weights.
"""

import math
from collections.abc import Callable, Sequence
from statistics import fmean, variance

from suite.results.statistics import Estimate, t_quantile
from suite.workload import Plain

VERSION = 1  # of the estimator; raised when it gives another number for the same values
Cell = Sequence[Sequence[float]]  # positive values by host, one a process

_HEAVIEST = 4  # degrees of freedom that one cell counts for among others
_CUT = 0.05  # chance with which normal noise exceeds what one cell may count for
_EFFICIENCY = 0.8  # degrees of freedom that the cut leaves of those that went in
_WILD = 1e-3  # chance of a cell's own spread of hosts, below which the cell is judged by that spread
_TINY, _LARGEST = 1e-12, 100.0  # variances of logarithms


class Components(Plain, frozen=True, kw_only=True):
    """How much hosts of one kind differ, and processes of one host: variances of logarithms."""

    tau2: float
    sigma2: float
    degrees: float  # of freedom, of the two together; 0: no cell has two hosts
    cells: int  # that have two hosts or more

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


def components(cells: Sequence[Cell]) -> Components:
    """Return how much hosts and processes differ, pooled over cells.

    Raises ValueError for a value that is not positive.
    """
    logs = [_logs(cell) for cell in cells]
    within = [(variance(host), len(host) - 1) for cell in logs for host in cell if len(host) > 1]
    sigma2 = _solved(within, lambda value: [value] * len(within))
    between = [(variance([fmean(host) for host in cell]), len(cell) - 1) for cell in logs if len(cell) > 1]
    noise = [sigma2 * fmean(1 / len(host) for host in cell) for cell in logs if len(cell) > 1]
    tau2 = _solved(between, lambda value: [value + each for each in noise])
    counted = sum(min(degrees, _HEAVIEST) for _, degrees in between)
    return Components(tau2=tau2, sigma2=sigma2, degrees=_EFFICIENCY * counted, cells=len(between))


def pooled(cell: Cell, among: Components) -> Pooled:
    """Return the mean over the hosts of a cell, with its interval and the range of a further campaign.

    Hosts that differ far more than those of other cells are judged by their own spread. Raises ValueError for a cell
    without a value, or with one that is not positive.
    """
    centre, error2, further2, degrees = moments(cell, among)
    hosts, processes = len(cell), sum(map(len, cell))
    if not degrees:
        return Pooled(value=math.exp(centre), hosts=hosts, processes=processes)
    reach = t_quantile(degrees)
    near, far = reach * math.sqrt(error2), reach * math.sqrt(error2 + further2)
    return Pooled(
        value=math.exp(centre),
        low=math.exp(centre - near),
        high=math.exp(centre + near),
        range_low=math.exp(centre - far),
        range_high=math.exp(centre + far),
        hosts=hosts,
        processes=processes,
    )


def ratio(numerator: tuple[Cell, Components], denominator: tuple[Cell, Components]) -> Pooled:
    """Return one kind's value over another's, of two sides that were not measured at the same moment.

    Its degrees of freedom come from both. Source: Satterthwaite (1946). Raises ValueError as `pooled` does.
    """
    sides = [moments(*side) for side in (numerator, denominator)]
    cells = [side[0] for side in (numerator, denominator)]
    centre = sides[0][0] - sides[1][0]
    hosts, processes = (min(map(len, cells)), min(sum(map(len, cell)) for cell in cells))
    if not all(degrees for *_, degrees in sides):
        return Pooled(value=math.exp(centre), hosts=hosts, processes=processes)
    near = _reach([(error2, degrees) for _, error2, _, degrees in sides])
    far = _reach([(error2 + further2, degrees) for _, error2, further2, degrees in sides])
    return Pooled(
        value=math.exp(centre),
        low=math.exp(centre - near),
        high=math.exp(centre + near),
        range_low=math.exp(centre - far),
        range_high=math.exp(centre + far),
        hosts=hosts,
        processes=processes,
    )


def moments(cell: Cell, among: Components) -> tuple[float, float, float, float]:
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
    from scipy.special import chdtrc

    degrees = len(logs) - 1
    if degrees < 1 or not among.degrees:
        return among
    spread = variance([fmean(host) for host in logs])
    noise = among.sigma2 * fmean(1 / len(host) for host in logs)
    expected = max(among.tau2 + noise, _TINY)
    # The pooled spread is itself uncertain; a chi-square that ignores that would call one cell in a few hundred wild.
    if float(chdtrc(degrees, degrees * spread / expected)) > _WILD:
        return among
    return Components(tau2=max(spread - noise, 0.0), sigma2=among.sigma2, degrees=float(degrees), cells=1)


def _logs(cell: Cell) -> list[list[float]]:
    for host in cell:
        if not host or min(host) <= 0 or not all(map(math.isfinite, host)):
            raise ValueError(f"a pool needs positive finite values of each host, got {list(host)}")
    return [[math.log(value) for value in host] for host in cell]


def _solved(found: Sequence[tuple[float, int]], expected: Callable[[float], Sequence[float]]) -> float:
    """Return the variance that the found ones agree on; `expected` says what it lets each of them be on average.

    Each is a sample variance with its degrees of freedom. One far above its expectation counts as if it were at the
    cut, which normal noise exceeds in 5 of 100 cases. 0 if none is found, or if no variance is needed to explain them.

    Source: Huber, Robust estimation of a location parameter (1964), for the cut.
    """
    from scipy.special import chdtr, chdtri

    cuts = [float(chdtri(degrees, _CUT)) / degrees for _, degrees in found]
    weights = [min(degrees, _HEAVIEST) for _, degrees in found]
    usual = sum(
        weight * (float(chdtr(degrees + 2, cut * degrees)) + cut * _CUT)
        for weight, cut, (_, degrees) in zip(weights, cuts, found, strict=True)
    )

    def excess(value: float) -> float:
        each = zip(found, weights, cuts, expected(value), strict=True)
        return sum(weight * min(spread / max(mean, _TINY), cut) for (spread, _), weight, cut, mean in each) - usual

    low, high = _TINY, _LARGEST
    if not found or excess(low) <= 0:
        return 0.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return math.sqrt(low * high)


def _reach(parts: Sequence[tuple[float, float]]) -> float:
    """Return the half-width of a sum whose variances have these degrees of freedom."""
    total = sum(variance for variance, _ in parts)
    shares = sum(variance**2 / degrees for variance, degrees in parts)
    return t_quantile(total**2 / shares) * math.sqrt(total) if shares else 0.0

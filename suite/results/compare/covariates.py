"""Would a reference kernel narrow the range of a step on the CPU? Each is tried as a covariate, on every build.

A fixed kernel runs just before each process on the CPU. Where it is fast, steps may be fast as well. The logarithm of a
step's time is regressed on that of the kernel's speed, both as deviations from their means over a pool's hosts. Each
host is corrected by the slope that the other hosts give, so that nothing is fitted to what it explains.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from suite.results.pooled.grouping import ByHost, Likeness, components_of, processes
from suite.results.pooled.pools import Pool
from suite.results.records.identity import HostKey
from suite.results.records.run import ReferenceKernel

WORTH = 0.8  # of the spread: a covariate that leaves more is not worth its rule
_FEWEST_HOSTS = 3
_FEWEST_POOLS = 3  # fewer tell of a model, not of the host
_KERNELS: Mapping[str, Callable[[ReferenceKernel], float]] = {
    "matrix product": lambda kernel: kernel.matmul_flop_per_second,
    "copy": lambda kernel: kernel.copy_bytes_per_second,
}
_Pairs = Mapping[HostKey, Sequence[tuple[float, float]]]  # logarithms of time and kernel speed, by host


@dataclass(frozen=True, kw_only=True)
class Covariate:
    """The spread of one process on a further host, without and with one kernel as a covariate."""

    likeness: Likeness
    pools: tuple[Pool, ...]
    kernel: str
    hosts: int
    slope: float  # change of log(time) for a change of log(speed)
    before: float  # standard deviation of logarithms, of hosts and processes together
    after: float

    @property
    def worth_it(self) -> bool:
        """Whether it narrows the spread enough to be used."""
        return len(self.pools) >= _FEWEST_POOLS and self.after < WORTH * self.before


def covariates(pools: Iterable[Pool]) -> Iterator[Covariate]:
    """Yield each kernel's effect on the CPU's steps of each likeness whose kernels ran on three hosts or more."""
    alike: dict[Likeness, list[Pool]] = defaultdict(list)
    for pool in pools:
        if pool.likeness.backend == "cpu" and pool.likeness.scope == "step" and pool.hosts > 1:
            alike[pool.likeness].append(pool)
    for likeness, same in sorted(alike.items(), key=lambda each: each[0].implementation):
        for name, speed in _KERNELS.items():
            paired = [(pool, cell) for pool in same if len(cell := _pairs(pool, speed)) > 1]
            cells = [cell for _, cell in paired]
            hosts = {host for cell in cells for host in cell}
            if len(hosts) >= _FEWEST_HOSTS:
                plain = components_of(_times(cell, lambda host: 0.0) for cell in cells)
                left = {host: _slope(cells, but=host) for host in hosts}
                corrected = components_of(_times(cell, left.__getitem__) for cell in cells)
                yield Covariate(
                    likeness=likeness,
                    pools=tuple(pool for pool, _ in paired),
                    kernel=name,
                    hosts=len(hosts),
                    slope=_slope(cells),
                    before=math.sqrt(plain.total),
                    after=math.sqrt(corrected.total),
                )


def _pairs(pool: Pool, speed: Callable[[ReferenceKernel], float]) -> _Pairs:
    pairs: dict[HostKey, list[tuple[float, float]]] = defaultdict(list)
    for host, run, seconds in processes(pool.records):
        if run.kernel is not None:
            pairs[host].append((math.log(seconds), math.log(speed(run.kernel))))
    return pairs


def _slope(cells: Iterable[_Pairs], but: HostKey | None = None) -> float:
    """Return the least-squares slope of host means, as deviations from their cell's; 0 if the speeds are all equal."""
    both = squares = 0.0
    for cell in cells:
        means = [tuple(map(fmean, zip(*pairs, strict=True))) for host, pairs in cell.items() if host != but]
        if means:
            time, speed = (fmean(column) for column in zip(*means, strict=True))
            both += sum((y - time) * (x - speed) for y, x in means)
            squares += sum((x - speed) ** 2 for _, x in means)
    return both / squares if squares else 0.0


def _times(cell: _Pairs, slope: Callable[[HostKey], float]) -> ByHost:
    """Return the times that hosts would have at the cell's mean speed, given each host's slope."""
    mean = fmean(fmean(x for _, x in pairs) for pairs in cell.values())
    return {host: tuple(math.exp(y - slope(host) * (x - mean)) for y, x in pairs) for host, pairs in cell.items()}

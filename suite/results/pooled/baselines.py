"""JAX's steps against their baselines, on each machine and backend."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

from suite.case import Case, Implementation
from suite.results.pooled.pools import FEWEST_HOSTS, Found, Pool, current, pools
from suite.results.pooled.ways import Way, is_baseline, ways
from suite.results.records.record import Record
from suite.results.single.paired_speedup import not_timed

_OTHERS: Mapping[str, tuple[Implementation, ...]] = {"trees": ("xgboost",), "inference": ("torch", "keras", "openvino")}
_ORDER = attrgetter("backend", "workload", "batch", "precision")


@dataclass(frozen=True, kw_only=True)
class BaselineComparison:
    """One step of JAX and its timed baselines, the fastest first."""

    machine: str
    mine: Pool
    ways: tuple[Way, ...]

    @property
    def best(self) -> Way | None:
        """The fastest baseline; None if none was timed."""
        return next(iter(self.ways), None)

    @property
    def not_timed(self) -> tuple[str, ...]:
        """The baselines that exist for such a step and were not timed."""
        record = self.mine.newest
        others = _OTHERS.get(record.description.family, ("torch", "keras"))
        return not_timed([way.pool.case for way in self.ways], others, record.case.backend)


def baseline_comparisons(records: Iterable[Record]) -> tuple[BaselineComparison, ...]:
    """Return the comparison of each of JAX's default steps, sorted by machine, backend and workload."""
    return of_pools(current(pools(records)))


def of_pools(current: Found) -> tuple[BaselineComparison, ...]:
    """Return the comparisons of these pools; see `baseline_comparisons`."""
    ways_of = ways(current)
    comparisons = [
        BaselineComparison(
            machine=machine, mine=pool, ways=tuple(way for way in ways_of(machine, pool) if is_baseline(way))
        )
        for machine, pool in _steps(current)
    ]
    return tuple(sorted(comparisons, key=lambda row: (row.machine, *_ORDER(row.mine.case))))


def _steps(current: Found) -> Iterator[tuple[str, Pool]]:
    """Yield JAX's default steps at any precision and batch, with the allocator that has more evidence."""
    best: dict[tuple[str, Case], Pool] = {}
    for (machine, case), pool in current.items():
        record = pool.newest
        if not pool.headline_step("batch", "precision") or not record.description.documented:
            continue
        place = machine, case.ignoring_allocator
        if place not in best or min(pool.hosts, FEWEST_HOSTS) > min(best[place].hosts, FEWEST_HOSTS):
            best[place] = pool
    yield from ((machine, pool) for (machine, _), pool in best.items())

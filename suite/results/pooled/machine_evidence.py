"""The evidence of one machine: records, pools of cases, and speed-ups."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

import msgspec

from suite.case import Case
from suite.results.pooled import speedup
from suite.results.pooled.pools import Pool, current, pools
from suite.results.pooled.speedup import Found, PooledSpeedUp
from suite.results.records.identity import HostKey, identity
from suite.results.records.record import Record
from suite.results.single.selection import by_machine
from suite.results.stats import pooling
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The basis of answers and verdicts on one machine."""

    records: Sequence[Record] = ()
    pools: Mapping[Case, Pool] = field(default_factory=dict)  # the current one of each case
    speedups: Sequence[PooledSpeedUp] = ()
    ways: Sequence[PooledSpeedUp] = ()  # of loops as written and of baselines
    every: Sequence[Pool] = ()  # all pools, also those that a newer one replaced

    def fitting(self, fits: Callable[[Record], bool], any_threads: bool = False) -> Iterator[Pool]:
        """Yield the pools whose newest record fits, sorted by case; with `any_threads` also those counted apart."""
        return (pool for pool in self._ordered if (any_threads or pool.stands_for is None) and fits(pool.newest))

    @cached_property
    def _ordered(self) -> Sequence[Pool]:
        """The pools, sorted by case."""
        return [self.pools[case] for case in sorted(self.pools, key=lambda case: case.text(0))]

    def sides(
        self, fits: Callable[[Record], bool], least: int = 1, any_threads: bool = False
    ) -> Iterator[tuple[Pool, ...]]:
        """Yield the fitting pools of each workload and backend that has at least `least`.

        Of a case's two allocators the one that more of the pools have is taken, then that of more hosts.
        """
        groups: dict[tuple[str, str], list[Pool]] = defaultdict(list)
        for pool in self.fitting(lambda record: record.description.documented and fits(record), any_threads):
            groups[pool.case.workload, pool.case.backend].append(pool)
        for _, group in sorted(groups.items()):
            common = Counter(pool.case.allocator for pool in group)
            ranked = sorted(group, key=lambda pool: (common[pool.case.allocator], pool.hosts))
            cases = {pool.case.ignoring_allocator: pool for pool in ranked}
            if len(cases) >= least:
                yield tuple(cases.values())

    def of(self, *workloads: str) -> "Evidence":
        """Return the evidence of these workloads."""
        return Evidence(
            records=[record for record in self.records if record.workload in workloads],
            pools={case: pool for case, pool in self.pools.items() if case.workload in workloads},
            speedups=[item for item in self.speedups if item.workload in workloads],
            ways=tuple(item for item in self.ways if item.workload in workloads),
            every=tuple(pool for pool in self.every if pool.case.workload in workloads),
        )


def evidence(records: Iterable[Record]) -> dict[str, Evidence]:
    """Return the evidence of each machine, by its name in addresses."""
    records = list(records)
    every = pools(records)
    current_pools = current(every)
    return by_machines(records, current_pools, speedup.of_pools(current_pools), every)


def by_machines(
    records: Iterable[Record], current: Found, speedups: Sequence[PooledSpeedUp], every: Iterable[Pool]
) -> dict[str, Evidence]:
    """Return the evidence of each machine of these records, from all pools, the current ones and the speed-ups."""
    all_of: dict[str, list[Pool]] = defaultdict(list)
    for pool in every:
        for machine in pool.machines:
            all_of[machine].append(pool)
    pools_of: dict[str, dict[Case, Pool]] = defaultdict(dict)
    speedups_of: dict[str, list[PooledSpeedUp]] = defaultdict(list)
    ways_of: dict[str, list[PooledSpeedUp]] = defaultdict(list)
    for (machine, case), pool in current.items():
        pools_of[machine][case] = pool
    for of_machines, items in ((speedups_of, speedups), (ways_of, speedup.of_ways(current))):
        for item in items:
            of_machines[item.machine].append(item)
    return {
        slug: Evidence(
            records=of_machine,
            pools=pools_of[slug],
            speedups=speedups_of[slug],
            ways=tuple(ways_of[slug]),
            every=tuple(all_of[slug]),
        )
        for slug, of_machine in by_machine(records).items()
    }


def over(one: Pool, other: Pool) -> Pooled:
    """Return a pool's time over another's."""
    return one.over(other)


def rate_over(one: Pool, other: Pool) -> Pooled:
    """Return a pool's examples per second over another's."""
    return over(one, other).per(one.case.batch / other.case.batch)


def share(pool: Pool, of: Callable[[Record], float | None]) -> Estimate | None:
    """Return a share of a pool's time over its hosts; None if no process has it.

    `of` takes a record of one process. The share is assumed to differ between hosts as much as the time does. If a
    process gives 0, there is no interval.
    """
    hosts: dict[HostKey, list[float]] = {}
    for record in pool.records:
        each = (of(msgspec.structs.replace(record, runs=(run,))) for run in record.runs if not run.reason)
        if values := [value for value in each if value is not None]:
            hosts.setdefault(identity(record).host_key, []).extend(values)
    every = [value for values in hosts.values() for value in values]
    if not every:
        return None
    if min(every) <= 0:
        return Estimate(value=fmean(every), processes=len(every))
    return pooling.pooled(tuple(hosts.values()), pool.among).estimate

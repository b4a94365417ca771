"""Pools: all evidence of one case on one kind of machine, host by host."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from suite.case import Backend, Case
from suite.results.pooled.grouping import Among, Likeness, case_of, grouped, likeness_of, seconds_by_host, shared
from suite.results.records.identity import HostKey
from suite.results.records.record import Record
from suite.results.stats import pooling
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate
from suite.results.stats.variance_components import Cell, Components, wild
from suite.scopes import SCOPES

FEWEST_HOSTS = 3  # hosts that a quotable number needs
OUTDATED = "timed by an earlier method"  # why a number may not be quoted
Found = Mapping[tuple[str, Case], "Pool"]  # the current pool of each machine and case


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The evidence of one side; `records` are sorted by age."""

    records: tuple[Record, ...]
    among: Components
    borrowed: bool  # too few hosts of its likeness are known; others contribute
    stands_for: Case | None = None  # the case that it counts for, if its number of threads is not the current one

    @property
    def newest(self) -> Record:
        """The newest record."""
        return self.records[-1]

    @cached_property
    def case(self) -> Case:
        """The case that was timed."""
        return self.stands_for or case_of(self.newest)

    def headline_step(self, *free: str) -> bool:
        """Return whether it is a step in the headline setting, whatever the free axes are."""
        return (self.stands_for is None or "threads" in free) and self.newest.headline_step(*free)

    @cached_property
    def likeness(self) -> Likeness:
        """The key under which it shares components with other pools."""
        return likeness_of(self.records)

    @cached_property
    def by_host(self) -> Mapping[HostKey, tuple[float, ...]]:
        """Seconds of a step by host, one per process."""
        return seconds_by_host(self.records)

    @property
    def cell(self) -> Cell:
        """Seconds of a step, a sequence per host, one per process."""
        return tuple(self.by_host.values())

    @cached_property
    def pooled(self) -> Pooled:
        """Seconds of a step on this kind of machine."""
        return msgspec.structs.replace(pooling.pooled(self.cell, self.among), outdated=self.outdated)

    @property
    def seconds(self) -> Estimate:
        """Seconds of a step with the interval of this kind of machine."""
        return self.pooled.estimate

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return len(self.by_host)

    @property
    def campaigns(self) -> tuple[str, ...]:
        """The campaigns of the evidence, the oldest first."""
        return tuple(dict.fromkeys(record.campaign for record in self.records))

    @property
    def method(self) -> int:
        """The method of timing, which all its records share."""
        return self.newest.method

    @property
    def outdated(self) -> bool:
        """Whether it was timed by an earlier method than the scope's own."""
        return self.method < SCOPES[self.newest.case.scope].method

    @property
    def machines(self) -> frozenset[str]:
        """The names of its machines, as in keys."""
        return frozenset(record.machine.slug for record in self.records)

    def over(self, other: "Pool") -> Pooled:
        """Return its time over another's. Their hosts count as independent, so the interval is rather too wide."""
        ratio = pooling.ratio((self.cell, self.among), (other.cell, other.among))
        return msgspec.structs.replace(ratio, outdated=self.outdated or other.outdated)

    @property
    def wild(self) -> bool:
        """Whether its hosts differ so much more than those of other cells that its own spread is used."""
        return wild(self.cell, self.among)


def spread_of(records: Iterable[Record]) -> Callable[[Record], Components]:
    """Return a function that gives a record the variance components of its likeness, from these records."""
    among = _among(grouped(records))
    return lambda record: among(likeness_of([record]))[0]


def pools(records: Iterable[Record]) -> tuple[Pool, ...]:
    """Return the pools of these records, sorted by name of the case and age of the newest record."""
    groups = grouped(records)
    among, pooled_groups = _among(groups), []
    for group in groups:
        components, borrowed = among(likeness_of(group))
        pooled_groups.append(Pool(records=tuple(group), among=components, borrowed=borrowed))
    return tuple(sorted(pooled_groups, key=lambda pool: (pool.newest.name, pool.newest.created)))


def _among(groups: Iterable[Sequence[Record]]) -> Among:
    return shared((likeness_of(group), seconds_by_host(group)) for group in groups)


def current(candidates: Iterable[Pool], fewest_hosts: int = FEWEST_HOSTS) -> dict[tuple[str, Case], Pool]:
    """Return the current pool of each machine and case: the newest with enough hosts, else that with most hosts.

    Where a step waits for its host, a pool of hosts that timed both sides comes first. Where some have chosen threads,
    they come before all cores, whichever was timed later. The other number of threads is then a case of its own.
    """
    every = tuple(candidates)
    best = _best(every, fewest_hosts)
    apart = (
        replace(pool, stands_for=msgspec.structs.replace(pool.case, threads=case.threads or pool.newest.machine.cores))
        for pool in every
        for case in [pool.newest.case]
        if any(best[machine, pool.case].newest.case.threads != case.threads for machine in pool.machines)
    )
    return _best(tuple(apart), fewest_hosts) | best


def _best(candidates: Sequence[Pool], fewest_hosts: int) -> dict[tuple[str, Case], Pool]:
    both = _timed_both(candidates)

    def rank(pool: Pool, machine: str) -> tuple[int, int, bool, str]:
        own, on_both = pool.hosts, 0
        if SCOPES[pool.case.scope].waits_for_host:  # hosts of other machines with this CPU do not compare
            hosts = seconds_by_host([record for record in pool.records if record.machine.slug == machine])
            own, on_both = len(hosts), len(both[machine, pool.case.cpu_side] & hosts.keys())
        chosen = pool.newest.chosen_threads
        return min(on_both, fewest_hosts), min(own, fewest_hosts), chosen, pool.newest.created

    best: dict[tuple[str, Case], Pool] = {}
    for pool in candidates:
        for machine in pool.machines:
            other = best.get((machine, pool.case))
            if other is None or rank(pool, machine) > rank(other, machine):
                best[machine, pool.case] = pool
    return best


def _timed_both(pools: Iterable[Pool]) -> Mapping[tuple[str, Case], Set[HostKey]]:
    """Return the hosts of each machine that timed both sides of a case which waits for its host."""
    hosts: dict[tuple[str, Case], dict[Backend, set[HostKey]]] = defaultdict(lambda: {"cpu": set(), "gpu": set()})
    for pool in pools:
        for record in pool.records if SCOPES[pool.case.scope].waits_for_host else ():
            hosts[record.machine.slug, pool.case.cpu_side][pool.case.backend].update(seconds_by_host([record]))
    return defaultdict(set, {key: sides["cpu"] & sides["gpu"] for key, sides in hosts.items()})

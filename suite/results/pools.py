"""Pools: all evidence of one case on one kind of machine, host by host.

Records pool if they are of the same case, kind of machine, program, versions of what ran it, settings and method. What
cannot be evidence is left out: smoke, invalid records, disturbed ones, processes that failed or took short samples.
Wide or unsteady ones stay in; to leave them out would choose by the result.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import median
from typing import NamedTuple

import msgspec

from suite.results import old_jax, pooling, spreads, validity
from suite.results.identity import HostKey, identity
from suite.results.pooling import Cell, Components, Pooled
from suite.results.record import Machine, Record, Run, once
from suite.results.settings import bearing
from suite.results.statistics import Estimate
from suite.results.summary import disturbed, step_seconds
from suite.workload import Backend, Case, Implementation, Scope

# Of a step: below it the host decides how fast steps follow each other. Published processes of steps below 0.1 ms on
# GPUs differ by 9 %, of longer ones by less than 1 %. With those of 0.1 to 0.2 ms among the longer ones, 30 of 39
# left-out hosts came out inside the range that the others give, of 0.2 to 3 ms 66 of 67.
DISPATCH_SECONDS = 2e-4
FEWEST_HOSTS = 3  # that a number needs to be quoted
_PACKAGES: Mapping[Implementation, tuple[str, ...]] = {
    "jax": ("jax", "jaxlib", "flax", "optax"),
    "torch": ("torch", "torch-cuda", "torch-cudnn"),
    "keras": ("keras", "tensorflow"),
    "xgboost": ("xgboost",),
}
ByHost = Mapping[HostKey, tuple[float, ...]]  # seconds of a step, one a process
_Kind = tuple[Hashable, ...]  # of machine, as far as a backend's times depend on it


class Likeness(NamedTuple):
    """What pools must share for their hosts to differ alike, so that they have their components in common."""

    machine: _Kind
    implementation: Implementation
    backend: Backend
    scope: Scope  # `step` stands for all of the steady state
    short: bool  # steps below `DISPATCH_SECONDS`


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The evidence of one side; `records` are in the order in which they were made."""

    records: tuple[Record, ...]
    among: Components
    borrowed: bool  # too few hosts of its likeness are known; others say how much hosts differ

    @property
    def newest(self) -> Record:
        """The record that was made last."""
        return self.records[-1]

    @property
    def case(self) -> Case:
        """What was timed."""
        return case_of(self.newest)

    @cached_property
    def likeness(self) -> Likeness:
        """What it shares its components with other pools by."""
        return _likeness(self.records)

    @cached_property
    def by_host(self) -> Mapping[HostKey, tuple[float, ...]]:
        """Seconds of a step by host, one a process."""
        return seconds_by_host(self.records)

    @property
    def cell(self) -> Cell:
        """Seconds of a step, one a process, by host."""
        return tuple(self.by_host.values())

    @cached_property
    def pooled(self) -> Pooled:
        """Seconds of a step on this kind of machine."""
        return pooling.pooled(self.cell, self.among)

    @property
    def seconds(self) -> Estimate:
        """Seconds of a step with the interval of this kind of machine."""
        return self.pooled.estimate

    @property
    def hosts(self) -> int:
        """How many hosts the evidence is of."""
        return len(self.by_host)

    @property
    def campaigns(self) -> tuple[str, ...]:
        """The campaigns that the evidence is of, in their order."""
        return tuple(dict.fromkeys(record.campaign for record in self.records))

    @property
    def machines(self) -> frozenset[str]:
        """The names of its machines, as they stand in keys."""
        return frozenset(record.machine.slug for record in self.records)

    @property
    def wild(self) -> bool:
        """Whether its hosts differ far more than those of other cells, so that it is judged by itself."""
        return pooling.wild(self.cell, self.among)


Among = Callable[[Likeness], tuple[Components, bool]]


def spread_of(records: Iterable[Record]) -> Callable[[Record], Components]:
    """Return what says of a record how much hosts of its kind differ, by the evidence in these records."""
    among = _among(_groups(records))
    return lambda record: among(_likeness([record]))[0]


def pools(records: Iterable[Record]) -> tuple[Pool, ...]:
    """Return the pools of these records, in the order of case and of their newest record."""
    groups = _groups(records)
    among, found = _among(groups), []
    for group in groups:
        components, borrowed = among(_likeness(group))
        found.append(Pool(records=tuple(group), among=components, borrowed=borrowed))
    return tuple(sorted(found, key=lambda pool: (pool.newest.name, pool.newest.created)))


def _among(groups: Iterable[Sequence[Record]]) -> Among:
    return shared((_likeness(group), seconds_by_host(group)) for group in groups)


def _groups(records: Iterable[Record]) -> list[list[Record]]:
    """Return the records that are evidence, those that pool together, the oldest first."""
    groups: dict[Hashable, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: (record.created, record.digest)):
        if usable(record):
            groups[pool_key(record)].append(record)
    return list(groups.values())


def shared(cells: Iterable[tuple[Likeness, ByHost]]) -> Among:
    """Return what says of a likeness how much hosts differ, and whether it had to be borrowed.

    Where too few hosts of it are known, those of other machines say it too; where these are too few as well, those of
    other implementations.
    """
    same: dict[Likeness, list[ByHost]] = defaultdict(list)
    for likeness, cell in cells:
        same[likeness].append(cell)
    wider: dict[int, dict[tuple[Hashable, ...], list[Likeness]]] = {1: defaultdict(list), 2: defaultdict(list)}
    for likeness in same:
        for left_out, groups in wider.items():
            groups[likeness[left_out:]].append(likeness)

    @cache
    def known(likeness: Likeness) -> Components:
        found = same.get(likeness, ())
        return pooling.components([tuple(each.values()) for each in found], [tuple(each) for each in found])

    @cache
    def unlikeness(left_out: int) -> float:
        return pooling.unlikeness(map(known, group) for group in wider[left_out].values())

    def components(likeness: Likeness) -> tuple[Components, bool]:
        own = best = known(likeness)
        for left_out, groups in wider.items():
            if best.enough:
                break
            others = (known(other) for other in groups[likeness[left_out:]] if other != likeness)
            found = pooling.borrowed(own, others, unlikeness(left_out))
            best = max(best, found, key=lambda each: each.degrees)
        return best, best is not own

    return components


def current(found: Iterable[Pool], fewest_hosts: int = FEWEST_HOSTS) -> dict[tuple[str, Case], Pool]:
    """Return the pool that counts for each machine and case: the newest of enough hosts, else that of most hosts."""
    best: dict[tuple[str, Case], Pool] = {}
    for pool in found:
        rank = min(pool.hosts, fewest_hosts), pool.newest.created
        for machine in pool.machines:
            other = best.get((machine, pool.case))
            if other is None or rank > (min(other.hosts, fewest_hosts), other.newest.created):
                best[machine, pool.case] = pool
    return best


def case_of(record: Record) -> Case:
    """Return the case that a record's time is of: a stand-in for random content, chosen threads for all cores."""
    case = record.case.timed
    return msgspec.structs.replace(case, threads=None) if record.chosen_threads else case


@once
def pool_key(record: Record) -> Hashable:
    """Return what two records must share to be evidence of the same time."""
    who, versions = identity(record), record.software.packages
    return (
        case_of(record),
        record.case.threads,
        kind_of(record.machine, record.case.backend),
        who.method,
        who.program,
        who.campaign if who.alone else "",
        tuple(versions.get(name, "") for name in _PACKAGES[record.case.implementation]),
        # A program of method 1 has its settings in its digest.
        () if who.method else tuple(_outside(record).items()),
    )


def kind_of(machine: Machine, backend: Backend | str) -> _Kind:
    """Return what two machines must share for a backend's times to be of one kind.

    A CPU's are whatever GPUs stand beside it; of one that hides its model only those of a name count as one kind.
    """
    cpu = machine.cpu_kind
    kind: _Kind = (cpu,) if cpu.model else (cpu, machine.cpu_model, machine.slug)
    if backend == "cpu":
        return kind
    return (*kind, *((gpu.name, gpu.slice, gpu.power_limit_watts) for gpu in machine.gpus))


@once
def usable(record: Record) -> bool:
    """Return whether a record is evidence: its time can be true, and nothing is known to have disturbed it."""
    if record.profile == "smoke" or record.cut_short or any(validity.invalid(record)) or old_jax.slow(record):
        return False
    return not any(disturbed(record)) and any(_counts(record, run) for run in record.runs)


def seconds_by_host(records: Sequence[Record]) -> dict[HostKey, tuple[float, ...]]:
    """Return the seconds of each process that counts, by host."""
    found: dict[HostKey, tuple[float, ...]] = {}
    for record in records:
        host = identity(record).host_key
        values = (step_seconds(run, record.method) for run in record.runs if _counts(record, run))
        found[host] = (*found.get(host, ()), *(value for value in values if value))
    return found


def _counts(record: Record, run: Run) -> bool:
    return not validity.is_short(record.case, run) and bool(step_seconds(run, record.method))


def _likeness(group: Sequence[Record]) -> Likeness:
    record = group[-1]
    backend, scope = spreads.kind(record.case.backend, record.case.scope)
    values = [value for host in seconds_by_host(group).values() for value in host]
    short = scope == "step" and bool(values) and median(values) < DISPATCH_SECONDS
    return Likeness(kind_of(record.machine, backend), record.case.implementation, backend, scope, short)


def _outside(record: Record) -> dict[str, str]:
    """Return the settings from outside that bear on speed, which no implementation tells of itself."""
    settings = bearing(record.software.settings)
    return {name: value for name, value in settings.items() if name.isupper() or name.startswith("xla_")}

"""Ways of a step (other implementations, layouts or thread counts) and their times over JAX's.

Ratios are paired on each host, from campaigns that timed both: the host's speed cancels, so ratios differ less between
hosts than times do.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from suite import units
from suite.case import Backend, Case
from suite.results.pooled.kinds import components_of, kind_of
from suite.results.pooled.pools import Found, Pool
from suite.results.records.identity import HostKey, identity
from suite.results.single.summary import seconds_by_round
from suite.results.stats import pooling, variance_components
from suite.results.stats.pooling import Pooled
from suite.results.stats.variance_components import Components
from suite.scopes import Scope
from suite.variants import way_of

_ASIDE = ("stacked", "resident")  # ways of JAX without a step of the same batch
_Place = tuple[str, str, Backend, Scope, int]  # machine, workload, backend, scope and batch
_Among = Mapping[Hashable, Components]


@dataclass(frozen=True, kw_only=True)
class Way:
    """Another way of a step and its time over JAX's."""

    pool: Pool
    over: Pooled

    @property
    def words(self) -> str:
        """Implementation, variant and threads."""
        return way_words(self.pool.newest.case)

    @property
    def takes(self) -> str:
        """Its share of JAX's time in words, with the interval if there is one."""
        within = f" ({units.interval(self.over.low, self.over.high)})" if self.over.low is not None else ""
        return f"{self.words} takes {self.over.value:.2f}{within}"


def way_words(case: Case) -> str:
    """Return a way's implementation and variant, with threads and allocator if not the default."""
    threads = f" with {units.pluralize(case.threads, 'thread')}" if case.threads else ""
    allocator = ", default-malloc" if (case.backend, case.allocator) == ("cpu", "default-malloc") else ""
    return way_of(case) + threads + allocator


def ways(current: Found) -> Callable[[str, Pool], tuple[Way, ...]]:
    """Return a function that gives the other ways of a machine's pool, the fastest first."""
    places: dict[_Place, list[Pool]] = defaultdict(list)
    for (machine, case), pool in current.items():
        places[machine, case.workload, case.backend, case.scope, case.batch].append(pool)
    among = _ratio_components(places)

    def of(machine: str, plain: Pool) -> tuple[Way, ...]:
        case = plain.case
        return _ways(plain, places[machine, case.workload, case.backend, case.scope, case.batch], among)

    return of


def _ratio_components(ways: Mapping[_Place, Sequence[Pool]]) -> _Among:
    """Return the variance components of ratios of two implementations' times, by backend and kind of machine."""
    backends: dict[Backend, dict[Hashable, list[Mapping[HostKey, Sequence[float]]]]] = {}
    for same in ways.values():
        for plain in (p for p in same if (p.case.implementation, p.case.variant) == ("jax", "plain")):
            kinds = backends.setdefault(plain.case.backend, defaultdict(list))
            kinds[_ratio_kind(plain)] += (_paired(plain, other) for other in same if _comparable(plain, other))
    components: dict[Hashable, Components] = {}
    for kinds in backends.values():
        own = {kind: components_of(filter(None, cells)) for kind, cells in kinds.items() if any(cells)}
        unlikeness = variance_components.unlikeness([own.values()])
        for kind, plain in own.items():
            others = (other for name, other in own.items() if name != kind)
            components[kind] = variance_components.borrowed(plain, others, unlikeness)
    return components


def _ratio_kind(pool: Pool) -> Hashable:
    return pool.case.backend, kind_of(pool.newest.machine, pool.case.backend)


def _ways(plain: Pool, same: Sequence[Pool], among: _Among) -> tuple[Way, ...]:
    """Return the other ways of a step, with their times over its own, the fastest first."""
    timed = []
    for other in same:
        if not _comparable(plain, other):
            continue
        cell, known = tuple(_paired(plain, other).values()), among.get(_ratio_kind(plain))
        if cell and known is not None:
            over = pooling.pooled(cell, known)
        else:
            over = pooling.ratio((other.cell, other.among), (plain.cell, plain.among))
        timed.append(Way(pool=other, over=over))
    return tuple(sorted(timed, key=lambda way: way.over.value))


def is_baseline(way: Way) -> bool:
    """Return whether a way is of an implementation other than JAX."""
    return way.pool.case.implementation != "jax"


def _comparable(plain: Pool, other: Pool) -> bool:
    """Return whether another pool differs from this one only in implementation, variant, layout or threads."""
    if other.case.ignoring_allocator == plain.case.ignoring_allocator or other.case.variant in _ASIDE:
        return False
    if plain.case.variant in _ASIDE and other.case.implementation == "jax":
        return False
    theirs = other.case.taken_as(plain.case)
    return msgspec.structs.replace(theirs, threads=plain.case.threads, allocator=plain.case.allocator) == plain.case


def _paired(plain: Pool, other: Pool) -> Mapping[HostKey, Sequence[float]]:
    """Return the other's time over the plain one's by host, one value per common round of a campaign."""
    hosts: dict[HostKey, list[float]] = defaultdict(list)
    theirs = {record.campaign: record for record in other.records}
    for record in plain.records:
        beside = theirs.get(record.campaign)
        if beside is None:
            continue
        one, two = seconds_by_round(beside), seconds_by_round(record)
        hosts[identity(record).host_key] += [one[number] / two[number] for number in sorted(one.keys() & two.keys())]
    return {host: values for host, values in hosts.items() if values}


def fewer_cores(plain: Pool, others: Iterable[Pool]) -> Way | None:
    """Return the fastest way on another CPU with fewer cores, if surely faster; None if there is none."""
    fewer = (pool for pool in others if pool.newest.machine.cores < plain.newest.machine.cores)
    ways = [Way(pool=pool, over=pooling.ratio((pool.cell, pool.among), (plain.cell, plain.among))) for pool in fewer]
    surely = (way for way in ways if way.over.high is not None and way.over.high < 1)
    return min(surely, key=lambda way: way.over.value, default=None)

"""Ways of a step (other implementations, layouts or thread counts), their times over JAX's, and the certificate.

Ratios are paired on each host that timed both, in one round where it can be: the host's speed cancels, so ratios differ
less between hosts than times do. The certificate of a CPU time says that no other way of the same step is much faster.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Literal

import msgspec

from suite import units
from suite.case import Backend, Case
from suite.results.pooled.grouping import components_of, kind_of, seconds_by_host
from suite.results.pooled.pools import Found, Pool
from suite.results.records.identity import HostKey, identity
from suite.results.single.paired_speedup import CERTIFIED_FROM
from suite.results.single.summary import seconds_by_round
from suite.results.stats import pooling, variance_components
from suite.results.stats.pooling import Pooled
from suite.results.stats.variance_components import Components
from suite.scopes import Scope
from suite.variants import way_of

_LAYOUT = "channels-last"
_ASIDE = ("stacked", "resident")  # ways of JAX without a step of the same batch
Certificate = Literal["certified", "open", "not certified"]
_Place = tuple[str, str, Backend, Scope, int]  # machine, workload, backend, scope and batch
_Among = Mapping[Hashable, Components]


@dataclass(frozen=True, kw_only=True)
class Way:
    """Another way of a step and its time over JAX's."""

    pool: Pool
    over: Pooled

    @property
    def words(self) -> str:
        """Implementation and variant, with what else is not the default."""
        return way_words(self.pool.newest.case)

    @property
    def takes(self) -> str:
        """Its share of JAX's time in words, with the interval if there is one."""
        within = f" ({units.interval(self.over.low, self.over.high)})" if self.over.low is not None else ""
        return f"{self.words} takes {self.over.value:.2f}{within}"

    @property
    def cpu(self) -> str:
        """The cores that took it."""
        machine = self.pool.newest.machine
        return f"{units.pluralize(machine.cores, 'core')} of {machine.processor}"

    @property
    def share(self) -> str:
        """Its share of the other time, with the interval."""
        return f"{self.over.value:.2f} ({units.interval(self.over.low, self.over.high)})"


def way_words(case: Case) -> str:
    """Return a way's implementation and variant, with layout, threads and allocator if not the default."""
    layout = f", {case.layout}" if case.layout != _LAYOUT else ""
    threads = f" with {units.pluralize(case.threads, 'thread')}" if case.threads else ""
    allocator = ", default-malloc" if (case.backend, case.allocator) == ("cpu", "default-malloc") else ""
    return way_of(case) + layout + threads + allocator


def ways(current: Found) -> Callable[[str, Pool], tuple[Way, ...]]:
    """Return a function that gives the other ways of a machine's pool, the fastest first."""
    places: dict[_Place, list[Pool]] = defaultdict(list)
    for (machine, case), pool in current.items():
        places[machine, case.workload, case.backend, case.scope, case.batch].append(pool)
    among = _ratio_components(places)

    def of(machine: str, plain: Pool) -> tuple[Way, ...]:
        case, known, timed = plain.case, among.get(_ratio_kind(plain)), []
        for other in places[machine, case.workload, case.backend, case.scope, case.batch]:
            if _comparable(plain, other):
                timed.append(Way(pool=other, over=_over(plain, other, known)))
        return tuple(sorted(timed, key=lambda way: way.over.value))

    return of


def _over(plain: Pool, other: Pool, among: Components | None) -> Pooled:
    """Return the other's time over the plain one's: paired on their common hosts, if there are some."""
    cell = tuple(_paired(plain, other).values())
    if not cell or among is None:
        return other.over(plain)
    return msgspec.structs.replace(pooling.pooled(cell, among), outdated=plain.outdated or other.outdated)


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
    """Return the other's time over the plain one's by host.

    One value per common round of a campaign; one of a host that timed them in different campaigns only.
    """
    hosts: dict[HostKey, list[float]] = defaultdict(list)
    theirs = {record.campaign: record for record in other.records}
    for record in plain.records:
        beside = theirs.get(record.campaign)
        if beside is None:
            continue
        one, two = seconds_by_round(beside), seconds_by_round(record)
        hosts[identity(record).host_key] += [one[number] / two[number] for number in sorted(one.keys() & two.keys())]
    paired = {host: values for host, values in hosts.items() if values}
    one, two = (seconds_by_host(pool.records) for pool in (other, plain))
    known = (host for host in one.keys() & two.keys() if host[0])  # without a hash it can be any host of its kind
    return {host: [geometric_mean(one[host]) / geometric_mean(two[host])] for host in known} | paired


def fewer_cores(plain: Pool, others: Iterable[Pool]) -> Way | None:
    """Return the fastest way on another CPU with fewer cores, if surely faster; None if there is none."""
    alike = (pool for pool in others if pool.method == plain.method)
    fewer = (pool for pool in alike if pool.newest.machine.cores < plain.newest.machine.cores)
    ways = [Way(pool=pool, over=pool.over(plain)) for pool in fewer]
    surely = (way for way in ways if way.over.high is not None and way.over.high < 1)
    return min(surely, key=lambda way: way.over.value, default=None)


def slow_cpu(plain: Pool, faster: Way | None) -> str:
    """Return how much less time another CPU with fewer cores takes than this one, see `fewer_cores`; '' without one."""
    these = units.count(plain.newest.machine.cores)
    return f"{faster.cpu} take {faster.share} of the time of these {these}" if faster else ""


def certificate(ways: Sequence[Way]) -> Certificate:
    """Return the certificate of a step on the CPU, given its other ways, the fastest first."""
    if any(map(surely_below, ways)):
        return "not certified"
    fastest = fastest_baseline(ways)
    if fastest is None or fastest.over.low is None or fastest.over.low < CERTIFIED_FROM:
        return "open"
    return "certified"


def doubts(ways: Sequence[Way]) -> Iterator[str]:
    """Yield why a step on the CPU is not certified: the ways that surely take less, or why nobody can tell."""
    yield from (f"{way.takes} of JAX's time on the CPU" for way in ways if surely_below(way))
    if certificate(ways) == "open":
        yield "certificate open: " + undecided(ways)


def undecided(ways: Iterable[Way]) -> str:
    """Return why a certificate is open."""
    fastest = fastest_baseline(ways)
    if fastest is None:
        return "no baseline was timed on this CPU"
    return f"{fastest.takes} of JAX's time, the bound is {CERTIFIED_FROM}"


def fastest_baseline(ways: Iterable[Way]) -> Way | None:
    """Return the first baseline of ways sorted by time; None if there is none."""
    return next(filter(is_baseline, ways), None)


def surely_below(way: Way) -> bool:
    """Return whether a way is so much faster that the CPU is not used well.

    Another implementation must surely take less than 0.7 of the time, JAX with fewer threads surely less than 1.
    """
    case, high = way.pool.case, way.over.high
    if case.implementation == "jax" and case.threads is None:
        return False
    return high is not None and high < (1.0 if case.implementation == "jax" else CERTIFIED_FROM)

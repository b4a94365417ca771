"""Trials of two claims on real hosts: predict each host from the others, and compare campaigns of equal code.

A left-out host's mean should lie in the range of a further campaign of as many rounds in 95 of 100 cases. Two campaigns
of equal code should be called the same in at least 95 of 100 cases.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import msgspec

from suite import units
from suite.case import Case
from suite.results.pooled.grouping import DISPATCH_SECONDS, seconds_by_host
from suite.results.pooled.kinds import ByHost, Likeness, shared
from suite.results.pooled.pools import Pool
from suite.results.records.identity import HostKey, identity
from suite.results.records.record import Record
from suite.results.stats import pooling
from suite.results.stats.changes import changed
from suite.results.stats.variance_components import Cell, Components

CPU, GPU, SPEED_UP = "CPU", "GPU", "speed-up"
SHORT = f"GPU, steps below {units.seconds(DISPATCH_SECONDS)}"
SIDES = (CPU, GPU, SHORT, SPEED_UP)
_Side = tuple[Sequence[float], Cell, Components]  # a left-out host's values, the others', variance components


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One trial of a claim: `good` if the range held the mean, or if two campaigns were called the same."""

    side: str
    pools: tuple[Pool, ...]  # for a speed-up the CPU's first
    hosts: frozenset[HostKey]  # of the trial
    good: bool

    @property
    def machine(self) -> str:
        """The kind of machine."""
        return machine_words(self.pools[-1])

    @property
    def links(self) -> frozenset[Hashable]:
        """Hosts and pools: trials that share one are dependent."""
        return self.hosts | {pool.newest.digest for pool in self.pools}


def left_out(pools: Sequence[Pool]) -> Iterator[Trial]:
    """Yield for each host whether the others predict the mean of its processes, and of its speed-ups.

    The variance components exclude the left-out host. Nothing is yielded without them, or without another host.
    """
    twins: dict[Case, list[Pool]] = defaultdict(list)
    for pool in pools:
        twins[_cpu_case(pool)].append(pool)
    for host in dict.fromkeys(host for pool in pools if pool.hosts > 1 for host in pool.by_host):
        among = shared((pool.likeness, _without(pool, host)) for pool in pools)
        for pool in pools:
            if (own := _side(pool, host, among)) is None:
                continue
            hosts = frozenset({host})
            yield Trial(side=_name(pool), pools=(pool,), hosts=hosts, good=holds(own))
            for cpu in twins[_cpu_case(pool)] if _has_speedup(pool) else ():
                together = cpu.likeness.backend == "cpu" and not set(cpu.campaigns).isdisjoint(pool.campaigns)
                if together and (theirs := _side(cpu, host, among)) is not None:
                    yield Trial(side=SPEED_UP, pools=(cpu, pool), hosts=hosts, good=holds(theirs, own))


def _side(pool: Pool, host: HostKey, among: Callable[[Likeness], tuple[Components, bool]]) -> _Side | None:
    others = tuple(_without(pool, host).values())
    if host not in pool.by_host or not others:
        return None
    components, _ = among(pool.likeness)
    return (pool.by_host[host], others, components) if components.degrees else None


def _without(pool: Pool, host: HostKey) -> ByHost:
    return {each: values for each, values in pool.by_host.items() if each != host}


def _cpu_case(pool: Pool) -> Case:
    """Return the CPU case of a speed-up, ignoring the allocator."""
    return msgspec.structs.replace(pool.case, backend="cpu", precision="float32-highest").ignoring_allocator


def _has_speedup(pool: Pool) -> bool:
    return pool.likeness.backend == "gpu" and pool.case.implementation == "jax"


def holds(*sides: _Side) -> bool:
    """Return whether a left-out host's mean, or the ratio of two sides' means, lies in the others' range.

    The range is that of a campaign of as many rounds.
    """
    off, parts = 0.0, []
    for sign, (values, others, among) in zip((1, -1), sides, strict=False):
        centre, error2, further2, degrees = pooling.moments(others, among)
        saved = among.sigma2 * (1 - 1 / len(values))  # by rounds beyond the first
        off += sign * (_mean(values) - centre)
        parts.append((error2 + further2 - saved, degrees))
    return abs(off) <= pooling.reach(parts)


def pairs(pools: Iterable[Pool]) -> Iterator[Trial]:
    """Yield for each two campaigns of a pool on different hosts whether they are called the same."""
    for pool in pools:
        if pool.among.degrees:
            for (one, ours), (other, theirs) in combinations(_campaigns(pool), 2):
                if one != other:
                    good = not changed([ours], [theirs], pool.among)
                    yield Trial(side=_name(pool), pools=(pool,), hosts=frozenset({one, other}), good=good)


def _campaigns(pool: Pool) -> Sequence[tuple[HostKey, Sequence[float]]]:
    """Return the values of each campaign of a pool, with its host."""
    groups: dict[tuple[HostKey, str], list[Record]] = defaultdict(list)
    for record in pool.records:
        groups[identity(record).host_key, record.campaign].append(record)
    return [(host, seconds_by_host(records)[host]) for (host, _), records in groups.items()]


def _mean(values: Sequence[float]) -> float:
    return fmean(map(math.log, values))


def machine_words(pool: Pool) -> str:
    """Return a pool's kind of machine in words; only of its CPU if no GPU is used."""
    machine = pool.newest.machine
    return machine.cpu_kind.words if pool.likeness.backend == "cpu" else machine.name


def _name(pool: Pool) -> str:
    if pool.likeness.backend == "cpu":
        return CPU
    return SHORT if pool.likeness.short else GPU

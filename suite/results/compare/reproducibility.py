"""Reproducibility on the next machine: tests the published ranges and `compare` against the records.

Two claims are tried on real hosts. A left-out host's mean should lie in the range of a further campaign of as many
rounds in 95 of 100 cases. Two campaigns of equal code should be called the same in at least 95 of 100 cases.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from suite import units
from suite.case import Case
from suite.results.compare.covariates import Covariate, covariates
from suite.results.pooled.grouping import DISPATCH_SECONDS, ByHost, Likeness, seconds_by_host, shared
from suite.results.pooled.pools import Pool
from suite.results.records.identity import HostKey, identity
from suite.results.records.record import Record
from suite.results.stats import pooling, variance_components
from suite.results.stats.pooling import changed
from suite.results.stats.shares import Share, share
from suite.results.stats.statistics import COVERAGE
from suite.results.stats.variance_components import Cell, Components

MOST_ALARMS = 0.05  # false alarms among pairs of equal code
CPU, SPEED_UP = "CPU", "speed-up"
GPU = f"GPU, steps of {units.seconds(DISPATCH_SECONDS)} or more"
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
        twins[pool.case.cpu_side].append(pool)
    for host in dict.fromkeys(host for pool in pools if pool.hosts > 1 for host in pool.by_host):
        among = shared((pool.likeness, _without(pool, host)) for pool in pools)
        for pool in pools:
            if (own := _side(pool, host, among)) is None:
                continue
            hosts = frozenset({host})
            yield Trial(side=_name(pool), pools=(pool,), hosts=hosts, good=holds(own))
            with_speedup = pool.likeness.backend == "gpu" and pool.case.implementation == "jax"
            for cpu in twins[pool.case.cpu_side] if with_speedup else ():
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


def holds(*sides: _Side) -> bool:
    """Return whether a left-out host's mean, or the ratio of two sides' means, lies in the others' range.

    The range is that of a campaign of as many rounds.
    """
    off, parts = 0.0, []
    for sign, (values, others, among) in zip((1, -1), sides, strict=False):
        centre, error2, further2, degrees = pooling.moments(others, among)
        saved = among.sigma2 * (1 - 1 / len(values))  # by rounds beyond the first
        off += sign * (fmean(map(math.log, values)) - centre)
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


def machine_words(pool: Pool) -> str:
    """Return a pool's kind of machine in words; only of its CPU if no GPU is used."""
    machine = pool.newest.machine
    return machine.cpu_kind.words if pool.likeness.backend == "cpu" else machine.name


def _name(pool: Pool) -> str:
    if pool.likeness.backend == "cpu":
        return CPU
    return SHORT if pool.likeness.short else GPU


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The test of both claims, for one side on one kind of machine or on all."""

    side: str
    machine: str = ""  # '' for all
    hosts: int
    inside: Share | None = None  # left-out hosts' means inside the range that the others predict
    alarms: Share | None = None  # pairs of equal code called different

    @property
    def missed(self) -> Iterator[str]:
        """The claims that the records contradict, one line each."""
        name = ", ".join(filter(None, (self.side, self.machine)))
        if self.inside is not None and self.inside.high < COVERAGE:
            yield f"{name}: {words(self.inside)} of left-out hosts' means lie inside a range that claims 95 %"
        if self.alarms is not None and self.alarms.low > MOST_ALARMS:
            yield f"{name}: {words(self.alarms)} of pairs of equal code were called different; at most 5 % should be"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Variance components of hosts and processes among pools that are alike."""

    likeness: Likeness
    machine: str
    hosts: int
    among: Components


@dataclass(frozen=True, kw_only=True)
class Reproducibility:
    """The tests of all sides, the spreads behind the ranges, and what could narrow them."""

    answers: tuple[Answer, ...] = ()  # by side, the one of all machines first
    spreads: tuple[Spread, ...] = ()
    covariates: tuple[Covariate, ...] = ()

    @property
    def words(self) -> str:
        """A sentence on how many left-out hosts the others predict; '' without left-out hosts."""
        first = {answer.side: answer.inside for answer in reversed(self.answers) if answer.inside is not None}
        speedups = [first.pop(SPEED_UP)] if SPEED_UP in first else []
        parts = _counted(first.values(), "time"), _counted(speedups, "speed-up")
        shares = " and ".join(filter(None, parts))
        return f"Each host was predicted from the others: {shares} lay in the predicted range." if shares else ""

    def of_machine(self, name: str) -> str:
        """Return how many times on one machine's own GPU the others predict, for the end of a sentence; '' if none."""
        parts = [a.inside for a in self.answers if a.inside and a.machine == name and a.side in (GPU, SHORT)]
        return _counted(parts, "time")

    @property
    def missed(self) -> tuple[str, ...]:
        """A line for each claim that the records contradict."""
        return tuple(line for answer in self.answers for line in answer.missed)


def reproducibility(pools: Sequence[Pool]) -> Reproducibility:
    """Return the reproducibility of pools; empty if no pool has two hosts."""
    held, equal = list(left_out(pools)), list(pairs(pools))
    answers = []
    for side in SIDES:
        trials = [trial for trial in (*held, *equal) if trial.side == side]
        machines = sorted({trial.machine for trial in trials})
        for machine in ("", *machines) if len(machines) > 1 else machines:
            answers.append(_answer(side, machine, held, equal))
    return Reproducibility(answers=tuple(answers), spreads=tuple(spreads(pools)), covariates=tuple(covariates(pools)))


def _answer(side: str, machine: str, held: Iterable[Trial], equal: Iterable[Trial]) -> Answer:
    both = [[t for t in trials if t.side == side and machine in ("", t.machine)] for trials in (held, equal)]
    hosts = [frozenset(host for trial in trials for host in trial.hosts) for trials in both]
    inside = share([(trial.good, trial.links) for trial in both[0]], len(hosts[0]))
    alarms = share([(not trial.good, trial.links) for trial in both[1]], len(hosts[1]))
    return Answer(side=side, machine=machine, hosts=len(hosts[0] | hosts[1]), inside=inside, alarms=alarms)


def spreads(pools: Iterable[Pool]) -> Iterator[Spread]:
    """Yield the variance components of each likeness with a pool of two hosts or more."""
    alike: dict[Likeness, list[Pool]] = defaultdict(list)
    for pool in pools:
        alike[pool.likeness].append(pool)
    for likeness, same in sorted(alike.items(), key=lambda each: (each[0][2:], each[0].implementation)):
        if several := [pool for pool in same if pool.hosts > 1]:
            hosts = {host for pool in several for host in pool.by_host}
            among = variance_components.components([pool.cell for pool in same])
            yield Spread(likeness=likeness, machine=machine_words(several[-1]), hosts=len(hosts), among=among)


def _counted(shares: Iterable[Share], name: str) -> str:
    shares = list(shares)
    if not shares:
        return ""
    trials = sum(share.trials for share in shares)
    value = sum(share.value * share.trials for share in shares) / trials
    return f"{units.percent(value)} of {units.pluralize(trials, name)}"


def words(share: Share) -> str:
    """Return a share with its interval."""
    value, low, high = (100 * each for each in (share.value, share.low, share.high))
    return f"{units.number(value, units.half_width(low, high))} % ({units.interval(low, high)})"

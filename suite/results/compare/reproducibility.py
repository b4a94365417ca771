"""Reproducibility on the next machine: tests the published ranges and `compare` against the records."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from suite import units
from suite.results.compare.trials import SIDES, SPEED_UP, Trial, left_out, machine_words, pairs
from suite.results.pooled.kinds import Likeness
from suite.results.pooled.pools import Pool
from suite.results.stats import variance_components
from suite.results.stats.shares import Share, share
from suite.results.stats.statistics import COVERAGE
from suite.results.stats.variance_components import Components

MOST_ALARMS = 0.05  # false alarms among pairs of equal code


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
            yield f"{name}: {words(self.alarms)} of pairs of equal code are called different, which claims 5 % at most"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Variance components of hosts and processes among pools that are alike."""

    likeness: Likeness
    machine: str
    hosts: int
    among: Components


@dataclass(frozen=True, kw_only=True)
class Reproducibility:
    """The tests of all sides, and the spreads behind the ranges."""

    answers: tuple[Answer, ...] = ()  # by side, the one of all machines first
    spreads: tuple[Spread, ...] = ()

    @property
    def words(self) -> str:
        """A sentence on how many left-out hosts the others predict; '' without left-out hosts."""
        first = {answer.side: answer.inside for answer in reversed(self.answers) if answer.inside is not None}
        speedups = [first.pop(SPEED_UP)] if SPEED_UP in first else []
        parts = _counted(first.values(), "time"), _counted(speedups, "speed-up")
        shares = " and ".join(filter(None, parts))
        return f"Each host was left out in turn: the range that the other hosts give holds {shares}." if shares else ""

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
    return Reproducibility(answers=tuple(answers), spreads=tuple(spreads(pools)))


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

"""Do campaigns agree? How often the time of one lies within the interval of another that timed the same."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from suite.results.record import Record
from suite.results.repetition import description
from suite.results.settings import differing
from suite.results.statistics import Estimate, t_chance, t_quantile
from suite.results.summary import SOUND, summary

Steady = tuple[Record, Estimate]  # with its time, which has an interval


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """What pairs of steady campaigns of the same steps say of each other; each is asked of each."""

    pairs: int
    inside: float  # share of times within the other's interval
    expected: float  # that share, if campaigns differed no more than the processes of one
    apart: int  # pairs whose intervals share no value


Agreements = Mapping[tuple[str, bool], Agreement]  # by backend, and whether those of one state of the suite alone


def agreements(records: Iterable[Record]) -> Agreements:
    """Return how campaigns agree on steps, by backend and by whether only those of one state of the suite are paired.

    Both have machine, packages and settings in common. What no two campaigns timed has no entry.
    """
    groups: dict[tuple, list[Steady]] = defaultdict(list)
    for item in map(summary, (record for record in records if record.case.scope == "step")):
        if item.status in SOUND and item.seconds is not None and item.seconds.low is not None:
            groups[item.record.place, description(item.record.machine)].append((item.record, item.seconds))
    found: dict[tuple[str, bool], list[tuple[Steady, Steady]]] = defaultdict(list)
    for group in groups.values():
        for one, other in combinations(group, 2):
            if _alike(one[0], other[0]):
                found[one[0].backend, False].append((one, other))
                if one[0].commit == other[0].commit:
                    found[one[0].backend, True].append((one, other))
    return {key: _agreement(pairs) for key, pairs in found.items()}


def _alike(one: Record, other: Record) -> bool:
    """Return whether two records of a place are of two campaigns that nothing else tells apart."""
    mine, theirs = one.software, other.software
    both = mine.packages.keys() & theirs.packages.keys()  # older records have none for NumPy
    same = all(mine.packages[name] == theirs.packages[name] for name in both)
    return same and not differing(mine.settings, theirs.settings) and one.campaign != other.campaign


def _agreement(pairs: Sequence[tuple[Steady, Steady]]) -> Agreement:
    times = [(one[1], other[1]) for one, other in pairs]
    asked = [*times, *((other, one) for one, other in times)]
    return Agreement(
        pairs=len(times),
        inside=sum(_holds(mine, other.value) for mine, other in asked) / len(asked),
        expected=sum(_chance(mine.processes, other.processes) for mine, other in asked) / len(asked),
        apart=sum(one.apart(other) for one, other in times),
    )


def _holds(interval: Estimate, value: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= value <= interval.high


def _chance(mine: int, theirs: int) -> float:
    """Return how probably a second campaign's value lies within the first's interval, by the processes of both."""
    return 1 - t_chance(mine - 1, t_quantile(mine - 1) / math.sqrt(1 + mine / theirs))

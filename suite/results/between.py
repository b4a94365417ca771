"""Do campaigns agree? How often the time of one lies within the interval of another that timed the same."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from suite.results.record import Record
from suite.results.repetition import description
from suite.results.statistics import t_chance, t_quantile
from suite.results.summary import SOUND, Summary, summary


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """What pairs of steady campaigns of the same steps say of each other; each is asked of each."""

    pairs: int
    inside: float  # share of times within the other's interval
    expected: float  # that share, if campaigns differed no more than the processes of one
    apart: int  # pairs whose intervals share no value


def agreements(records: Iterable[Record]) -> dict[tuple[str, bool], Agreement]:
    """Return how campaigns agree on steps, by backend and by whether only those of one state of the suite are paired.

    Both have machine, packages and settings in common. What no two campaigns timed has no entry.
    """
    groups: dict[tuple, list[Summary]] = defaultdict(list)
    for item in map(summary, (record for record in records if record.case.scope == "step")):
        if item.status in SOUND and item.seconds is not None and item.seconds.low is not None:
            groups[_alike(item.record)].append(item)
    found: dict[tuple[str, bool], list[tuple[Summary, Summary]]] = defaultdict(list)
    for group in groups.values():
        for one, other in combinations(group, 2):
            if one.record.campaign != other.record.campaign:
                found[one.record.backend, False].append((one, other))
                if one.record.commit == other.record.commit:
                    found[one.record.backend, True].append((one, other))
    return {key: _agreement(pairs) for key, pairs in found.items()}


def _alike(record: Record) -> tuple:
    software = record.software
    return record.place, description(record.machine), (*software.packages.items(),), (*software.settings.items(),)


def _agreement(pairs: Sequence[tuple[Summary, Summary]]) -> Agreement:
    asked = [*pairs, *((other, one) for one, other in pairs)]
    return Agreement(
        pairs=len(pairs),
        inside=sum(map(_holds, asked)) / len(asked),
        expected=sum(_chance(one, other) for one, other in asked) / len(asked),
        apart=sum(_apart(one, other) for one, other in pairs),
    )


def _holds(pair: tuple[Summary, Summary]) -> bool:
    mine, other = (item.seconds for item in pair)
    return bool(mine and other and mine.low and mine.high and mine.low <= other.value <= mine.high)


def _apart(one: Summary, other: Summary) -> bool:
    return bool(one.seconds and other.seconds and one.seconds.apart(other.seconds))


def _chance(one: Summary, other: Summary) -> float:
    """Return how probably a second campaign's value lies within the first's interval, by the processes of both."""
    mine, theirs = (item.seconds.processes if item.seconds else 0 for item in (one, other))
    return 1 - t_chance(mine - 1, t_quantile(mine - 1) / math.sqrt(1 + mine / theirs))

"""Comparison of two sides (records, campaigns, machines or versions), with a verdict for each common case."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from statistics import median

import msgspec

from suite.results.pooled.pools import spread_of
from suite.results.records.identity import identity, same_host
from suite.results.records.machine import Machine, differing
from suite.results.records.record import Record
from suite.results.single.summary import Summary, seconds_by_round, summary
from suite.results.stats import pooling
from suite.results.stats.pooling import smallest_change
from suite.results.stats.state import State
from suite.results.stats.statistics import (
    Estimate,
    holm,
    paired_p_value,
    paired_ratio,
    sign_interval,
    unpaired_p_value,
    unpaired_ratio,
)
from suite.results.stats.variance_components import Components

LEAST_BAND = 0.01  # two builds of the same code differ by as much
_LEVEL = 0.05
_SAME_MEMORY = 0.01  # variation on one host: kernels reserve different amounts


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The first side's time over the second's; above 1 the second is faster."""

    first: Summary
    second: Summary
    ratio: Estimate
    paired: bool  # measured in the same rounds of one campaign
    chance: float | None  # p value of the difference on one host; None if unknown
    least: float | None = None  # ratio from which two hosts' times are called different; None if unknown

    @property
    def state(self) -> State:
        """Invalid if either side is, else open."""
        return "invalid" if "invalid" in (self.first.state, self.second.state) else "open"

    @property
    def differs(self) -> tuple[str, ...]:
        """The axes in which the sides differ: of the case, machine or host, packages, and settings."""
        return axes(self.first.record, self.second.record)

    @property
    def signs(self) -> tuple[float, float] | None:
        """The sign interval of the ratio; None without enough shared rounds."""
        mine, theirs = seconds_by_round(self.first.record), seconds_by_round(self.second.record)
        return sign_interval([mine[r] / theirs[r] for r in mine.keys() & theirs.keys()]) if self.paired else None

    def verdict(self, band: float) -> str:
        """Return the second side's verdict: faster, slower, same within x %, or not separated.

        On one host the sides differ if both intervals exclude 1 and `chance` is below 5 %, on two hosts if their ratio
        is beyond `least`. `band` is the relative difference that does not matter.
        """
        low, high = self.ratio.low, self.ratio.high
        if low is None or high is None or not (self.first.complete and self.second.complete):
            return "not separated"
        if max(high, 1 / low) <= 1 + band:
            return f"same within {100 * band:.2g} %"
        if not self._differ(low, high):
            return "not separated"
        return "faster" if self.ratio.value > 1 else "slower"

    def _differ(self, low: float, high: float) -> bool:
        """Return whether the sides are called different."""
        if self.chance is None:
            return self.least is not None and max(self.ratio.value, 1 / self.ratio.value) > self.least
        signs = self.signs or (low, high)
        return (min(low, signs[0]) > 1 or max(high, signs[1]) < 1) and self.chance < _LEVEL


def compared(first: Iterable[Record], second: Iterable[Record], known: Iterable[Record] = ()) -> tuple[Comparison, ...]:
    """Return a comparison of each case that both sides have, of their current records; of single records, of these.

    The records of a case are of one machine that both sides have, the one measured last; two machines are compared if
    each side has only one. `known` and both sides give the variance between hosts. P values are corrected for the
    number of comparisons. Raises ValueError if the sides share no case, or none on the same machine, or if two single
    records differ in more than one axis of their case.
    """
    first, second = tuple(first), tuple(second)
    pairs = _pairs(*map(_by_name, (first, second)))
    every = {record.digest or str(id(record)): record for record in (*known, *first, *second)}
    spread = _lazily(every.values())
    rows = [row for one, other in pairs if (row := _comparison(summary(one), summary(other), spread)) is not None]
    corrected = iter(holm([row.chance for row in rows if row.chance is not None]))
    return tuple(row if row.chance is None else replace(row, chance=next(corrected)) for row in rows)


def _lazily(records: Iterable[Record]) -> Callable[[Record], Components]:
    """Return `spread_of` these records, computed on first use."""
    known = cache(lambda: spread_of(records))
    return lambda record: known()(record)


def _by_name(records: Iterable[Record]) -> dict[str, list[Record]]:
    records_of: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.current_key):
        records_of.setdefault(record.machine_and_case[1], []).append(record)
    return records_of


def _pairs(first: dict[str, list[Record]], second: dict[str, list[Record]]) -> list[tuple[Record, Record]]:
    shared = sorted(first.keys() & second.keys())
    if not shared and len(first) == len(second) == 1:
        one, other = (next(iter(side.values()))[-1] for side in (first, second))
        different = [name for name in axes(one, other) if hasattr(one.case, name)]
        if len(different) > 1:
            raise ValueError(
                f"the two records differ in {', '.join(different)}; compare two that differ in one of these"
            )
        return [(one, other)]
    if not shared:
        raise ValueError("the two sides have no case in common; choose two that measured the same")
    if len(_machines(first)) == len(_machines(second)) == 1:
        return [(first[name][-1], second[name][-1]) for name in shared]
    pairs = [pair for name in shared if (pair := _of_one_machine(first[name], second[name])) is not None]
    if not pairs:
        raise ValueError("the two sides have no case on the same machine in common; to compare two machines, name them")
    return pairs


def _machines(side: dict[str, list[Record]]) -> set[str]:
    return {record.machine.slug for records in side.values() for record in records}


def _of_one_machine(first: Sequence[Record], second: Sequence[Record]) -> tuple[Record, Record] | None:
    """Return each side's newest record on a common machine, the one measured last; None without a common machine."""
    both = {record.machine.slug for record in first} & {record.machine.slug for record in second}
    slug = next((r.machine.slug for r in reversed(second) if r.machine.slug in both), None)
    if slug is None:
        return None
    one, other = (next(record for record in reversed(side) if record.machine.slug == slug) for side in (first, second))
    return one, other


def _comparison(one: Summary, other: Summary, spread: Callable[[Record], Components]) -> Comparison | None:
    rounds, others = seconds_by_round(one.record), seconds_by_round(other.record)
    if not rounds or not others:
        return None
    if one.record.campaign == other.record.campaign and one.record.machine == other.record.machine:
        ratio, chance = paired_ratio(rounds, others), paired_p_value(rounds, others)
        return ratio and Comparison(first=one, second=other, ratio=ratio, paired=True, chance=chance)
    sides = tuple(rounds.values()), tuple(others.values())
    if _on_one_host(one.record, other.record):
        ratio, chance = unpaired_ratio(*sides), unpaired_p_value(*sides)
        return ratio and Comparison(first=one, second=other, ratio=ratio, paired=False, chance=chance)
    (ours, theirs), (first, second) = ((side,) for side in sides), (spread(item.record) for item in (one, other))
    ratio = pooling.ratio((ours, first), (theirs, second)).estimate
    least = smallest_change(ours, theirs, first, second)
    return Comparison(first=one, second=other, ratio=ratio, paired=False, chance=None, least=least)


def _on_one_host(one: Record, other: Record) -> bool:
    """Return whether two records are known to be of one host, whose speed then cancels."""
    hosts = identity(one), identity(other)
    return all(host.host for host in hosts) and same_host(*hosts)


def axes(one: Record, other: Record) -> tuple[str, ...]:
    """Return the names of the axes in which two records differ: of the case, machine or host, packages, and settings.

    A host differs if a machine of the same name has other memory or another processor. A GPU differs too, such as a
    slice from the whole card.
    """
    fields = (field.name for field in msgspec.structs.fields(one.case))
    names = [name for name in fields if getattr(one.case, name) != getattr(other.case, name)]
    if one.machine.slug != other.machine.slug:
        names.append("machine")
    elif _other_host(one.machine, other.machine):
        names.append("host")
    if one.backend == "gpu" and one.machine.slug == other.machine.slug and _gpus(one.machine) != _gpus(other.machine):
        names.append("GPU")
    mine, theirs = one.software.packages, other.software.packages
    packages = sorted(name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name])
    settings = differing(one.software.settings, other.software.settings)
    return (*names, *packages, *(f"setting {name}" for name in settings))


def _gpus(machine: Machine) -> list[str]:
    return sorted(gpu.name for gpu in machine.gpus)


def _other_host(one: Machine, other: Machine) -> bool:
    same = math.isclose(one.memory_bytes, other.memory_bytes, rel_tol=_SAME_MEMORY)
    return one.cpu_model != other.cpu_model or not same


def default_band(rows: Iterable[Comparison]) -> float:
    """Return the default relative difference that does not matter: the noise floor of all compared records."""
    return noise_floor(side.record for row in rows for side in (row.first, row.second))


def noise_floor(records: Iterable[Record]) -> float:
    """Return the relative difference between processes of one case, the median over the records.

    Consecutive processes of a record are compared, since they ran the same code. Never below LEAST_BAND.
    """
    differences = [difference for record in records if (difference := _restless(record)) is not None]
    return max(LEAST_BAND, math.expm1(median(differences))) if differences else LEAST_BAND


def _restless(record: Record) -> float | None:
    logs: Sequence[float] = [math.log(value) for _, value in sorted(seconds_by_round(record).items())]
    steps = [abs(later - before) for before, later in pairwise(logs)]
    return median(steps) if steps else None

"""What experiments share: JAX's steps as cases, and joint reading of the steps of one campaign."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Backend, Case
from suite.results.pooled.grouping import case_of
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp, lacking
from suite.results.records.record import Record
from suite.results.single.selection import campaign_sort_key
from suite.results.single.summary import Summary, against, fastest, summary
from suite.results.stats.fit import Crossing
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import too_wide
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Point
from suite.scopes import Scope
from suite.workload import Description


def usual_case(
    about: Description, backend: Backend, here: MachineCapabilities, scope: Scope = "step", **changes: Any
) -> Case:
    """Return JAX's case of a workload in the headline setting, except for these axes."""
    allocator = here.allocator if backend == "cpu" else "tuned-malloc"
    given = {"batch": about.batch, "data": here.data_of(about), "allocator": allocator} | changes
    return Case(workload=about.name, backend=backend, scope=scope, **given)


def steady(*items: Summary) -> bool:
    """Return whether all of these are complete and without caveats."""
    return all(item.steady for item in items)


def together(
    records: Iterable[Record], fits: Callable[[Record], bool], least: int = 2
) -> tuple[tuple[Summary, ...], ...]:
    """Return each workload and backend's fitting cases of its current campaign with at least `least` of them.

    Of two allocators the faster one counts.
    """
    return _last(sorted((group for group in campaigns(records, fits) if len(group) >= least), key=_sort_key))


def fullest(records: Iterable[Record], fits: Callable[[Record], bool]) -> tuple[tuple[Summary, ...], ...]:
    """Return fitting cases as `together` does, of the newest campaign among those with the most complete ones.

    A newer campaign with fewer cases would remove comparisons that an older one allows. Ties are broken by the number
    of complete cases on both backends, so CPU and GPU are of one campaign if possible. Smoke replaces no measurement.
    """
    groups = list(campaigns(records, fits))
    both = Counter[tuple[str, str]]()
    for group in groups:
        both[_of(group)] += _whole(group)

    def worth(group: tuple[Summary, ...]) -> tuple[bool, int, int, int, tuple[bool, bool, bool, str]]:
        measured, *_ = key = _sort_key(group)
        return measured, _whole(group), len(group), both[_of(group)], key

    return _last(sorted(groups, key=worth))


def _whole(group: Iterable[Summary]) -> int:
    return sum(item.complete for item in group)


def _of(group: tuple[Summary, ...]) -> tuple[str, str]:
    return group[0].record.workload, group[0].record.campaign


def campaigns(records: Iterable[Record], fits: Callable[[Record], bool]) -> Iterator[tuple[Summary, ...]]:
    """Yield the fitting cases of each workload, backend and campaign, with the faster allocator."""
    groups: dict[tuple[str, str, str], dict[Case, list[Summary]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if not record.description.documented or not fits(record):
            continue
        same = record.case.ignoring_allocator
        groups[record.workload, record.backend, record.campaign][same].append(summary(record))
    for cases in groups.values():
        yield tuple(fastest(ways) or ways[0] for ways in cases.values())


def _sort_key(group: tuple[Summary, ...]) -> tuple[bool, bool, bool, str]:
    return campaign_sort_key(item.record for item in group)


def _last(groups: Iterable[tuple[Summary, ...]]) -> tuple[tuple[Summary, ...], ...]:
    """Return the last group of each workload and backend."""
    latest = {(group[0].record.workload, group[0].record.backend): group for group in groups}
    return tuple(latest[key] for key in sorted(latest))


def point(series: str, value: Estimate, *items: Summary, at: float | None = None, row: str = "") -> Point:
    """Return a chart's point of a ratio: hollow if its times have a caveat or its interval is too wide."""
    return _point(series, value, at, row, not too_wide(value) and steady(*items))


def pooled_point(item: PooledSpeedUp, series: str = "", at: float | None = None, row: str = "") -> Point:
    """Return a chart's point of a speed-up, by default in its family's series: hollow if it may not be quoted."""
    mark = ratio_point(series or item.record.description.family, item.ratio, at, row)
    return replace(mark, solid=item.quotable)


def ratio_point(series: str, value: Pooled, at: float | None = None, row: str = "") -> Point:
    """Return a chart's point of a pooled ratio: hollow if it lacks something to be quotable."""
    return _point(series, value, at, row, not any(lacking(value)))


def _point(series: str, value: Estimate | Pooled, at: float | None, row: str, solid: bool) -> Point:
    return value_point(series, value, units.ratio(value.value, value.low, value.high), solid, at, row)


def value_point(
    series: str,
    value: Estimate | Pooled,
    text: str,
    solid: bool,
    at: float | None = None,
    row: str = "",
    panel: str = "",
) -> Point:
    """Return a chart's point of a value with its interval."""
    return Point(
        series=series, value=value.value, low=value.low, high=value.high, at=at, row=row, panel=panel, text=text,
        solid=solid,
    )  # fmt: skip


def untimed(evidence: Evidence, fits: Callable[[Record], bool], groups: Iterable[Sequence[Pool]]) -> tuple[str, ...]:
    """Return a note with the reason for each fitting case of these workloads and backends that is in no pool."""
    sides = {(pool.case.workload, pool.case.backend) for group in groups for pool in group}
    pooled_cases = {case.ignoring_allocator for case in evidence.pools}
    asked = sorted(
        (r for r in evidence.records if (r.workload, r.backend) in sides and fits(r)), key=lambda r: r.created
    )
    last = {record.case.text(record.description.batch): record for record in asked
            if case_of(record).ignoring_allocator not in pooled_cases}  # fmt: skip
    return tuple(f"{name} does not count: {'; '.join(summary(last[name]).reasons)}." for name in sorted(last))


def said_of(items: Iterable[PooledSpeedUp]) -> str:
    """Return a sentence on which speed-ups may be quoted; '' if all may."""
    return said_of_caveats([item.caveat for item in items])


def said_of_pooled(values: Iterable[Pooled]) -> str:
    """Return `said_of` for other pooled numbers."""
    return said_of_caveats([caveat_of(value) for value in values])


def caveat_of(value: Pooled) -> str:
    """Return why a pooled number may not be quoted, as a further sentence; '' if it may."""
    reason = next(lacking(value), "")
    return f" Not to be quoted yet: {reason}." if reason else ""


def said_of_caveats(caveats: Sequence[str]) -> str:
    """Return a sentence on how many numbers may be quoted, given each one's caveat; of a single number its own."""
    quotable = caveats.count("")
    if len(caveats) == 1:
        return caveats[0]
    if quotable == len(caveats):
        return ""
    return f" {units.count(quotable) if quotable else 'None'} of {units.count(len(caveats))} may be quoted."


def caveat(items: Iterable[Summary]) -> str:
    """Return a sentence on the caveats of complete results; '' if there are none."""
    return against(item for item in items if item.complete)


def share(over: Estimate) -> tuple[float, float | None, float | None]:
    """Return the share 1 - 1/ratio of a time that its ratio over another exceeds, with its interval."""
    low, high = (None if end is None else 1 - 1 / end for end in (over.low, over.high))
    return 1 - 1 / over.value, low, high


def share_words(over: Estimate) -> str:
    """Return that share of a ratio of times as text, with its interval."""
    value, low, high = share(over)
    return percent_words(msgspec.structs.replace(over, value=value, low=low, high=high))


def percent_words(value: Estimate) -> str:
    """Return a share as text with its interval, or a remark that it has none."""
    if value.low is None or value.high is None:
        return units.percent(value.value) + without_interval(value)
    low, high = 100 * value.low, 100 * value.high
    return f"{units.number(100 * value.value, units.half_width(low, high))} % ({units.interval(low, high)})"


def from_size(size: Crossing) -> str:
    """Return the size from which a ratio is above 1, as text; an open end is named."""
    if size.low is None:
        return f"of at most {units.number(size.high)}" + (f", probably {_size(size)}" if size.size else "")
    if size.high is None:
        return f"of at least {units.number(size.low)}" + (f", probably {_size(size)}" if size.size else "")
    return f"of about {_size(size)} ({units.interval(size.low, size.high)})"


def _size(size: Crossing) -> str:
    return units.number(size.size, units.half_width(size.low, size.high))


def words(value: Estimate) -> str:
    """Return a ratio as text with its interval, or a remark that it has none."""
    within = units.interval(value.low, value.high)
    after = f" ({within})" if within != units.DASH else without_interval(value)
    return units.ratio(value.value, value.low, value.high) + after


def without_interval(value: Estimate) -> str:
    """Return the remark in place of a missing interval."""
    return " (one run)" if value.processes == 1 else " (no interval)"


def in_all(values: Iterable[Estimate]) -> str:
    """Return the range of campaigns' ratios as a clause; '' for a single campaign."""
    found = sorted(value.value for value in values)
    return f", {units.interval(found[0], found[-1])} in {len(found)} campaigns" if len(found) > 1 else ""

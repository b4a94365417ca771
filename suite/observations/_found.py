"""What judging has in common: results that may be counted, ratios between them, and how near is near."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TypeVar

import msgspec

from suite.inquiry.steps import together
from suite.observations import Part, part
from suite.results.record import Record, Run
from suite.results.speedup import Result, SpeedUp, current, of_headline, record_of, speedups
from suite.results.statistics import Estimate, geometric_mean
from suite.results.summary import Summary
from suite.results.watched import gpu_share
from suite.workload import Scope

_Item = TypeVar("_Item")

SIZE = 1.25  # a measured ratio is as high as a documented one if it is surely within this factor of it
SURELY = 2.0  # a value without an interval is surely beyond a level if it is so by this factor
FAR = SURELY**2  # and than another value without one by this


def counted(item: Summary | None) -> bool:
    """Return whether a result may be judged by: whole, and more than a sign that it runs."""
    return item is not None and item.counted


def both_counted(item: SpeedUp) -> bool:
    """Return whether a speed-up may be judged by: both of its sides may."""
    return counted(item.cpu) and counted(item.gpu)


def gpu_seconds(item: SpeedUp) -> Estimate:
    """Return the GPU's time of a speed-up that may be judged by."""
    assert item.gpu.seconds is not None, "it was counted"
    return item.gpu.seconds


def steps(records: Sequence[Record], workloads: Iterable[str] = (), scope: Scope = "step") -> dict[str, SpeedUp]:
    """Return the current headline speed-up of each workload that may be judged by, by name."""
    wanted = tuple(workloads)
    measured = (record for record in records if record.profile != "smoke")
    found = {record_of(item).workload: item for item in of_headline(measured, scope)}
    return {name: item for name, item in found.items() if (not wanted or name in wanted) and both_counted(item)}


def by_batch(records: Sequence[Record]) -> dict[str, list[SpeedUp]]:
    """Return the current speed-ups of a step that may be judged by, at each of its batches, by workload."""
    found: dict[str, list[SpeedUp]] = defaultdict(list)
    for item in current(speedups(r for r in records if r.headline_step("batch") and r.profile != "smoke")):
        if both_counted(item):
            found[record_of(item).workload].append(item)
    return {name: items for name, items in found.items() if len(items) > 1}


def groups(
    records: Sequence[Record], fits: Callable[[Record], bool], least: int = 1
) -> dict[tuple[str, str], tuple[Summary, ...]]:
    """Return the fitting results that may be judged by, by workload and backend."""
    found = {}
    for group in together(records, fits, least):
        mine = tuple(item for item in group if counted(item))
        if len(mine) >= least:
            found[mine[0].record.workload, mine[0].record.backend] = mine
    return found


def more(one: SpeedUp, other: SpeedUp) -> bool:
    """Return whether one is surely larger than the other."""
    return higher(one.ratio, other.ratio, (one, other))


def higher(one: Estimate, other: Estimate, items: Iterable[Result]) -> bool:
    """Return whether one value is surely above another, both of these results.

    No interval holds by what two campaigns differ, so that of several the values count as if they had none.
    """
    if len({record_of(item).campaign for item in items}) > 1:
        one, other = Estimate(value=one.value), Estimate(value=other.value)
    return above(one, most(other))


def near(value: Estimate, documented: float) -> bool:
    """Return whether a ratio surely is as high as a documented one, within a factor of SIZE."""
    return above(value, documented / SIZE) and below(value, documented * SIZE)


def least(value: Estimate) -> float:
    """Return what a value surely is at least: the low end of its interval, without one the value over SURELY."""
    return value.value / SURELY if value.low is None else value.low


def most(value: Estimate) -> float:
    """Return what a value surely is at most: the high end of its interval, without one SURELY times the value."""
    return value.value * SURELY if value.high is None else value.high


def above(value: Estimate, level: float) -> bool:
    """Return whether a value is surely above a level."""
    return least(value) > level


def below(value: Estimate, level: float) -> bool:
    """Return whether a value is surely below a level."""
    return most(value) < level


def over(says: str, value: Estimate, level: float, items: Sequence[Result]) -> Part:
    """Return whether a value is surely above a level, or surely below it."""
    return part(says, above(value, level), below(value, level), items, unsure(value))


def unsure(*values: Estimate, between: bool = False) -> str:
    """Return why values decide nothing that are neither surely above a bound nor surely below it.

    There may be two bounds with nothing decided `between` them.
    """
    if any(value.low is None or value.high is None for value in values):
        return "one process has no interval"
    return "it lies between the two bounds, or its interval does" if between else "the interval holds the bound"


def alike(says: str, value: Estimate, documented: float, items: Sequence[Result]) -> Part:
    """Return whether a gain is as high as documented, or surely a loss; any other one is of other hardware."""
    why = f"it is not {documented:.3g}x within a factor of {SIZE:g}, which other hardware may explain"
    return part(says, near(value, documented), below(value, 1), items, why)


def own_first(own: Sequence[_Item], others: Sequence[_Item], judge: Callable[[Sequence[_Item]], Part]) -> Part:
    """Return what an article's own networks say; where they cannot, what the others say, if these can."""
    mine, theirs = (judge(group) if group else None for group in (own, others))
    decides = theirs is not None and theirs.holds is not None and (mine is None or mine.holds is None)
    found = theirs if decides else mine or theirs
    assert found is not None, "there is a network"
    return replace(found, by_others=found is theirs)


def share(item: Summary, of: Callable[[Run], float | None]) -> Estimate | None:
    """Return a share of the time with its interval over the processes; None where nobody watched."""
    return over_processes([value for run in item.record.runs if not run.reason and (value := of(run)) is not None])


def over_processes(known: Sequence[float]) -> Estimate | None:
    """Return the mean of values, one per process, with its interval, which there is not if one is 0; None of none."""
    if not known:
        return None
    return geometric_mean(known) if min(known) > 0 else Estimate(value=fmean(known), processes=len(known))


def gpu_busy(record: Record) -> Estimate | None:
    """Return the share of the time in which the GPU of a record is busy, with its interval over the processes."""
    each = [gpu_share(msgspec.structs.replace(record, runs=(run,))) for run in record.runs]
    return over_processes([value for value in each if value is not None])


def mostly(value: Estimate, level: float) -> bool:
    """Return whether a share is surely above a level; without an interval, whether what it leaves is surely less."""
    return above(value, level) or (value.low is None and SURELY * (1 - value.value) < 1 - level)

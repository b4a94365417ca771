"""What judging has in common: results that may be counted, ratios between them, and how near is near."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TypeVar

import msgspec

from suite.analysis.steps import together
from suite.claims import Part, part
from suite.results.pooled.machine_evidence import Evidence, share
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.records.run import Run
from suite.results.single.summary import Summary
from suite.results.single.telemetry_summary import gpu_share
from suite.results.stats.statistics import Estimate, geometric_mean
from suite.workload import Scope

_Item = TypeVar("_Item")

SIZE = 1.25  # a measured ratio is as high as a documented one if it is surely within this factor of it
NOT_CERTIFIED = "the CPU side is not certified"
SURELY = 2.0  # a value without an interval is surely beyond a level if it is so by this factor


def usable(item: Summary | None) -> bool:
    """Return whether a result may be judged by: whole, and more than a sign that it runs."""
    return item is not None and item.usable


def steps(evidence: Evidence, workloads: Iterable[str] = (), scope: Scope = "step") -> dict[str, PooledSpeedUp]:
    """Return the headline speed-up of each workload that may be judged by, by name."""
    wanted = tuple(workloads)
    return {
        item.workload: item
        for item in evidence.speedups
        if item.case.scope == scope and item.record.usual() and item.state != "invalid"
        if not wanted or item.workload in wanted
    }


def by_batch(evidence: Evidence) -> dict[str, list[PooledSpeedUp]]:
    """Return the speed-ups of a step that may be judged by, at each of its batches, by workload."""
    found: dict[str, list[PooledSpeedUp]] = defaultdict(list)
    for item in evidence.speedups:
        if item.record.headline_step("batch") and item.state != "invalid":
            found[item.workload].append(item)
    return {name: items for name, items in found.items() if len(items) > 1}


def groups(
    records: Sequence[Record], fits: Callable[[Record], bool], least: int = 1
) -> dict[tuple[str, str], tuple[Summary, ...]]:
    """Return the fitting results that may be judged by, by workload and backend."""
    found = {}
    for group in together(records, fits, least):
        mine = tuple(item for item in group if usable(item))
        if len(mine) >= least:
            found[mine[0].record.workload, mine[0].record.backend] = mine
    return found


def certified(item: PooledSpeedUp) -> bool:
    """Return whether nothing is known that goes against a speed-up's certificate."""
    return item.state not in ("invalid", "not certified")


def sure(item: PooledSpeedUp) -> Estimate:
    """Return a speed-up as far as a verdict may rest on it: of one that is not certified only its high end.

    Its CPU side could take less time, so that it decides nothing in favour of the GPU.
    """
    ratio = item.ratio.estimate
    return ratio if certified(item) else msgspec.structs.replace(ratio, low=0.0, high=most(ratio))


def more(one: PooledSpeedUp, other: PooledSpeedUp) -> bool:
    """Return whether one is surely larger than the other."""
    return higher(sure(one), other.ratio.estimate)


def higher(one: Estimate, other: Estimate) -> bool:
    """Return whether one value is surely above another."""
    return above(one, most(other))


def near(value: Estimate, documented: float) -> bool:
    """Return whether a ratio surely is as high as a documented one, within a factor of SIZE."""
    return above(value, documented / SIZE) and below(value, documented * SIZE)


def why_not_near(value: Estimate, documented: float, other: str) -> str:
    """Return why a ratio is not surely as high as a documented one: uncertain, or another one."""
    if documented / SIZE < value.value < documented * SIZE:
        return unsure(value)
    return f"{other}, which other hardware may explain"


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


def over(says: str, value: Estimate, level: float, items: Sequence[Summary] = ()) -> Part:
    """Return whether a value is surely above a level, or surely below it."""
    return part(says, above(value, level), below(value, level), items, unsure(value))


def unsure(*values: Estimate, between: bool = False) -> str:
    """Return why values decide nothing that are neither surely above a bound nor surely below it.

    There may be two bounds with nothing decided `between` them.
    """
    if any(value.low is None or value.high is None for value in values):
        return "nothing says how much hosts or processes differ"
    return "it lies between the two bounds, or its interval does" if between else "the interval holds the bound"


def alike(says: str, value: Estimate, documented: float, items: Sequence[Summary] = ()) -> Part:
    """Return whether a gain is as high as documented, or surely a loss; any other one is of other hardware."""
    why = why_not_near(value, documented, f"it is not {documented:.3g}x within a factor of {SIZE:g}")
    return part(says, near(value, documented), below(value, 1), items, why)


def gains(says: str, item: PooledSpeedUp, documented: float) -> Part:
    """Return the same of a speed-up."""
    found = alike(says, sure(item), documented)
    return found if found.holds is not None or certified(item) else replace(found, why=NOT_CERTIFIED)


def own_first(own: Sequence[_Item], others: Sequence[_Item], judge: Callable[[Sequence[_Item]], Part]) -> Part:
    """Return what an article's own networks say; where they cannot, what the others say, if these can."""
    mine, theirs = (judge(group) if group else None for group in (own, others))
    decides = theirs is not None and theirs.holds is not None and (mine is None or mine.holds is None)
    found = theirs if decides else mine or theirs
    assert found is not None, "there is a network"
    return replace(found, by_others=found is theirs)


def share_over_processes(item: Summary, of: Callable[[Run], float | None]) -> Estimate | None:
    """Return a share of the time with its interval over the processes; None where nobody watched."""
    return over_processes([value for run in item.record.runs if not run.reason and (value := of(run)) is not None])


def over_processes(known: Sequence[float]) -> Estimate | None:
    """Return the mean of values, one per process, with its interval, which there is not if one is 0; None of none."""
    if not known:
        return None
    return geometric_mean(known) if min(known) > 0 else Estimate(value=fmean(known), processes=len(known))


def gpu_busy(pool: Pool) -> Estimate | None:
    """Return the share of the time in which the GPU of a pool is busy, at most 1; None where nobody watched."""
    busy = share(pool, gpu_share)
    return busy and busy.mapped(lambda end: min(end, 1.0))


def mostly(value: Estimate, level: float) -> bool:
    """Return whether a share is surely above a level; without an interval, whether what it leaves is surely less."""
    return above(value, level) or (value.low is None and SURELY * (1 - value.value) < 1 - level)

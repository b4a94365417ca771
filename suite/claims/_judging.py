"""Rules that verdicts share: usable results, ratios, and how near is near."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TypeVar

import msgspec

from suite.analysis.steps import together
from suite.claims import Part, part
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.summary import Summary
from suite.results.stats.statistics import Estimate, geometric_mean
from suite.scopes import Scope

_Item = TypeVar("_Item")

SIZE = 1.25  # a measured ratio is as high as a documented one if it is surely within this factor of it
NOT_CERTIFIED = "the CPU side is not certified"
SURELY = 2.0  # a value without an interval is surely beyond a level if it is so by this factor


def usable(item: Summary | None) -> bool:
    """Return whether verdicts may use a result; see `Summary.usable`."""
    return item is not None and item.usable


def steps(evidence: Evidence, workloads: Iterable[str] = (), scope: Scope = "step") -> dict[str, PooledSpeedUp]:
    """Return each workload's valid headline speed-up, by name; of several data sets that of the usual one."""
    wanted = tuple(workloads)
    return {
        item.workload: item
        for item in sorted(evidence.speedups, key=lambda item: item.record.usual_data)
        if item.case.scope == scope and item.record.usual() and item.state != "invalid"
        if not wanted or item.workload in wanted
    }


def by_batch(evidence: Evidence) -> dict[str, list[PooledSpeedUp]]:
    """Return the valid speed-ups of a step by workload, for workloads with several batches."""
    by_workload: dict[str, list[PooledSpeedUp]] = defaultdict(list)
    for item in evidence.speedups:
        if item.record.headline_step("batch") and item.state != "invalid":
            by_workload[item.workload].append(item)
    return {name: items for name, items in by_workload.items() if len(items) > 1}


def groups(
    records: Sequence[Record], fits: Callable[[Record], bool], least: int = 1
) -> dict[tuple[str, str], tuple[Summary, ...]]:
    """Return the usable fitting results by workload and backend."""
    results = {}
    for group in together(records, fits, least):
        items = tuple(item for item in group if usable(item))
        if len(items) >= least:
            results[items[0].record.workload, items[0].record.backend] = items
    return results


def certified(item: PooledSpeedUp) -> bool:
    """Return whether a speed-up's certificate is not known to fail."""
    return item.state not in ("invalid", "not certified")


def sure(item: PooledSpeedUp) -> Estimate:
    """Return a speed-up as far as verdicts may use it; if not certified its low end is 0.

    Its CPU side could be faster, so it decides nothing in favour of the GPU.
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
    """Return whether a ratio is surely within a factor of SIZE of a documented one."""
    return above(value, documented / SIZE) and below(value, documented * SIZE)


def why_not_near(value: Estimate, documented: float, other: str) -> str:
    """Return why a ratio is not surely near a documented one: uncertain, or different."""
    if documented / SIZE < value.value < documented * SIZE:
        return unsure(value)
    return f"{other}, which other hardware may explain"


def least(value: Estimate) -> float:
    """Return a value's sure lower bound: the low end of its interval, or value / SURELY without one."""
    return value.value / SURELY if value.low is None else value.low


def most(value: Estimate) -> float:
    """Return a value's sure upper bound: the high end of its interval, or value x SURELY without one."""
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
    """Return why values are not surely above or below a bound.

    With `between` there are two bounds, and values between them decide nothing.
    """
    if any(value.low is None or value.high is None for value in values):
        return "the spread of hosts or processes is unknown"
    return "its interval is not surely beyond either bound" if between else "the interval contains the bound"


def alike(says: str, value: Estimate, documented: float, items: Sequence[Summary] = ()) -> Part:
    """Return whether a gain is near the documented one, or surely a loss; another gain may be the hardware's."""
    why = why_not_near(value, documented, f"it is not {documented:.3g}x within a factor of {SIZE:g}")
    return part(says, near(value, documented), below(value, 1), items, why)


def gains(says: str, item: PooledSpeedUp, documented: float) -> Part:
    """Return `alike` for a speed-up."""
    found = alike(says, sure(item), documented)
    return found if found.holds is not None or certified(item) else replace(found, why=NOT_CERTIFIED)


def own_first(own: Sequence[_Item], others: Sequence[_Item], judge: Callable[[Sequence[_Item]], Part]) -> Part:
    """Return the part judged by an article's own networks; if undecided, by the others, if these decide."""
    own_part, other_part = (judge(group) if group else None for group in (own, others))
    decides = other_part is not None and other_part.holds is not None and (own_part is None or own_part.holds is None)
    decisive = other_part if decides else own_part or other_part
    assert decisive is not None, "there is a network"
    return replace(decisive, by_others=decisive is other_part)


def over_processes(known: Sequence[float]) -> Estimate | None:
    """Return the mean of values, one per process, with its interval unless one is 0; None without values."""
    if not known:
        return None
    return geometric_mean(known) if min(known) > 0 else Estimate(value=fmean(known), processes=len(known))


def mostly(value: Estimate, level: float) -> bool:
    """Return whether a share is surely above a level; without an interval, whether the remainder is surely smaller."""
    return above(value, level) or (value.low is None and SURELY * (1 - value.value) < 1 - level)

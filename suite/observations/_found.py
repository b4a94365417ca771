"""What judging has in common: results that may be counted, ratios between them, and how near is near."""

from collections.abc import Callable, Iterable, Sequence

from suite.inquiry.steps import together
from suite.results.record import Record
from suite.results.speedup import Result, SpeedUp, of_headline, record_of
from suite.results.statistics import Estimate
from suite.results.summary import COUNTED, Summary
from suite.workload import Scope

SIZE = 1.25  # a documented ratio is as high as a measured one if it is within this factor of it
SURELY = 2.0  # a value without an interval is surely beyond a level if it is so by this factor
FAR = SURELY**2  # and than another value without one by this


def counted(item: Summary | None) -> bool:
    """Return whether a result may be judged by: whole, and more than a sign that it runs."""
    return item is not None and item.status in COUNTED


def steps(records: Sequence[Record], workloads: Iterable[str] = (), scope: Scope = "step") -> dict[str, SpeedUp]:
    """Return the current headline speed-up of each workload that may be judged by, by name."""
    wanted = tuple(workloads)
    measured = (record for record in records if record.profile != "smoke")
    found = {item.gpu.record.workload: item for item in of_headline(measured, scope)}
    return {
        name: item
        for name, item in found.items()
        if (not wanted or name in wanted) and counted(item.cpu) and counted(item.gpu)
    }


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
    """Return whether a documented ratio is within a factor of SIZE of a measured one, and of its ends within SIZE².

    A ratio that is uncertain by more is near to nothing.
    """
    ends = [end for end in (value.low, value.high) if end is not None]
    return _factor(value.value, documented) <= SIZE and all(_factor(end, documented) <= SIZE**2 for end in ends)


def _factor(one: float, other: float) -> float:
    return max(one / other, other / one)


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

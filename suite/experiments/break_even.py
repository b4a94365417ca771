"""After how many steps has the GPU won back its compilation? In steps and seconds, with cold and warm compile cache."""

import math
from collections.abc import Sequence
from itertools import groupby

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import usual_case
from suite.case import STARTING, Backend, Case, CompileCache
from suite.experiments import headline
from suite.results.pooled.break_even import BreakEven, break_even
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.stats.state import status
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import HOSTS, STATUS, Cell, Table, time_cell
from suite.workload import Description

TITLE = "After how many steps has the GPU won back its compilation?"
TESTS: tuple[str, ...] = ()
METHOD = (
    "A GPU's program takes longer to compile than a CPU's. A side's total time is its cold start, which includes "
    "the first step, plus its further steps, each pooled over hosts. The GPU has won back its longer start where "
    "both totals are equal. Its interval holds each number of steps at which they may be equal: the interval of "
    "their ratio contains 1. A slow start and slow steps count as fully correlated, so it is rather too wide. "
    "'At once' means from the first step on. The compile cache is empty unless a warm one is named; then another "
    "process has compiled the program. The seconds are each side's time until then."
)
WORKLOADS: tuple[str, ...] = ()  # see `usual`
usual = headline.usual

_UNQUOTED = " Not to be quoted yet."
_CACHES: dict[CompileCache, str] = {"empty": "no compile cache", "warm": "a warm compile cache"}
_WAYS = ("plain", "nnx-jit")
_WORDS = {1.0: "at once", math.inf: "never"}
_DIGITS = 1000  # from which three digits are enough
_COLUMNS = ("model", "way", "compile cache", "CPU start", "GPU start", "CPU step", "GPU step", "steps", "95 % interval",
            "seconds", "their interval", STATUS, HOSTS)  # fmt: skip


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return step and cold start of both sides in each way, with cold and warm compile cache."""
    here.need_gpu("break_even")
    here.need_cpu("break_even")
    return tuple(
        case
        for about in catalogue
        for way in (_WAYS if about.family != "trees" else _WAYS[:1])
        for backend in here.backends
        for case in (
            usual_case(about, backend, here, variant=way),
            *(_start(about, backend, here, way, cache) for cache in _CACHES),
        )
    )


def _start(about: Description, backend: Backend, here: MachineCapabilities, way: str, cache: CompileCache) -> Case:
    allocator = STARTING if backend == "cpu" else "tuned-malloc"
    return usual_case(about, backend, here, "cold", variant=way, cache=cache, allocator=allocator)


def break_evens(speedups: Sequence[PooledSpeedUp]) -> list[BreakEven]:
    """Return the break-even of each model, way and cache that has a cold start and a step, sorted so."""
    steps = {_place(item): item for item in speedups if item.record.headline_step("variant")}
    starts = [item for item in speedups if item.case.scope == "cold" and item.record.usual("variant", "cache")]
    starts.sort(key=lambda item: (*_place(item), list(_CACHES).index(item.case.cache)))
    return [break_even(item, steps[_place(item)]) for item in starts if _place(item) in steps]


def _place(item: PooledSpeedUp) -> tuple[str, bool, str]:
    return item.workload, item.case.variant != "plain", item.case.variant


def sentence(group: Sequence[BreakEven]) -> str:
    """Return when the GPU has won back its start in each of a model's ways, and whether that may be quoted."""
    return f"{'; '.join(map(_clause, group))}.{_quotable(group)}"


def _quotable(group: Sequence[BreakEven]) -> str:
    quotable = sum(one.quotable for one in group)
    few = f" {units.count(quotable)} of {units.count(len(group))} may be quoted." if quotable else _UNQUOTED
    return "" if quotable == len(group) else few


def _clause(one: BreakEven) -> str:
    way = "" if one.step.case.variant == "plain" else f"in way {one.step.case.variant} "
    cache = "" if one.start.case.cache == "empty" else "with a warm compile cache "
    return f"{way}{cache}{when(one)}"


def when(one: BreakEven) -> str:
    """Return when the GPU has won back its start, such as 'after 4,200 steps (3,900 to 4,600), 10.2 s'."""
    within = _within(one)
    if one.steps in (1.0, math.inf):
        return _steps(one.steps) + (f" ({within})" if within not in (units.DASH, _steps(one.steps)) else "")
    after = f" ({within})" if within != units.DASH else ""
    return f"after {_steps(one.steps)} steps{after}, {units.seconds(one.seconds(one.steps), digits(one))}"


def digits(one: BreakEven) -> float | None:
    """Return the half-width of its seconds; None if an end is missing or never reached."""
    if one.low is None or one.high is None or math.isinf(one.high):
        return None
    return (one.seconds(one.high) - one.seconds(one.low)) / 2


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return when the GPU has won back its start in each model and way; None without starts and steps of both sides."""
    found = sorted(break_evens(evidence.speedups), key=lambda one: (one.steps, one.step.workload))
    if not found:
        return None
    points = tuple(
        Point(
            series=_CACHES[one.start.case.cache],
            row=_name(one),
            value=one.steps,
            low=one.low if one.low and one.high and math.isfinite(one.high) else None,
            high=one.high if one.high and math.isfinite(one.high) else None,
            text=_steps(one.steps),
            solid=one.quotable,
        )
        for one in found
        if math.isfinite(one.steps)
    )
    chart = Chart(
        caption="Steps after which CPU and GPU have taken equal time, compiling included; 1 is at once.",
        across="steps, log scale",
        points=points,
        finding="Steps until the GPU has won back its start: {span}",
    )
    shared = any(len(side.machines) > 1 for one in found for side in (one.start.cpu, one.step.cpu))
    table = Table(
        title="When the GPU has won back its start",
        columns=_COLUMNS,
        rows=tuple(map(_row, found)),
        notes=("CPU times also count the hosts of other machines with the same CPU.",) if shared else (),
    )
    groups = groupby(sorted(found, key=_kind), _kind)
    answers = tuple(_answer(sorted(group, key=lambda one: one.steps)) for _, group in groups)
    return ExperimentResult(answers=answers, tables=(table,), chart=chart if points else None)


def _kind(one: BreakEven) -> tuple[bool, str, int]:
    """Return what one answer is of: a way and a compile cache, in this order."""
    return one.step.case.variant != "plain", one.step.case.variant, list(_CACHES).index(one.start.case.cache)


def _answer(group: Sequence[BreakEven]) -> str:
    """Return after how few and how many steps the GPU has won back its start, where at once, and where never."""
    first, later = group[0], [one for one in group if 1 < one.steps < math.inf]
    parts = []
    if later:
        ends = dict.fromkeys(f"{_steps(one.steps)} ({one.step.workload})" for one in (later[0], later[-1]))
        parts.append(f"after {' to '.join(ends)} steps, {_span(later)}")
    for steps, word in _WORDS.items():
        if models := [one.step.workload for one in group if one.steps == steps]:
            parts.append(f"{word} in {', '.join(models)}")
    way = "" if first.step.case.variant == "plain" else f" in way {first.step.case.variant}"
    shorter = " A shorter run is faster on the CPU." if later else ""
    told = f"With {_CACHES[first.start.case.cache]}{way} the GPU has won back its start {'; '.join(parts)}.{shorter}"
    return told + _quotable(group)


def _span(later: Sequence[BreakEven]) -> str:
    """Return the fewest and the most seconds until then, with their models: the fewest steps may take longer."""
    soonest, latest = (of(later, key=lambda one: one.seconds(one.steps)) for of in (min, max))
    shown = [units.seconds(one.seconds(one.steps), digits(one)) for one in (soonest, latest)]
    if len(later) == 1:
        return shown[0]
    return f"{shown[0]} ({soonest.step.workload}) to {shown[1]} ({latest.step.workload})"


def _name(one: BreakEven) -> str:
    return one.step.workload if one.step.case.variant == "plain" else f"{one.step.workload} {one.step.case.variant}"


def _steps(steps: float) -> str:
    """Return a number of steps; 1 and infinity have words."""
    if steps in _WORDS:
        return _WORDS[steps]
    whole = math.ceil(steps)
    return units.count(whole) if whole < _DIGITS else units.number(whole)


def _within(one: BreakEven) -> str:
    """Return the interval of the steps, whose ends may be at once and never."""
    if one.low is None or one.high is None:
        return units.DASH
    low, high = _steps(one.low), _steps(one.high)
    return low if low == high else f"{low} to {high}"


def _row(one: BreakEven) -> tuple[Cell, ...]:
    lasts, later = math.isfinite(one.steps), 1 < one.steps < math.inf  # at once, the sides have not taken the same time
    ends = (one.seconds(end) if later and end and math.isfinite(end) else None for end in (one.low, one.high))
    reasons = [f"{name}: {item.reasons[0]}" for name, item in (("start", one.start), ("step", one.step))
               if not item.quotable]  # fmt: skip
    worse = one.step if one.start.quotable else one.start
    return row_of(
        one.step.workload,
        one.step.case.variant,
        one.start.case.cache,
        *map(time_cell, (one.start.cpu, one.start.gpu, one.step.cpu, one.step.gpu)),
        Cell(text=_steps(one.steps), sort=one.steps if lasts else None),
        Cell(text=_within(one)),
        Cell(text=units.seconds(one.seconds(one.steps), digits(one)) if later else units.DASH),
        Cell(text=units.seconds_interval(*ends)),
        Cell(text=status(worse.state, outdated=worse.ratio.outdated), remark="; ".join(reasons)),
        count_cell(min(one.start.hosts, one.step.hosts)),
    )

"""How much slower is the first call? Four calls in a fresh process, as one article timed them.

They are of one campaign: calls of one process are compared, and no pool says how much hosts differ in that.
"""

from collections.abc import Callable, Sequence
from statistics import median

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import caveat, percent_words, point, together, usual_case, words
from suite.case import STARTING, Allocator, Backend, Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.records.run import Run
from suite.results.single.summary import Summary
from suite.results.stats.statistics import Estimate, geometric_mean, paired_ratio
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import number_cell, row_of
from suite.results.views.table import ON_ONE_HOST, Cell, Table, gain_cell, times_cells
from suite.workload import Description

TITLE = "How much slower is the first call?"
TESTS = ("O5", "O6", "O7")
METHOD = (
    "A fresh process with an empty compile cache calls the step four times and blocks after each. It reads the wall"
    " clock and its own CPU time. The first call includes lowering and compiling; calls three and four are the "
    "steady state. On the CPU it uses the system's allocator, as the article did. Ratios are paired by process, "
    "those of the two sides by round."
)
WORKLOADS = ("cifar10_resnet63",)

_COLUMNS = (
    "model", "backend", "first call", "second", "steady", "first / steady", "95 % interval", "calls 3 and 4 differ by",
    "CPU time / wall, steady", ON_ONE_HOST,
)  # fmt: skip

Seconds = dict[int, float]  # by round


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the first calls on each backend that is there, the CPU's with the system's allocator.

    With the one that keeps its memory the second call too touches pages for the first time.
    """
    allocators: dict[Backend, Allocator] = {"cpu": STARTING, "gpu": "tuned-malloc"}
    return tuple(
        usual_case(about, backend, here, "calls", allocator=allocators[backend])
        for about in catalogue
        for backend in here.backends
    )


def first(run: Run) -> float:
    """Return the seconds of the first call."""
    return run.warmup[0].wall_seconds


def second(run: Run) -> float:
    """Return the seconds of the second call."""
    return run.warmup[1].wall_seconds


def steady(run: Run) -> float:
    """Return the seconds of a later call."""
    return median(sample.wall_seconds for sample in run.samples)


def four(run: Run) -> float:
    """Return the seconds of all calls together."""
    return sum(sample.wall_seconds for sample in (*run.warmup, *run.samples))


def spread(run: Run) -> float:
    """Return by which share the later calls differ."""
    calls = [sample.wall_seconds for sample in run.samples]
    return max(calls) / min(calls) - 1


def cores(run: Run) -> float:
    """Return the CPU time of later calls over their wall time: how many cores they keep busy."""
    return sum(s.process_seconds for s in run.samples) / sum(s.wall_seconds for s in run.samples)


def values_by_round(item: Summary, value: Callable[[Run], float]) -> Seconds:
    """Return a value of each process that made all its calls."""
    runs = (run for run in item.record.runs if not run.reason and len(run.warmup) == 2 and run.samples)
    return {run.round: value(run) for run in runs}


def differing(item: Summary) -> Estimate | None:
    """Return by which share the later calls of a process differ; a mean of shares that are 0 has no interval."""
    shares = list(values_by_round(item, spread).values())
    if not shares:
        return None
    return geometric_mean(shares) if min(shares) > 0 else Estimate(value=median(shares), processes=len(shares))


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return first and steady calls by workload and backend, and the GPU against the CPU; None without such records."""
    answers, rows, points, sides = [], [], [], []
    groups = together(evidence.records, _fits, least=1)
    for (item,) in (group for group in groups if values_by_round(group[0], first)):
        name, backend = item.record.workload, item.record.backend
        over = paired_ratio(values_by_round(item, first), values_by_round(item, steady)) if item.complete else None
        seconds = (_seconds(item, value) for value in (first, second, steady))
        busy = number_cell(_middle(item, cores), units.number)
        more = (*times_cells(over, item.record), _differing(item), busy, gain_cell(over, item, None))
        rows.append(row_of(name, backend, *seconds, *more))
        if over is not None:
            points.append(point("first / steady", over, item, row=f"{name}, {backend.upper()}"))
            answers.append(
                f"{name} on the {backend.upper()}: the first call takes {words(over)} the time of a later one."
                + caveat([item])
            )
    if not rows:
        return None
    for cpu in (group[0] for group in groups if group[0].record.backend == "cpu"):
        gpu = next((g[0] for g in groups if _pair(cpu, g[0])), None)
        if gpu is not None and cpu.complete and gpu.complete:
            sides += [_row(cpu, gpu, label, value) for label, value in _SIDES.items()]
    chart = Chart(
        caption="Time of the first call of a fresh process over that of its later ones.",
        across="first call / steady call, log scale",
        points=tuple(points),
        level=1.0,
        finding="The first call takes {span} as long as later ones",
    )
    note = "Times are medians over processes; a ratio is the geometric mean of those of each process."
    tables = [Table(title="Four calls in a fresh process", columns=_COLUMNS, rows=tuple(rows), notes=(note,))]
    if sides:
        columns = ("model", "what counts", "speed-up", "95 % interval", ON_ONE_HOST)
        tables.append(Table(title="The same calls, GPU against CPU", columns=columns, rows=tuple(sides)))
    return ExperimentResult(answers=tuple(answers), tables=tuple(tables), chart=chart)


_SIDES = {"a steady call": steady, "the first call": first, "all four calls": four}


def _pair(cpu: Summary, gpu: Summary) -> bool:
    one, other = cpu.record, gpu.record
    return (other.backend, other.workload, other.campaign) == ("gpu", one.workload, one.campaign)


def _row(cpu: Summary, gpu: Summary, label: str, value: Callable[[Run], float]) -> tuple[Cell, ...]:
    found = paired_ratio(values_by_round(cpu, value), values_by_round(gpu, value))
    return row_of(cpu.record.workload, label, *times_cells(found, gpu.record), gain_cell(found, cpu, gpu))


def _fits(record: Record) -> bool:
    return record.case.scope == "calls" and record.usual()


def _middle(item: Summary, value: Callable[[Run], float]) -> float:
    return median(values_by_round(item, value).values())


def _differing(item: Summary) -> Cell:
    found = differing(item)
    if found is None:
        return Cell(text=units.DASH, remark="no process has later calls")
    return Cell(text=percent_words(found), sort=found.value)


def _seconds(item: Summary, value: Callable[[Run], float]) -> Cell:
    middle = _middle(item, value)
    return Cell(text=units.seconds(middle), sort=middle, record=item.record, remark="median over processes")

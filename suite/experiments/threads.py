"""How much faster are more threads? One step on 1, 2, 4, 8 and so on up to all granted cores."""

from collections.abc import Sequence
from math import inf

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import caveat, point, step, together, words
from suite.case import Case
from suite.results.records.record import Record
from suite.results.single.summary import Summary, time_ratio
from suite.results.views.experiment_result import Chart, ChartLine, ExperimentResult
from suite.results.views.table import ON_ONE_HOST, Cell, Table, base_cells, gain_cell, time_cell, times_cells
from suite.workload import Description

TITLE = "How much faster are more threads?"
TESTS = ("O8",)
METHOD = (
    "One step is timed on the CPU by processes that may use 1, 2, 4 and so on of the granted cores. Each speed is the "
    "time with the fewest threads over the time with more, paired by round; ideal would be twice the speed with twice "
    "the threads. Since a speed-up is CPU time over GPU time, this is also by how much a GPU's speed-up "
    "shrinks when it is set against more threads. A headline step has all cores; where fewer threads are surely "
    "faster, the answer says by how much, as a speed-up over all of them is too large by that. Which number is the "
    "fastest is known only after all were timed, so that its gain is a little flattered."
)
WORKLOADS = ("cifar10_mlp", "cifar10_resnet63")

_COLUMNS = ("model", "threads", "step", "speed", "95 % interval", "of ideal", ON_ONE_HOST)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the CPU's step with each number of threads below all cores, and with all."""
    here.need_cpu("threads")
    counts = (*(1 << power for power in range((here.cores - 1).bit_length())), None)
    return tuple(step(about, "cpu", here, threads=count) for about in catalogue for count in counts)


def threads(item: Summary) -> int:
    """Return how many cores a result's processes could use."""
    return item.record.case.threads or item.record.machine.cores


def read(records: Sequence[Record]) -> ExperimentResult | None:
    """Return how the speed grows with the threads; None if no workload was timed with two numbers of them."""
    answers, rows, points, notes, most = [], [], [], [], 1
    for group in together(records, _fits):
        ordered = sorted(group, key=threads)
        first, name = ordered[0], ordered[0].record.workload
        for item in ordered:
            found = time_ratio(first, item)
            ideal = found.value * threads(first) / threads(item) if found else None
            rows.append(
                (
                    Cell(text=name),
                    Cell(text=units.count(threads(item)), sort=threads(item)),
                    time_cell(item),
                    *(base_cells(item.record) if item is first else times_cells(found, item.record, _why(item))),
                    Cell(text=units.percent(ideal), sort=ideal),
                    gain_cell(found, item, first),
                )
            )
            if found is not None:
                points.append(point(name, found, first, item, at=threads(item)))
        most = max(most, threads(ordered[-1]))
        answers.append(_answer(name, ordered))
        notes.append(_of(ordered))
    if not answers:
        return None
    fewest = min((p.at or 1 for p in points), default=1)
    ideal = ChartLine(series="ideal", ends=((fewest, 1.0), (most, most / fewest)), text="ideal")
    chart = Chart(
        caption="Time of a step with the fewest threads over its time with more. Grey: n threads, n times as fast.",
        across="threads, log scale",
        up="speed, fewest threads = 1",
        points=tuple(points),
        lines=(ideal,),
        joined=True,
    )
    table = Table(title="A step's time by threads of the CPU", columns=_COLUMNS, rows=tuple(rows), notes=tuple(notes))
    return ExperimentResult(answers=tuple(answers), tables=(table,), chart=chart)


def _fits(record: Record) -> bool:
    return record.backend == "cpu" and record.headline_step("threads")


def _of(group: Sequence[Summary]) -> str:
    """Return of which campaign a network's rows are, and which numbers of threads it left out."""
    about, there = group[0].record, {threads(item) for item in group}
    left = [units.count(n) for n in (1 << power for power in range(max(there).bit_length())) if n not in there]
    lacking = f", without {', '.join(left)} threads" if left else ""
    return f"{about.workload}: one campaign of {units.minute(about.created)} UTC{lacking}."


def _why(item: Summary) -> str:
    return "; ".join(item.reasons)


def _answer(name: str, group: Sequence[Summary]) -> str:
    first, last = group[0], group[-1]
    found = time_ratio(first, last)
    few, many = units.count(threads(first)), units.count(threads(last))
    if found is None or not first.complete or not last.complete:
        return f"{name}: not known, as {few} or {many} threads have no whole result."
    best = min((item for item in group if item.complete), key=lambda item: item.seconds.value if item.seconds else inf)
    gain = None if best is last else time_ratio(last, best)
    fewer = ""
    if gain is not None and gain.low is not None and gain.low > 1:
        fewer = f" The fastest are {units.count(threads(best))} threads, {words(gain)} as fast as all {many}."
    return f"{name}: {many} threads are {words(found)} as fast as {few}.{fewer}" + caveat((first, best, last))

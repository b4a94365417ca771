"""Is a GPU idle because the run is short? The documented run, ten times its length, and with the data on the device."""

from collections.abc import Callable, Sequence
from statistics import fmean

from suite import units
from suite.inquiry.here import Here
from suite.inquiry.steps import fullest
from suite.results.reading import Chart, Point, Reading
from suite.results.record import Level, Record, Run
from suite.results.summary import Summary
from suite.results.table import Cell, Table, status_cell, time_cell
from suite.results.watched import long_enough
from suite.workload import Case, Description

TITLE = "Is a GPU idle because the run is short?"
TESTS = ("O1", "O2")
METHOD = (
    "The documented whole run is taken at its length and at ten times its length, each batch copied from the host, and "
    "once with the data on the device and one dispatch an epoch. Another process watches how busy the GPU and the CPU "
    "are from the first stage to the last. If shortness were the reason, the longer run would keep the GPU busier. "
    "The answer names a run that was not made."
)
WORKLOADS = ("mnist_mlp",)

_LONG = 10
_WAYS = (("plain", 1), ("plain", _LONG), ("resident", 1))
_COLUMNS = ("model", "backend", "run", "time", "GPU busy, mean", "at most", "CPU busy, mean", "status")


def cases(catalogue: Sequence[Description], here: Here) -> tuple[Case, ...]:
    """Return the runs on each backend: all three on the GPU, the documented one on the CPU."""
    return tuple(
        Case(
            workload=about.name,
            backend=backend,
            scope="run",
            batch=about.batch,
            variant=variant,
            data=here.data_of(about),
            length=length,
        )
        for about in catalogue
        if about.run is not None and about.grid is None  # a search has its examples on the device
        for backend in here.backends
        for variant, length in (_WAYS if backend == "gpu" else _WAYS[:1])
    )


def words(item: Summary) -> str:
    """Return which run a result is of."""
    return _words(item.record.description, item.record.case.variant, item.record.case.length)


def _words(about: Description, variant: str, length: int) -> str:
    where = "data on the device" if variant == "resident" else "data on the host"
    return f"{units.counted((about.run.epochs if about.run else 1) * length, 'epoch')}, {where}"


def gpu(run: Run) -> Level | None:
    """Return how busy the GPU was, a share of the time; None where the run was too short to say."""
    seen = run.telemetry
    return seen.gpus[0].utilisation if seen and seen.gpus and long_enough(seen) else None


def cpu(run: Run) -> Level | None:
    """Return how busy the machine's cores were, a share of all."""
    return run.telemetry.cpu_utilisation if run.telemetry else None


def busy(item: Summary, level: Callable[[Run], Level | None], of: Callable[[Level], float]) -> float | None:
    """Return the mean over the runs that were watched."""
    seen = [of(found) for run in item.record.runs if not run.reason and (found := level(run)) is not None]
    return fmean(seen) if seen else None


def read(records: Sequence[Record]) -> Reading | None:
    """Return how busy GPU and CPU were in runs of each kind; None if there is none."""
    answers, rows, points = [], [], []
    for group in fullest(records, _fits):
        ordered = sorted(group, key=lambda item: _WAYS.index((item.record.case.variant, item.record.case.length)))
        name, backend = ordered[0].record.workload, ordered[0].record.backend
        said = []
        for item in ordered:
            mean = busy(item, gpu, lambda level: level.mean) if backend == "gpu" else None
            rows.append(
                (
                    Cell(text=name),
                    Cell(text=backend),
                    Cell(text=words(item)),
                    time_cell(item),
                    _share(mean),
                    _share(busy(item, gpu, lambda level: level.max) if backend == "gpu" else None),
                    _share(busy(item, cpu, lambda level: level.mean)),
                    status_cell(item),
                )
            )
            if mean is not None and item.whole:
                said.append(f"{units.percent(mean)} in {words(item)}")
                points.append(
                    Point(series="GPU busy", value=100 * mean, row=f"{name}, {words(item)}", text=units.percent(mean))
                )
        if said:
            answers.append(f"{name}: the GPU is busy {'; '.join(said)}.{_missing(ordered)}")
    if not rows:
        return None
    chart = Chart(
        caption="Share of the time in which the GPU worked, mean over the whole run, building and compiling included.",
        across="GPU busy, %",
        points=tuple(points),
        whole=100.0,
    )
    title = "How busy GPU and CPU are during whole runs"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(rows))
    return Reading(answers=tuple(answers), tables=(table,), chart=chart if points else None)


def _missing(group: Sequence[Summary]) -> str:
    """Return which runs on the GPU there are none of."""
    about, there = group[0].record.description, {(i.record.case.variant, i.record.case.length) for i in group}
    left = [_words(about, *way) for way in _WAYS if way not in there]
    return f" Not measured: {'; '.join(left)}." if left else ""


def _fits(record: Record) -> bool:
    case = record.case
    mine = (case.implementation, case.precision, case.devices) == ("jax", "float32-highest", 1)
    whole_run = case.scope == "run" and record.description.grid is None and not record.cut_short
    return mine and whole_run and (case.variant, case.length) in _WAYS


def _share(value: float | None) -> Cell:
    return Cell(text=units.percent(value) if value is not None else units.DASH, sort=value)

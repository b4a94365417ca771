"""Is a GPU idle because the run is short? The documented run, ten times its length, and with the data on the device."""

from collections.abc import Callable, Sequence
from statistics import fmean

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import fullest
from suite.results.records.record import Record
from suite.results.records.run import GpuTelemetry, Run
from suite.results.single.summary import Summary
from suite.results.single.telemetry_summary import AVERAGED_SECONDS, long_enough, training_seconds, while_training
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.table import ON_ONE_HOST, Cell, Table, one_host_cell, time_cell
from suite.workload import Case, Description

TITLE = "Is a GPU idle because the run is short?"
TESTS = ("O1", "O2")
METHOD = (
    "The documented whole run is taken at its length and at ten times its length, each batch copied from the host, and "
    "once with the data on the device and one dispatch an epoch. Another process watches how busy the GPU and the CPU "
    "are from the first stage to the last. Of the whole run, building and compiling are the larger part the shorter "
    "it is, so that a longer one keeps the GPU busier in any case; whether shortness left it idle is told by the "
    "epochs alone, their validation included. The driver averages over up to a second, so that the first second of "
    "the epochs does not count for the GPU; the share has a dash where no more is left. The answer names a run that "
    "was not made."
)
WORKLOADS = ("mnist_mlp",)

_LONG = 10
_WAYS = (("plain", 1), ("plain", _LONG), ("resident", 1))
_COLUMNS = (
    "model", "backend", "run", "time", "of that training", "GPU busy", "GPU while training", "GPU at most",
    "CPU busy", "CPU while training", ON_ONE_HOST,
)  # fmt: skip


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
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
    return f"{units.pluralize((about.run.epochs if about.run else 1) * length, 'epoch')}, {where}"


def gpu(run: Run) -> float | None:
    """Return in which share of the time the GPU was busy; None where the run was too short to say."""
    seen = _gpu(run)
    return seen.utilisation.mean if seen and seen.utilisation else None


def gpu_at_most(run: Run) -> float | None:
    """Return the highest such share that the driver told."""
    seen = _gpu(run)
    return seen.utilisation.max if seen and seen.utilisation else None


def gpu_while_training(run: Run) -> float | None:
    """Return the share in the epochs alone; None where they are too short to say."""
    return while_training(run, lambda moment: moment.gpu_utilisation, settled=AVERAGED_SECONDS)


def cpu(run: Run) -> float | None:
    """Return how busy the machine's cores were, a share of all."""
    level = run.telemetry.cpu_utilisation if run.telemetry else None
    return level.mean if level else None


def cpu_while_training(run: Run) -> float | None:
    """Return the same in the epochs alone."""
    return while_training(run, lambda moment: moment.cpu_utilisation)


def _gpu(run: Run) -> GpuTelemetry | None:
    seen = run.telemetry
    return seen.gpus[0] if seen and seen.gpus and long_enough(seen) else None


def mean(item: Summary, of: Callable[[Run], float | None]) -> float | None:
    """Return the mean over the runs of which it is known."""
    known = [value for run in item.record.runs if not run.reason and (value := of(run)) is not None]
    return fmean(known) if known else None


def runs(records: Sequence[Record]) -> list[list[Summary]]:
    """Return the runs of each network and backend, those of its fullest campaign, in the order of this experiment."""
    return [
        sorted(group, key=lambda item: _WAYS.index((item.record.case.variant, item.record.case.length)))
        for group in fullest(records, _fits)
    ]


def read(records: Sequence[Record]) -> ExperimentResult | None:
    """Return how busy GPU and CPU were in runs of each kind; None if there is none."""
    answers, rows, points = [], [], []
    for ordered in runs(records):
        name, backend = ordered[0].record.workload, ordered[0].record.backend
        said = []
        for item in ordered:
            share = _shares(item)
            trained = mean(item, training_seconds) or None
            rows.append(
                (
                    Cell(text=name),
                    Cell(text=backend),
                    Cell(text=words(item)),
                    time_cell(item),
                    Cell(text=units.seconds(trained) if trained else units.DASH, sort=trained),
                    *map(_share, share),
                    one_host_cell(item),
                )
            )
            whole, training = share[:2]
            if whole is None or not item.complete:
                continue
            alone = f" ({units.percent(training)} while training)" if training is not None else ""
            said.append(f"{units.percent(whole)} in {words(item)}{alone}")
            points += [
                Point(series=series, value=100 * value, row=f"{name}, {words(item)}", text=units.percent(value))
                for series, value in (("whole run", whole), ("while training", training))
                if value is not None
            ]
        if said:
            answers.append(f"{name}: the GPU is busy {'; '.join(said)}.{_longer(ordered)}{_missing(ordered)}")
    if not rows:
        return None
    chart = Chart(
        caption="Share of the time in which the GPU worked: mean over the whole run, building and compiling included, "
        "and over its epochs alone.",
        across="GPU busy, %",
        points=tuple(points),
        whole=100.0,
    )
    title = "How busy GPU and CPU are during whole runs"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(rows))
    return ExperimentResult(answers=tuple(answers), tables=(table,), chart=chart if points else None)


def _shares(item: Summary) -> tuple[float | None, ...]:
    """Return how busy the GPU was, while training and at most, and the CPU, and that while training."""
    ways = (gpu, gpu_while_training, gpu_at_most)
    on_gpu = (mean(item, way) if item.record.backend == "gpu" else None for way in ways)
    return (*on_gpu, mean(item, cpu), mean(item, cpu_while_training))


def _longer(group: Sequence[Summary]) -> str:
    """Return what the longer run changes while training; nothing where either is not known."""
    plain = {item.record.case.length: item for item in group if item.record.case.variant == "plain" and item.complete}
    short, long = (mean(plain[each], gpu_while_training) if each in plain else None for each in (1, _LONG))
    if not short or long is None:
        return ""
    return f" {_LONG} times the epochs keep it {units.ratio(long / short)} as busy while training."


def _missing(group: Sequence[Summary]) -> str:
    """Return which runs on the GPU there are none of."""
    about, there = group[0].record.description, {(i.record.case.variant, i.record.case.length) for i in group}
    left = [_words(about, *way) for way in _WAYS if way not in there]
    return f" Not measured: {'; '.join(left)}." if left else ""


def _fits(record: Record) -> bool:
    case = record.case
    whole_run = case.scope == "run" and record.description.grid is None and not record.cut_short
    return whole_run and record.usual("variant", "length") and (case.variant, case.length) in _WAYS


def _share(value: float | None) -> Cell:
    return Cell(text=units.percent(value) if value is not None else units.DASH, sort=value)

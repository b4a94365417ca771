"""Is a GPU idle because the run is short? The documented run, ten times its length, and with the data on the device."""

from collections.abc import Callable, Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import untimed, usual_case, value_point
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence, share
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking
from suite.results.records.record import Record
from suite.results.records.run import GpuTelemetry, Run
from suite.results.single.telemetry_summary import AVERAGED_SECONDS, long_enough, training_seconds, while_training
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import number_cell, row_of, share_cell
from suite.results.views.table import HOSTS, STATUS, Table, standing_cells, time_cell
from suite.workload import Description

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
    "CPU busy", "CPU while training", STATUS, HOSTS,
)  # fmt: skip


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the runs on each backend: all three on the GPU, the documented one on the CPU."""
    return tuple(
        usual_case(about, backend, here, "run", variant=variant, length=length, allocator="tuned-malloc")
        for about in catalogue
        if about.run is not None and about.grid is None  # a search has its examples on the device
        for backend in here.backends
        for variant, length in (_WAYS if backend == "gpu" else _WAYS[:1])
    )


def words(pool: Pool) -> str:
    """Return which run a pool is of."""
    return _words(pool.newest.description, pool.case.variant, pool.case.length)


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


def busy(pool: Pool, of: Callable[[Run], float | None]) -> Estimate | None:
    """Return such a share over the hosts of a pool, at most 1; None if no process tells it."""
    found = share(pool, lambda record: of(record.runs[0]))
    return found and found.mapped(lambda end: min(end, 1.0))


def runs(evidence: Evidence) -> list[list[Pool]]:
    """Return the runs of each network and backend, in the order of this experiment."""
    return [
        sorted(group, key=lambda pool: _WAYS.index((pool.case.variant, pool.case.length)))
        for group in evidence.sides(_fits)
    ]


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return how busy GPU and CPU were in runs of each kind; None if there is none."""
    answers, rows, points, lead = [], [], [], ""
    groups = runs(evidence)
    for ordered in groups:
        name, backend = ordered[0].case.workload, ordered[0].case.backend
        said = []
        for pool in ordered:
            shares = _shares(pool)
            trained = share(pool, lambda record: training_seconds(record.runs[0]) or None)
            seconds = number_cell(trained and trained.value, units.seconds)
            cells = (time_cell(pool), seconds, *map(share_cell, shares), *standing_cells(pool.pooled))
            rows.append(row_of(name, backend, words(pool), *cells))
            whole, training = shares[:2]
            if whole is None:
                continue
            alone = f" ({units.percent(training.value)} while training)" if training else ""
            said.append(f"{units.percent(whole.value)} in {words(pool)}{alone}")
            solid, row = not any(lacking(pool.pooled)), f"{name}, {words(pool)}"
            for series, each in (("whole run", whole), ("while training", training)):
                if each is not None:
                    text = units.percent(each.value)
                    points.append(value_point(series, each.times(100), text, solid, row=row))
        if said:
            answers.append(f"{name}: the GPU is busy {'; '.join(said)}.{_longer(ordered)}{_missing(ordered)}")
            lead = lead or _lead(name, ordered)
    if not rows:
        return None
    chart = Chart(
        caption="Share of the time in which the GPU worked: mean over the whole run, building and compiling included, "
        "and over its epochs alone.",
        across="GPU busy, %",
        points=tuple(points),
        whole=100.0,
        finding="The GPU works {span} of the time",
    )
    title = "How busy GPU and CPU are during whole runs"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(rows), notes=untimed(evidence, _fits, groups))
    return ExperimentResult(answers=tuple(answers), tables=(table,), chart=chart if points else None, lead=lead)


def _shares(pool: Pool) -> tuple[Estimate | None, ...]:
    """Return how busy the GPU was, while training and at most, and the CPU, and that while training."""
    ways = (gpu, gpu_while_training, gpu_at_most)
    on_gpu = (busy(pool, way) if pool.case.backend == "gpu" else None for way in ways)
    return (*on_gpu, busy(pool, cpu), busy(pool, cpu_while_training))


def _lead(name: str, group: Sequence[Pool]) -> str:
    """Return how busy a short and a longer run keep the GPU while training; '' where either is not known."""
    short, long = _while_training(group)
    if short is None or long is None:
        return ""
    shares = [units.percent(share.value) for share in (short, long)]
    return f"{name} keeps the GPU busy {shares[0]} of its training, and {shares[1]} in {_LONG} times the epochs."


def _while_training(group: Sequence[Pool]) -> tuple[Estimate | None, ...]:
    """Return how busy the GPU is while training, in the usual run and in the longer one."""
    plain = {pool.case.length: pool for pool in group if pool.case.variant == "plain"}
    return tuple(busy(plain[each], gpu_while_training) if each in plain else None for each in (1, _LONG))


def _longer(group: Sequence[Pool]) -> str:
    """Return what the longer run changes while training; nothing where either is not known."""
    short, long = _while_training(group)
    if short is None or long is None or not short.value:
        return ""
    return f" {_LONG} times the epochs keep it {units.ratio(long.value / short.value)} as busy while training."


def _missing(group: Sequence[Pool]) -> str:
    """Return which runs on the GPU there are none of."""
    about, there = group[0].newest.description, {(each.case.variant, each.case.length) for each in group}
    left = [_words(about, *way) for way in _WAYS if way not in there]
    return f" Not measured: {'; '.join(left)}." if left else ""


def _fits(record: Record) -> bool:
    case = record.case
    whole_run = case.scope == "run" and case.data == "embedded" and record.description.grid is None
    return whole_run and record.usual("variant", "length") and (case.variant, case.length) in _WAYS

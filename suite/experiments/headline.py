"""How much faster is the GPU? The cases behind the speed-up that each article asks for."""

from collections.abc import Sequence
from statistics import geometric_mean

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import pooled_point, said_of, words
from suite.case import STARTING, Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import count_cell, row_of, slow_cpu_notes, speedup_cells, state_cells
from suite.results.views.table import Table
from suite.scopes import USUAL_SCOPES
from suite.workload import Description

TITLE = "How much faster is the GPU?"
TESTS = ("O3", "O11", "O12", "O15")
METHOD = (
    "One step of each article's network at its headline batch, float32 at highest precision on both sides, on the GPU "
    "against all granted cores of the same kind of machine. Each side is pooled over hosts."
)
WORKLOADS: tuple[str, ...] = ()  # see `usual`


def usual(catalogue: Sequence[Description]) -> tuple[str, ...]:
    """Return the workloads that are measured when none is named, that of the shortest step first."""
    chosen = sorted(catalogue, key=lambda about: about.batch * about.flop_per_example)
    return tuple(about.name for about in chosen if about.headline)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the usual scopes of both sides, as they are measured where nothing is asked for."""
    return tuple(
        Case(
            workload=about.name,
            backend=backend,
            scope=scope,
            batch=about.batch,
            data=here.data_of(about),
            allocator=STARTING if (backend, scope) == ("cpu", "cold") else here.allocator,
        )
        for about in catalogue
        for backend in here.backends
        for scope in USUAL_SCOPES
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return the speed-up of each network; None if there is none."""
    found = sorted((item for item in evidence.speedups if item.headline), key=lambda item: -item.ratio.value)
    if not found:
        return None
    rows = tuple(
        row_of(item.workload, count_cell(item.case.batch), *speedup_cells(item), *state_cells(item)) for item in found
    )
    chart = Chart(
        caption="CPU time over GPU time of one step on the same kind of machine.",
        across="CPU time / GPU time, log scale",
        points=tuple(pooled_point(item, "speed-up", row=item.workload) for item in found),
        level=1.0,
        finding="One step is {span} as fast on the GPU",
    )
    columns = ("model", "batch", "CPU step", "GPU step", "speed-up", "95 % interval", "status", "hosts")
    title = "One step in steady state, CPU and GPU of the same kind of machine"
    answers = tuple(
        f"{item.workload}: the GPU is {words(item.ratio.estimate)} as fast.{said_of([item])}" for item in found
    )
    table = Table(title=title, columns=columns, rows=rows, notes=tuple(slow_cpu_notes(found)))
    return ExperimentResult(answers=answers, tables=(table,), chart=chart, lead=_lead(found))


def _lead(items: Sequence[PooledSpeedUp]) -> str:
    """Return the geometric mean of all models, as on the machine's page, and the ends; '' of one model."""
    if len(items) < 2:
        return ""
    mean = geometric_mean(item.ratio.value for item in items)
    ends = items[-1], items[0]
    low, high = (f"{words(item.ratio.estimate)} for “{item.record.description.title}”" for item in ends)
    return (
        f"one step is {units.number(mean, digits=2)}x as fast on the GPU. That is "
        f"the geometric mean of {units.count(len(items))} models, from {low} to {high}.{said_of(items)}"
    )

"""How much of a step is dispatch? The tutorial's loop, one compiled step a call, and several steps a call."""

from collections.abc import Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import ratio_point, said_of_pooled, share, share_words, untimed, usual_case, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import ratio_cells, row_of
from suite.results.views.table import HOSTS, STATUS, Cell, Table, time_cell
from suite.workload import Description

TITLE = "How much of a step is dispatch?"
TESTS = ("O2", "O3")
METHOD = (
    "The same step is taken in three ways: nnx-jit as tutorials write it; plain, one compiled step a call; and "
    "scan, a loop of steps in one call, which pays for dispatch once. The share of dispatch is the extra time of a "
    "way over scan, divided by the way's own time, each pooled over hosts. nnx-jit also lacks donated buffers and "
    "compiler options, so its share is the whole cost of the tutorial's way. While a GPU waits for dispatch, no kernel "
    "runs: these gaps are what experiment kernels times by the GPU's own clock. If the loop surely costs more than it "
    "saves, no share is known: on a CPU, XLA runs some convolutions in a loop many times as slowly as outside (JAX's "
    "issue 12868)."
)
WORKLOADS = ("mnist_mlp", "cifar10_mlp", "catdog_cnn_base")

_WAYS = ("nnx-jit", "plain", "scan")
_BEST = "scan"
_SAVED = {"plain": "dispatch", "nnx-jit": "nnx.jit with its dispatch"}  # what a way has that scan has not
_STEPS = {"plain": "a compiled step", "nnx-jit": "a step as tutorials write it"}
_COLUMNS = ("model", "backend", "way", "step", "over scan", "95 % interval", "share of dispatch", STATUS,
            HOSTS)  # fmt: skip


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the step in each way on each backend that is there."""
    return tuple(
        usual_case(about, backend, here, variant=way)
        for about in catalogue
        for backend in here.backends
        for way in _WAYS
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return the share of dispatch by workload and backend; None if no workload was timed in two ways."""
    answers, rows, points, shares = [], [], [], []
    groups = list(evidence.sides(_fits, least=2))
    for group in groups:
        ways = {pool.case.variant: pool for pool in group}
        best, name, backend = ways.get(_BEST), group[0].case.workload, group[0].case.backend
        saved = {way: over(pool, best) for way, pool in ways.items() if best is not None and pool is not best}
        for way in filter(ways.__contains__, _WAYS):
            pool, ratio = ways[way], saved.get(way)
            over_scan, interval, *standing = ratio_cells(pool, best, ratio, f"no {_BEST} beside it")
            share = _share_cell(ratio and ratio.estimate)
            rows.append(row_of(name, backend, way, time_cell(pool), over_scan, interval, share, *standing))
            if ratio is not None:
                points.append(ratio_point(way, ratio, row=f"{name}, {backend.upper()}"))
                shares.append((pool, ratio))
        said = "; ".join(_saved(way, saved[way].estimate) for way in _WAYS if way in saved)
        text = said or f"not known, as {_BEST} was not measured"
        answers.append(f"{name} on the {backend.upper()}: {text}.{said_of_pooled(saved.values())}")
    if not answers:
        return None
    chart = Chart(
        caption="Time of one step over its time inside a call of several; above 1 it pays for dispatch.",
        across="time / scan's time, log scale",
        points=tuple(points),
        level=1.0,
        finding="A step takes {span} as long as inside a call of several",
    )
    title = "One step in three ways"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(rows), notes=untimed(evidence, _fits, groups))
    lead = _lead(shares)
    return ExperimentResult(answers=tuple(answers), tables=(table,), chart=chart, lead=lead)


def _lead(shares: Sequence[tuple[Pool, Pooled]]) -> str:
    """Return the greatest share that each way's call surely takes of its step; '' if it surely takes one of none."""
    sure = [(pool, ratio) for pool, ratio in shares if (share(ratio.estimate)[1] or 0) > 0]
    clauses, gains = [], []
    for way, step in _STEPS.items():
        own = [each for each in sure if each[0].case.variant == way]
        if own:
            pool, ratio = max(own, key=lambda each: each[1].value)
            place = f"that of {pool.case.workload} on the {pool.case.backend.upper()}"
            clauses.append(f"{_SAVED[way]} takes up to {share_words(ratio.estimate)} of {step}, {place}")
            gains.append(ratio)
    return f"{'; '.join(clauses)}.{said_of_pooled(gains)}" if clauses else ""


def _fits(record: Record) -> bool:
    return record.case.variant in _WAYS and record.headline_step("variant")


def _saved(way: str, over: Estimate) -> str:
    if _loop_costs(over):
        return f"inside a call of several a step takes {words(over.per(1))} as long as in {way}"
    low = share(over)[1]
    if low is not None and low <= 0:
        return f"whether dispatch takes a share of {way} is not separated from the noise"
    return f"{_SAVED[way]} is {share_words(over)} of {way}"


def _loop_costs(over: Estimate) -> bool:
    value, _, high = share(over)
    return (value if high is None else high) <= 0


def _share_cell(over: Estimate | None) -> Cell:
    if over is None:
        return Cell(text=units.DASH, remark="the others are set against it, or it has no time")
    if _loop_costs(over):
        return Cell(text=units.DASH, remark="inside a call of several a step takes longer, so no share is known")
    return Cell(text=share_words(over), sort=share(over)[0])

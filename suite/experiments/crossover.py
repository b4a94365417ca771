"""At which batch size does the GPU win? Speed-up of one step over the batch."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import from_size, pooled_point, said_of, usual_case, value_point, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.single.summary import summary
from suite.results.stats.fit import Crossing, crossing
from suite.results.views.experiment_result import Chart, ChartLine, ExperimentResult, Point
from suite.results.views.rows import count_cell, row_of, speedup_cells, state_cells
from suite.results.views.table import Cell, Table
from suite.workload import Description

TITLE = "At which batch size does the GPU win?"
TESTS = ("O26",)
METHOD = (
    "The speed-up of one step is measured at several batch sizes, each side pooled over hosts. Between neighbouring "
    "sizes its logarithm is taken to be linear in the logarithm of the batch. The GPU wins from where the speed-up "
    "comes to be above 1 for good; the interval of that batch ends where the ends of the speed-up's 95 % interval do, "
    "which makes it rather too wide than too narrow. "
    "An invalid one does not count. What may not be quoted is drawn hollow."
)
WORKLOADS = ("cifar10_mlp", "cifar10_tf_cnn")

_BATCHES = (1, 4, 16, 64, 256, 1024)
_SWEEPS = {"cifar10_tf_cnn": (32, 128, 512, 2048, 4096)}  # 32 to 4,096, as O26 asks; 512 is where it was documented
_LARGEST_FLOP = 1e12  # of a step: several seconds on a few cores
_COLUMNS = ("model", "batch", "CPU step", "GPU step", "speed-up", "95 % interval", "GPU examples/s", "status",
            "hosts")  # fmt: skip


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return both sides at each batch. Raises RuntimeError if one of them is not there."""
    here.need_gpu("crossover")
    here.need_cpu("crossover")
    return tuple(
        usual_case(about, backend, here, batch=batch)
        for about in catalogue
        for batch in batches(about)
        for backend in here.backends
    )


def batches(about: Description) -> tuple[int, ...]:
    """Return the batch sizes of a workload: those asked for, else as many as fit a sensible time."""
    asked = _SWEEPS.get(about.name)
    return asked or tuple(
        b for b in _BATCHES if b <= _BATCHES[1] or b <= about.batch or b * about.flop_per_example <= _LARGEST_FLOP
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return from which batch on the GPU wins, by workload; None if no workload has two batch sizes."""
    sweeps = _sweeps(evidence.speedups)
    if not sweeps:
        return None
    answers, rows, points, lines, rates = [], [], [], [], []
    for name, sweep in sweeps.items():
        found = crossing([(item.case.batch, item.ratio.estimate) for item in sweep if _counted(item)])
        answers.append(answer(name, found, sweep))
        rows += [_row(item) for item in sweep]
        points += [pooled_point(item, name, at=item.case.batch) for item in sweep]
        rates += [_rate(side, item.quotable) for item in sweep for side in (item.cpu, item.gpu)]
        if found.outcome == "from":
            lines.append(_line(name, found, points))
    chart = Chart(
        caption="CPU time over GPU time of one step; above 1 the GPU wins. The thick line on 1 is the interval of the "
        "batch from which it does.",
        across="batch, log scale",
        up="CPU time / GPU time",
        points=tuple(points),
        lines=tuple(lines),
        level=1.0,
        joined=True,
    )
    throughput = Chart(
        name="throughput",
        caption="Examples a second of both sides. A side that still gains from a larger batch has room left.",
        across="batch, log scale",
        up="examples/s, log scale",
        points=tuple(rates),
        joined=True,
    )
    title = "One step at each batch size, CPU and GPU of the same kind of machine"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(rows), notes=tuple(_untimed(evidence, sweeps)))
    return ExperimentResult(answers=tuple(answers), tables=(table,), chart=chart, beside=(throughput,))


def answer(name: str, found: Crossing, sweep: Sequence[PooledSpeedUp]) -> str:
    """Return the answer as a sentence; which end is open is said."""
    counted = [item for item in sweep if _counted(item)]
    shown = counted or sweep
    first, last = shown[0], shown[-1]
    smallest, largest = (units.count(item.case.batch) for item in (first, last))
    span = f"of the {len(shown)} batches that were timed, from {smallest} to {largest}"
    if found.outcome == "always":
        said = f"the GPU wins at all {span}: at {smallest} it is {words(first.ratio.estimate)} as fast"
    elif found.outcome == "never":
        said = f"the CPU wins at all {span}: at {largest} the GPU is {words(last.ratio.estimate)} as fast"
    elif found.outcome == "not separated":
        said = f"from where on the GPU wins is not separated from the noise, {span}"
    else:
        said = f"the GPU wins from a batch {from_size(found)}"
    return f"{name}: {said}." + said_of(counted)


def _counted(item: PooledSpeedUp) -> bool:
    return item.state != "invalid"


def _sweeps(speedups: Sequence[PooledSpeedUp]) -> dict[str, list[PooledSpeedUp]]:
    """Return each workload's speed-ups by size, if there are at least two, by name."""
    found: dict[str, list[PooledSpeedUp]] = defaultdict(list)
    steps = (item for item in speedups if item.record.headline_step("batch"))
    for item in sorted(steps, key=lambda item: (item.workload, item.case.batch)):
        found[item.workload].append(item)
    return {name: sweep for name, sweep in found.items() if len(sweep) > 1}


def _rate(side: Pool, quotable: bool) -> Point:
    rate, case = side.seconds.per(side.case.batch), side.case
    series = f"{case.workload}, {case.backend.upper()}"
    return value_point(series, rate, units.quantity(rate.value, "examples/s"), quotable, at=case.batch)


def _line(name: str, found: Crossing, points: Sequence[Point]) -> ChartLine:
    mine = [p.at for p in points if p.series == name and p.at is not None]
    return ChartLine(series=name, ends=((found.low or min(mine), 1.0), (found.high or max(mine), 1.0)), thick=True)


def _row(item: PooledSpeedUp) -> tuple[Cell, ...]:
    rate = item.case.batch / item.gpu.seconds.value
    state, hosts = state_cells(item)
    size, shown = count_cell(item.case.batch), Cell(text=units.quantity(rate, ""), sort=rate)
    return row_of(item.workload, size, *speedup_cells(item), shown, state, hosts)


def _untimed(evidence: Evidence, sweeps: Mapping[str, Sequence[PooledSpeedUp]]) -> Iterator[str]:
    """Yield a note for each batch of these workloads that was asked for and has no speed-up."""
    there = {(name, item.case.batch) for name, sweep in sweeps.items() for item in sweep}
    asked = (r for r in evidence.records if r.workload in sweeps and r.headline_step("batch"))
    missing = {(r.workload, r.case.batch): "; ".join(summary(r).reasons) for r in asked}
    for (name, batch), why in sorted(missing.items()):
        if (name, batch) not in there:
            yield f"{name} at batch {units.count(batch)} has no speed-up: {why or 'one side was not measured'}."

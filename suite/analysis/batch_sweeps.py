"""Speed-up and throughput over the batch: from which batch the GPU wins, and from which a larger one gains little."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from suite import units
from suite.analysis.steps import from_size, pooled_point, said_of, value_point, words
from suite.results.pooled.machine_evidence import Evidence, rate_over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.single.summary import summary
from suite.results.stats.fit import Crossing, crossing
from suite.results.stats.pooling import Pooled
from suite.results.views.experiment_result import Chart, ChartLine, Point
from suite.results.views.rows import count_cell, number_cell, row_of, speedup_cells, state_cells
from suite.results.views.table import Cell, Table

LITTLE = 0.10  # gain of a larger batch
_COLUMNS = ("model", "batch", "CPU step", "GPU step", "speed-up", "95 % interval", "GPU examples/s", "status",
            "hosts", "CPU: best larger batch", "GPU: best larger batch")  # fmt: skip

Sweeps = Mapping[str, Sequence[PooledSpeedUp]]


def sweeps_of(speedups: Sequence[PooledSpeedUp]) -> Sweeps:
    """Return each workload's speed-ups by batch, if there are at least two, by name."""
    sweeps: dict[str, list[PooledSpeedUp]] = defaultdict(list)
    steps = (item for item in speedups if item.record.headline_step("batch"))
    for item in sorted(steps, key=lambda item: (item.workload, item.case.batch)):
        sweeps[item.workload].append(item)
    return {name: sweep for name, sweep in sweeps.items() if len(sweep) > 1}


def crossed(sweep: Sequence[PooledSpeedUp]) -> Crossing:
    """Return from which batch on the GPU wins."""
    return crossing([(item.case.batch, item.ratio.estimate) for item in sweep if _counted(item)])


def chart(sweeps: Sweeps) -> Chart:
    """Return the speed-ups over the batch."""
    points = [pooled_point(item, name, at=item.case.batch) for name, sweep in sweeps.items() for item in sweep]
    crossings = {name: crossed(sweep) for name, sweep in sweeps.items()}
    return Chart(
        name="speedups",
        caption="CPU time over GPU time of one step; above 1 the GPU wins. The thick line on 1 is the interval of the "
        "batch from which it does.",
        across="batch, log scale",
        up="CPU time / GPU time",
        points=tuple(points),
        lines=tuple(interval(name, one, points) for name, one in crossings.items() if one.outcome == "from"),
        level=1.0,
        joined=True,
        finding="One step is {span} as fast on the GPU",
    )


def interval(series: str, turn: Crossing, points: Sequence[Point]) -> ChartLine:
    """Return the interval of a crossing as a thick line on 1; an open end goes to the end of the series."""
    places = [point.at for point in points if point.series == series and point.at is not None]
    return ChartLine(series=series, ends=((turn.low or min(places), 1.0), (turn.high or max(places), 1.0)), thick=True)


def throughput(sweeps: Sweeps) -> Chart:
    """Return the examples a second of both sides over the batch."""
    rates = [_rate(side, item.quotable) for sweep in sweeps.values() for item in sweep for side in (item.cpu, item.gpu)]
    return Chart(
        caption="Examples a second of both sides. A side that still gains from a larger batch has room left.",
        across="batch, log scale",
        up="examples/s, log scale",
        finding="Up to {most}",
        points=tuple(rates),
        joined=True,
    )


def table(evidence: Evidence, sweeps: Sweeps) -> Table:
    """Return a row for each batch; notes name the batches without a speed-up."""
    return Table(
        title="One step at each batch size, CPU and GPU of the same kind of machine",
        columns=_COLUMNS,
        rows=tuple(_row(item, sweep) for sweep in sweeps.values() for item in sweep),
        notes=tuple(_untimed(evidence, sweeps)),
    )


def answer(name: str, sweep: Sequence[PooledSpeedUp]) -> str:
    """Return from which batch the GPU wins, and from which a larger one gains little; an open end is said."""
    turn, counted = crossed(sweep), [item for item in sweep if _counted(item)]
    shown = counted or sweep
    first, last = shown[0], shown[-1]
    smallest, largest = (units.count(item.case.batch) for item in (first, last))
    span = f"of the {len(shown)} batches that were timed, from {smallest} to {largest}"
    if turn.outcome == "always":
        clause = f"the GPU wins at all {span}: at {smallest} it is {words(first.ratio.estimate)} as fast"
    elif turn.outcome == "never":
        clause = f"the CPU wins at all {span}: at {largest} the GPU is {words(last.ratio.estimate)} as fast"
    elif turn.outcome == "not separated":
        clause = f"from where on the GPU wins is not separated from the noise, {span}"
    else:
        clause = f"the GPU wins from a batch {from_size(turn)}"
    return f"{name}: {clause}.{_filled(counted)}{said_of(counted)}"


def gain_left(pool: Pool, pools: Sequence[Pool]) -> Pooled | None:
    """Return the examples a second of the best larger batch over this one's; None for the largest."""
    larger = [other for other in pools if other.case.batch > pool.case.batch]
    return max((rate_over(other, pool) for other in larger), key=lambda gain: gain.value, default=None)


def filled_from(pools: Sequence[Pool]) -> Pool | None:
    """Return the smallest batch over which no larger one gains LITTLE or more; None if the largest still does."""
    for pool in sorted(pools, key=lambda pool: pool.case.batch):
        gain = gain_left(pool, pools)
        if gain is not None and gain.value < 1 + LITTLE:
            return pool
    return None


def _filled(sweep: Sequence[PooledSpeedUp]) -> str:
    """Return, as a sentence, from which batch a larger one gains little on each side; '' without two batches."""
    if len(sweep) < 2:
        return ""
    sides = {"CPU": [item.cpu for item in sweep], "GPU": [item.gpu for item in sweep]}
    clauses = []
    for side, pools in sides.items():
        enough = filled_from(pools)
        last = units.count((enough or pools[-1]).case.batch)
        little = (
            f"less than {units.percent(LITTLE)} beyond {last}"
            if enough
            else f"{units.percent(LITTLE)} or more up to {last}"
        )
        clauses.append(f"on the {side} {little}")
    return f" A larger batch gains {', '.join(clauses)}."


def _counted(item: PooledSpeedUp) -> bool:
    return item.state != "invalid"


def _rate(side: Pool, quotable: bool) -> Point:
    rate, case = side.seconds.per(side.case.batch), side.case
    text = f"{units.quantity(rate.value, '')} examples/s"
    return value_point(case.backend.upper(), rate, text, quotable, at=case.batch, panel=case.workload)


def _row(item: PooledSpeedUp, sweep: Sequence[PooledSpeedUp]) -> tuple[Cell, ...]:
    rate = item.case.batch / item.gpu.seconds.value
    size, shown = count_cell(item.case.batch), Cell(text=units.quantity(rate, ""), sort=rate)
    gains = gain_left(item.cpu, [one.cpu for one in sweep]), gain_left(item.gpu, [one.gpu for one in sweep])
    left = [number_cell(gain and gain.value, units.ratio, why="the largest batch") for gain in gains]
    return row_of(item.workload, size, *speedup_cells(item), shown, *state_cells(item), *left)


def _untimed(evidence: Evidence, sweeps: Sweeps) -> Iterator[str]:
    """Yield a note for each batch of these workloads that was asked for and has no speed-up."""
    timed = {(name, item.case.batch) for name, sweep in sweeps.items() for item in sweep}
    asked = (r for r in evidence.records if r.workload in sweeps and r.headline_step("batch"))
    missing = {(r.workload, r.case.batch): "; ".join(summary(r).reasons) for r in asked}
    for (name, batch), why in sorted(missing.items()):
        if (name, batch) not in timed:
            yield f"{name} at batch {units.count(batch)} has no speed-up: {why or 'one side was not measured'}."

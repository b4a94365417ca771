"""At which batch size does the GPU win? Speed-up of one step over the batch."""

from collections import defaultdict
from collections.abc import Sequence

from suite import units
from suite.inquiry.here import Here
from suite.inquiry.steps import caveat, from_size, point, solid, step, words
from suite.results.crossing import Crossing, crossing
from suite.results.reading import Chart, Line, Point, Reading
from suite.results.record import Record
from suite.results.selection import campaign_recency
from suite.results.speedup import SpeedUp, speedups
from suite.results.summary import Summary, summary
from suite.results.table import ON_ONE_HOST, Cell, Table, one_host_cell, time_cell, times_cells
from suite.workload import Case, Description

TITLE = "At which batch size does the GPU win?"
TESTS = ("O26",)
METHOD = (
    "The speed-up of one step is measured at several batch sizes, CPU and GPU in the same rounds. Between neighbouring "
    "sizes its logarithm is taken to be linear in the logarithm of the batch. The GPU wins from where the speed-up "
    "comes to be above 1 for good; the interval of that batch ends where the ends of the speed-up's 95 % interval do, "
    "which makes it rather too wide than too narrow. "
    "A result that is not whole or makes no sense is drawn hollow and not counted; an unsteady one is drawn hollow."
)
WORKLOADS = ("cifar10_mlp", "cifar10_tf_cnn")

_BATCHES = (1, 4, 16, 64, 256, 1024)
_SWEEPS = {"cifar10_tf_cnn": (32, 128, 512, 2048, 4096)}  # 32 to 4,096, as O26 asks; 512 is where it was documented
_LARGEST_FLOP = 1e12  # of a step: several seconds on a few cores
_COLUMNS = ("model", "batch", "CPU step", "GPU step", "speed-up", "95 % interval", "GPU examples/s", ON_ONE_HOST)


def cases(catalogue: Sequence[Description], here: Here) -> tuple[Case, ...]:
    """Return both sides at each batch. Raises RuntimeError if one of them is not there."""
    here.need_gpu("crossover")
    here.need_cpu("crossover")
    return tuple(
        step(about, backend, here, batch=batch)
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


def read(records: Sequence[Record]) -> Reading | None:
    """Return from which batch on the GPU wins, by workload; None if no workload has two batch sizes."""
    sweeps = _sweeps(records)
    if not sweeps:
        return None
    answers, rows, points, lines, rates = [], [], [], [], []
    for sweep in sweeps:
        name, mine = sweep[0].gpu.record.workload, _with_both(records, sweep)
        found = crossing([(item.gpu.record.case.batch, item.ratio) for item in sweep if _counted(item)])
        answers.append(answer(name, found, sweep))
        rows += mine
        points += [_point(item) for item in sweep]
        rates += [_rate(side) for item in sweep for side in (item.cpu, item.gpu)]
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
    title = "One step at each batch size, CPU and GPU of the same machine"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(rows))
    return Reading(answers=tuple(answers), tables=(table,), chart=chart, beside=(throughput,))


def answer(name: str, found: Crossing, sweep: Sequence[SpeedUp]) -> str:
    """Return the answer as a sentence; which end is open is said."""
    counted = [item for item in sweep if _counted(item)]
    shown = counted or sweep
    first, last = shown[0], shown[-1]
    smallest, largest = (units.count(item.gpu.record.case.batch) for item in (first, last))
    span = f"of the {len(shown)} batches that were timed, from {smallest} to {largest}"
    if found.outcome == "always":
        said = f"the GPU wins at all {span}: at {smallest} it is {words(first.ratio)} as fast"
    elif found.outcome == "never":
        said = f"the CPU wins at all {span}: at {largest} the GPU is {words(last.ratio)} as fast"
    elif found.outcome == "not separated":
        said = f"from where on the GPU wins is not separated from the noise, {span}"
    else:
        said = f"the GPU wins from a batch {from_size(found)}"
    return f"{name}: {said}." + caveat(counted)


def _counted(item: SpeedUp) -> bool:
    return item.whole


def _sweeps(records: Sequence[Record]) -> list[list[SpeedUp]]:
    """Return each workload's current campaign with at least two batch sizes, by size."""
    campaigns: dict[tuple[str, str], dict[int, SpeedUp]] = defaultdict(dict)
    for item in speedups(record for record in records if record.headline_step("batch")):
        record = item.gpu.record
        campaigns[record.workload, record.campaign][record.case.batch] = item
    latest: dict[str, list[SpeedUp]] = {}
    groups = [[sizes[size] for size in sorted(sizes)] for sizes in campaigns.values() if len(sizes) > 1]
    for group in sorted(groups, key=lambda g: campaign_recency(item.gpu.record for item in g)):
        latest[group[0].gpu.record.workload] = group
    return [latest[name] for name in sorted(latest)]


def _point(item: SpeedUp) -> Point:
    record = item.gpu.record
    return point(record.workload, item.ratio, item, at=record.case.batch)


def _rate(side: Summary) -> Point:
    rate, record = side.examples_per_second_estimate, side.record
    assert rate is not None, "a speed-up has times of both sides"
    return Point(
        series=f"{record.workload}, {record.backend.upper()}",
        value=rate.value,
        low=rate.low,
        high=rate.high,
        at=record.case.batch,
        text=units.quantity(rate.value, "examples/s"),
        solid=solid(side),
    )


def _line(name: str, found: Crossing, points: Sequence[Point]) -> Line:
    mine = [p.at for p in points if p.series == name and p.at is not None]
    return Line(series=name, ends=((found.low or min(mine), 1.0), (found.high or max(mine), 1.0)), wide=True)


def _with_both(records: Sequence[Record], sweep: Sequence[SpeedUp]) -> list[tuple[Cell, ...]]:
    """Return a row for each batch, also where one side failed."""
    campaign, name = sweep[0].gpu.record.campaign, sweep[0].gpu.record.workload
    sides: dict[int, dict[str, Summary]] = defaultdict(dict)
    for record in records:
        if (record.campaign, record.workload) == (campaign, name) and record.headline_step("batch"):
            sides[record.case.batch].setdefault(record.backend, summary(record))
    for item in sweep:
        sides[item.gpu.record.case.batch] |= {"cpu": item.cpu, "gpu": item.gpu}
    gains = {item.gpu.record.case.batch: item for item in sweep}
    rows = []
    for batch in sorted(sides):
        cpu, gpu = sides[batch].get("cpu"), sides[batch].get("gpu")
        there = [side for side in (cpu, gpu) if side is not None]
        rate = gpu.examples_per_second if gpu else None
        gain = gains.get(batch)
        why = "; ".join(reason for side in there for reason in side.reasons) or "one side was not measured"
        rows.append(
            (
                Cell(text=name),
                Cell(text=units.count(batch), sort=batch),
                time_cell(cpu),
                time_cell(gpu),
                *times_cells(gain and gain.ratio, gpu.record if gpu else None, why),
                Cell(text=units.quantity(rate, ""), sort=rate),
                one_host_cell(gain) if gain else one_host_cell(*there),
            )
        )
    return rows

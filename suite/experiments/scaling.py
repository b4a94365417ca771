"""How much faster are several GPUs? One batch split over them, a batch as many times as large, and a second one."""

from collections.abc import Iterator, Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.devices import COUNTS, Side, asked, cells_by_workload, said, second, strong, weak
from suite.analysis.steps import ratio_point, share, share_words, untimed, usual_case
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, ChartLine, ExperimentResult, Point
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import HOSTS, STATUS, Cell, Table, base_cells, standing_cells, time_cell, times_cells
from suite.workload import Description

TITLE = "How much faster are several GPUs?"
TESTS = ("O13", "O14")
METHOD = (
    "Each batch is split over the GPUs, parameters lie on all of them, and XLA sums the gradients and the sums that "
    "batch norms need: it is the training that one GPU does, which a test shows for each family of networks. Where "
    "one GPU took the same batch too and their first losses differ by more than 1e-3 there is no number; the tables "
    "say how far they are. Strong scaling splits the headline batch, weak scaling gives each GPU a headline batch of "
    "its own. Speed is work in the same time, one GPU's with the headline batch being 1, each pooled over hosts; "
    "efficiency is speed over the number of GPUs. It can be above 100 %: where one GPU needs longer for an example of "
    "the whole batch than of its part, the whole batch does not suit it. What the collectives take is derived: 1 minus "
    "the time in which one GPU takes a step with its part of the batch over the time in which all take a step with "
    "theirs. "
    "That holds the waiting for each other and the launches on several GPUs too, so the collectives' own share is at "
    "most that; what XLA hides behind other work is not in it. A second GPU pays from the batch from which two are "
    "for good faster than one, read off as the batch from which a GPU wins is."
)
WORKLOADS = ("cifar10_resnet63", "catdog_cnn_128", "cifar10_mlp", "gbdt_mortgage")
GPUS = 2

_TIMES = (1, 4, 16, 64)  # the headline batch, to find where a second GPU pays
_LARGEST_FLOP = 2e13  # of a step: half a second on a large GPU in full float32
_COLUMNS = ("model", "GPUs", "batch", "step", "speed", "95 % interval", "efficiency", "95 % interval",
            "collectives at most (derived)", "first losses apart", STATUS, HOSTS)  # fmt: skip
_STRONG = "Strong scaling: the headline batch split over the GPUs"
_WEAK = "Weak scaling: each GPU has a headline batch of its own"
_SECOND = ("model", "batch", "one GPU", "two GPUs", "speed of two", "95 % interval", STATUS, HOSTS)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the step on each number of GPUs, and on one with their parts of the batch.

    Raises RuntimeError if there are no two GPUs. A batch that does not divide is left out; the result says so.
    """
    here.need_gpus("scaling", GPUS)
    return tuple(
        usual_case(about, "gpu", here, devices=devices, batch=batch)
        for about in catalogue
        for devices, batch in settings(about, here.gpus)
    )


def settings(about: Description, gpus: int) -> tuple[tuple[int, int], ...]:
    """Return the devices and batches that a workload is timed with."""
    there = [count for count in COUNTS if count <= gpus]
    parts = [about.batch // count for count in there if not about.batch % count]
    wanted = [(1, part) for part in parts]
    wanted += [(count, batch) for count in there for batch in (about.batch, count * about.batch)]
    wanted += [(count, batch) for batch in batches(about) for count in (1, 2)]
    wanted += [(1, size) for size in (count * about.batch for count in there) if _sensible(about, size)]
    return tuple(sorted({(count, batch) for count, batch in wanted if not batch % count}))


def batches(about: Description) -> tuple[int, ...]:
    """Return the batches that one GPU and two are timed with: as many as fit a sensible time, two at least.

    Of steps without FLOP there are two, as nothing says how long more would take.
    """
    sizes = [times * about.batch for times in _TIMES]
    few = [size for size in sizes[2:] if _sensible(about, size)]
    return tuple(size for size in (*sizes[:2], *few) if not size % 2)


def _sensible(about: Description, batch: int) -> bool:
    """Return whether a step on one GPU is known not to take long."""
    return 0 < batch * about.flop_per_example <= _LARGEST_FLOP


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return how the speed grows with the GPUs, and where a second one pays; None if none was timed on several."""
    sweeps = cells_by_workload(evidence)
    if not sweeps:
        return None
    shared = {name: strong(cells) for name, cells in sweeps.items()}
    own = {name: weak(cells) for name, cells in sweeps.items()}
    pairs = {name: second(cells) for name, cells in sweeps.items()}
    answers = tuple(f"{name}: {said(cells, shared[name], own[name], pairs[name])}" for name, cells in sweeps.items())
    rows = tuple(row for name, mine in pairs.items() for row in _pair_rows(name, mine))
    return ExperimentResult(
        answers=answers,
        tables=(
            _table(_STRONG, shared, untimed(evidence, asked, (tuple(cells.values()) for cells in sweeps.values()))),
            _table(_WEAK, own),
            Table(title="A second GPU, by batch", columns=_SECOND, rows=rows),
        ),
        chart=_chart(_STRONG, shared),
        beside=(_chart(_WEAK, own, "weak"), _second_chart(pairs)),
    )


def _table(title: str, sides: dict[str, tuple[Side, ...]], notes: tuple[str, ...] = ()) -> Table:
    rows = tuple(row for name, mine in sides.items() for row in _rows(name, mine))
    return Table(title=title, columns=_COLUMNS, rows=rows, notes=notes)


def _rows(name: str, sides: Sequence[Side]) -> Iterator[tuple[Cell, ...]]:
    for side in sides:
        item, alone = side.item, side.devices == 1
        speed = base_cells(item.newest) if alone and item else _speed(side)
        seen = (*_percent_cells(side.efficiency), _adding_cell(side.adding), _away(side))
        standing = standing_cells(item.pooled if alone and item else side.speed, side.why)
        size = (count_cell(side.devices), count_cell(side.batch))
        yield row_of(name, *size, time_cell(item), *speed, *seen, *standing)


def _speed(side: Side) -> tuple[Cell, Cell]:
    return times_cells(side.speed and side.speed.estimate, side.item and side.item.newest, side.why)


def _adding_cell(adding: Pooled | None) -> Cell:
    if adding is None:
        return Cell(text=units.DASH, remark="one GPU has nothing to add up, or its part of the batch was not timed")
    return Cell(text=share_words(adding.estimate), sort=share(adding.estimate)[0])


def _away(side: Side) -> Cell:
    """Return how far the first loss is from that of one GPU with the same batch: whether it is the same training."""
    if side.devices == 1 or side.item is None:
        return Cell(text=units.DASH, remark="the others are set against it" if side.item else "not measured")
    if side.away is None:
        return Cell(text=units.DASH, remark="one GPU did not take this batch, or no round of it with the same inputs")
    return Cell(text=units.scientific(side.away), sort=side.away)


def _pair_rows(name: str, pairs: Sequence[Side]) -> Iterator[tuple[Cell, ...]]:
    for side in pairs:
        times = (time_cell(side.base), time_cell(side.item))
        yield row_of(name, count_cell(side.batch), *times, *_speed(side), *standing_cells(side.speed, side.why))


def _percent_cells(of: Estimate | None) -> tuple[Cell, Cell]:
    if of is None:
        return Cell(text=units.DASH, remark="there is no speed"), Cell(text=units.DASH)
    ends = (None if of.low is None else 100 * of.low, None if of.high is None else 100 * of.high)
    width = units.half_width(*ends)
    return Cell(text=f"{units.number(100 * of.value, width)} %", sort=of.value), Cell(text=units.interval(*ends))


def _chart(title: str, sides: dict[str, tuple[Side, ...]], name: str = "") -> Chart:
    """Return speed over GPUs beside the ideal line."""
    points = [p for workload, mine in sides.items() for p in _points(workload, mine)]
    most = max((p.at or 1.0 for p in points), default=1.0)
    return Chart(
        name=name,
        caption=f"{title}. Work in the same time, one GPU's being 1. Grey: as many times the speed as GPUs.",
        across="GPUs, log scale",
        up="speed, one GPU = 1",
        points=tuple(points),
        finding="With more GPUs the work is done up to {most} as fast",
        lines=(ChartLine(series="ideal", ends=((1.0, 1.0), (most, most)), text="ideal"),),
        joined=True,
    )


def _points(workload: str, sides: Sequence[Side]) -> Iterator[Point]:
    timed = [ratio_point(workload, side.speed, at=side.devices) for side in sides if side.speed is not None]
    if timed:
        yield Point(series=workload, value=1.0, at=1)
        yield from timed


def _second_chart(pairs: dict[str, tuple[Side, ...]]) -> Chart:
    return Chart(
        name="second",
        caption="Speed of two GPUs over that of one at the same batch; above 1 the second one pays.",
        across="batch, log scale",
        up="speed of two GPUs, one = 1",
        points=tuple(
            ratio_point(name, side.speed, at=side.batch)
            for name, mine in pairs.items()
            for side in mine
            if side.speed is not None
        ),
        level=1.0,
        joined=True,
        finding="Two GPUs are {span} as fast as one",
    )

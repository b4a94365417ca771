"""Thresholds as sentences, a chart and a table: below how much work in a call the CPU wins, by way of writing it."""

from collections.abc import Iterator, Sequence

from suite import units
from suite.analysis.batch_sweeps import interval
from suite.analysis.steps import ratio_point, words
from suite.families import BATCH
from suite.results.pooled.thresholds import UNITS, USUAL_DEPTH, Call, Threshold, Unit
from suite.results.stats.fit import Crossing
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import count_cell, number_cell, row_of
from suite.results.views.table import Cell, Table, standing_cells, time_cell, times_cells

_COLUMNS = ("model", "way", "batch", "work of a call", "CPU step", "GPU step", "speed-up", "95 % interval", "status",
            "hosts")  # fmt: skip
_WHAT = {"crossover_mlp": "a training step", "crossover_trees": "a boosting round"}
CONDITIONS = {
    "crossover_mlp": f"dense networks of {USUAL_DEPTH} hidden layers at batch {BATCH} in float32, "
    "the batch on the device, all cores",
    "crossover_trees": "trees of depth 8, elements being rows times columns, the table on the device, all cores",
}


def answers(thresholds: Sequence[Threshold]) -> tuple[str, ...]:
    """Return a sentence for each family on which work the CPU wins, and one on what else moves that."""
    return tuple(
        _answer(family, [item for item in thresholds if item.family == family]) for family in _families(thresholds)
    )


def _families(thresholds: Sequence[Threshold]) -> tuple[str, ...]:
    return tuple(family for family in UNITS if any(item.family == family for item in thresholds))


def _answer(family: str, thresholds: Sequence[Threshold]) -> str:
    wins = "; ".join(f"as {item.way} {clause(item)}" for item in thresholds if item.found.outcome != "always")
    loses = " or ".join(
        f"as {item.way} (timed from {work_words(item.usual[0].work, item.unit)} up)"
        for item in thresholds
        if item.found.outcome == "always"
    )
    sentence = f"The CPU wins {_WHAT[family]}, written {wins}." if wins else f"The CPU wins {_WHAT[family]} nowhere"
    if loses:
        sentence += f" Written {loses}, it wins nowhere." if wins else f", written {loses}."
    doubts = {item.way: item.reasons[0] for item in thresholds if item.reasons}
    quoted = f" Not to be quoted yet: {_named(doubts, len(thresholds))}." if doubts else ""
    return f"{sentence} This holds for {CONDITIONS[family]}.{_shape(thresholds)}{quoted}"


def _named(doubts: dict[str, str], count: int) -> str:
    same = len(set(doubts.values())) == 1 and len(doubts) == count
    return next(iter(doubts.values())) if same else "; ".join(f"{way}, {why}" for way, why in doubts.items())


def clause(item: Threshold) -> str:
    """Return where the CPU wins, by the work of a call, with the interval; an open end is said."""
    turn, unit = item.found, item.unit
    least, most = (work_words(call.work, unit) for call in (item.usual[0], item.usual[-1]))
    if turn.outcome == "always":
        return f"nowhere from {least} up, the least that was timed"
    if turn.outcome == "never":
        return f"up to {most}, the most that was timed"
    if turn.outcome == "not separated":
        near = f", probably below {size_words(turn, unit)}" if turn.size else ""
        return f"somewhere that noise hides from {least} to {most}{near}"
    return f"below {_size(turn, unit)}"


def _size(turn: Crossing, unit: Unit) -> str:
    probably = f", probably {size_words(turn, unit)}" if turn.size else ""
    if turn.low is None:
        return f"at most {work_words(turn.high, unit)}{probably}"
    if turn.high is None:
        return f"at least {work_words(turn.low, unit)}{probably}"
    return f"about {size_words(turn, unit)} ({interval_words(turn, unit)})"


def size_words(turn: Crossing, unit: Unit) -> str:
    """Return the work at which both sides are equal, as exact as its interval allows; a dash if it is unknown."""
    return work_words(turn.size, unit, units.half_width(turn.low, turn.high))


def work_words(work: float | None, unit: Unit, half_width: float | None = None) -> str:
    """Return FLOP with a prefix, or elements as a number."""
    return units.quantity(work, unit, half_width) if unit == "FLOP" else f"{units.number(work, half_width)} {unit}"


def interval_words(turn: Crossing, unit: Unit) -> str:
    """Return the interval of that work; a dash if an end is open."""
    if unit == "FLOP":
        return units.quantity_interval(turn.low, turn.high, unit)
    return units.interval(turn.low, turn.high)


def _shape(thresholds: Sequence[Threshold]) -> str:
    """Return, as a sentence, how fast calls of another depth or batch are beside those of nearly the same work."""
    clauses = [clause for item in thresholds for clause in _other_shapes(item)]
    return f" Its form matters beside its work: {'; '.join(clauses)}." if clauses else ""


def _other_shapes(item: Threshold) -> Iterator[str]:
    for call in item.calls:
        near = min(item.usual, key=lambda one: max(one.work, call.work) / min(one.work, call.work))
        if not call.usual and not call.apart:
            yield (
                f"as {item.way} {form(call)} run at {words(call.ratio.estimate)} the CPU's speed, "
                f"{form(near)} at {words(near.ratio.estimate)}"
            )


def form(call: Call) -> str:
    """Return depth, width and batch of a network's call, or rows and columns of a table's, in words."""
    size, batch = call.size, units.count(call.case.batch)
    if size.depth == 0:
        return f"{batch} rows of {units.pluralize(size.width, 'column')}"
    return f"{units.pluralize(size.depth, 'layer')} of {units.count(size.width)} at batch {batch}"


def charts(thresholds: Sequence[Threshold]) -> tuple[Chart, ...]:
    """Return for each family the speed-ups over the work of a call, each way a series, and where it comes to be 1."""
    return tuple(
        _chart(family, [item for item in thresholds if item.family == family]) for family in _families(thresholds)
    )


def _chart(family: str, thresholds: Sequence[Threshold]) -> Chart:
    points = [_point(item, call) for item in thresholds for call in item.usual]
    crossings = [item for item in thresholds if item.found.outcome == "from"]
    return Chart(
        name=family.rpartition("_")[2],
        caption=f"CPU time over GPU time of {_WHAT[family]} over the work of a call; above 1 the GPU wins. The thick "
        "line on 1 is the interval of the work from which it does.",
        across=f"{UNITS[family]} of a call, log scale",
        up="CPU time / GPU time",
        points=tuple(points),
        lines=tuple(interval(item.way, item.found, points) for item in crossings),
        level=1.0,
        joined=True,
        finding="One call is {span} as fast on the GPU",
    )


def _point(item: Threshold, call: Call) -> Point:
    return ratio_point(item.way, call.ratio, at=call.work)


def table(thresholds: Sequence[Threshold]) -> Table:
    """Return a row for each call on both sides, the least work of each way first."""
    return Table(
        title="One step of each size and way, CPU and GPU of the same kind of machine",
        columns=_COLUMNS,
        rows=tuple(_row(item, call) for item in thresholds for call in item.calls),
    )


def _row(item: Threshold, call: Call) -> tuple[Cell, ...]:
    status, hosts = standing_cells(call.ratio)
    standing = (Cell(text="invalid", remark="; ".join(call.apart)) if call.apart else status), hosts
    work = number_cell(call.work, lambda value: work_words(value, item.unit))
    return row_of(
        call.case.workload,
        item.way,
        count_cell(call.case.batch),
        work,
        time_cell(call.cpu),
        time_cell(call.gpu),
        *times_cells(call.ratio.estimate, call.gpu.newest),
        *standing,
    )

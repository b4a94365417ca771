"""Speed-ups of one campaign on one host, for the end of a run in the terminal."""

from collections.abc import Iterable

from suite import units
from suite.report.parts.tables import name
from suite.results.records.record import Record
from suite.results.single.paired_speedup import SpeedUp, current, speedups
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import ON_ONE_HOST, Cell, Table, one_host_cell, time_cell, times_cells
from suite.variants import way_of

COLUMNS = (
    "model", "batch", "CPU step", "GPU step", "speed-up", "95 % interval", "CPU: baseline / JAX", "GPU precision",
    ON_ONE_HOST,
)  # fmt: skip


def table(records: Iterable[Record]) -> Table:
    """Return the speed-up of each step with both sides in one campaign, the newest of each."""
    steps = [item for item in current(speedups(records)) if item.gpu.record.case.scope == "step"]
    return Table(
        title="Speed-up of one step: CPU time over GPU time on this host",
        columns=COLUMNS,
        rows=tuple(map(_row, steps)),
    )


def _row(item: SpeedUp) -> tuple[Cell, ...]:
    case = item.gpu.record.case
    ratio = times_cells(item.ratio, item.gpu.record)
    times, caveats = (time_cell(item.cpu), time_cell(item.gpu)), one_host_cell(item)
    return row_of(name(case), count_cell(case.batch), *times, *ratio, _baseline(item), case.precision, caveats)


def _baseline(item: SpeedUp) -> Cell:
    """Return the fastest baseline's time over JAX's on the CPU."""
    if item.fastest_baseline is None:
        return Cell(text=units.DASH, remark="no baseline was timed")
    other, ratio = item.fastest_baseline
    return Cell(
        text=f"{units.ratio(ratio.value, ratio.low, ratio.high)} {way_of(other.record.case)}",
        sort=ratio.value,
        record=other.record,
    )

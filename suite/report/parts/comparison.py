"""A comparison of two sides, as a table."""

from collections.abc import Sequence

from suite.results.compare.comparison import Comparison, default_band
from suite.results.records.record import Record
from suite.results.views.rows import row_of
from suite.results.views.table import Cell, Table, time_cell, times_cells

COLUMNS = ("case", "first", "second", "ratio", "95 % interval", "second is")


def table(first: str, second: str, rows: Sequence[Comparison], band: float | None = None) -> Table:
    """Return the comparison of two named sides; `band` is the share that does not matter."""
    several = len({row.second.record.machine.slug for row in rows}) > 1
    floor = default_band(rows) if band is None else band
    return Table(
        title=f"first: {first}; second: {second}",
        columns=COLUMNS,
        rows=tuple(_row(row, floor, several) for row in rows),
        notes=tuple(_notes(rows, floor)),
    )


def _row(item: Comparison, band: float, several: bool) -> tuple[Cell, ...]:
    ratio, reasons = item.ratio, "; ".join((*item.first.reasons, *item.second.reasons))
    remarks = ["invalid"] if item.state == "invalid" else ["see below"] if reasons else []
    verdict = Cell(text=", ".join((item.verdict(band), *remarks)), remark=reasons)
    named = Cell(text=_named(item.second.record, several), record=item.second.record)
    return row_of(named, *map(time_cell, (item.first, item.second)), *times_cells(ratio), verdict)


def _named(record: Record, several: bool) -> str:
    """Return the name of what was timed, with the machine if there are several."""
    machine = f" on {record.machine.name}" if several else ""
    return f"{record.workload} {record.case.scope} {record.label}{machine}"


def _notes(rows: Sequence[Comparison], band: float) -> list[str]:
    paired = all(row.paired for row in rows)
    tested = paired and any(row.chance is not None for row in rows)
    alarm = "; over the table one false alarm has a chance of 5 %" if tested else ""
    notes = [f"A difference of {100 * band:.2g} % does not matter{alarm}."]
    differing = dict.fromkeys(axis for row in rows for axis in row.differs)
    if differing:
        notes.append(f"The two differ in: {', '.join(differing)}.")
    if not paired:
        notes.append(
            "Measured at different times. On two hosts a difference is called one beyond three standard errors, made "
            "of how much hosts of this kind differ, and processes of one host."
        )
    return notes

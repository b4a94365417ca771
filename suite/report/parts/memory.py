"""Peak memory of a case: a table of a workload's page."""

from collections.abc import Sequence
from statistics import median

from suite import units
from suite.results.records.record import Record
from suite.results.views.table import Cell, Table

COLUMNS = ("case", "scope", "host", "GPU", "page faults")
_NOTES = (
    "Host: the largest resident set of a case's processes, the interpreter and its libraries included. GPU: the most "
    "in use at once, on the fullest; frameworks reserve more. Page faults: minor ones in a step.",
)


def table(records: Sequence[Record]) -> Table:
    """Return each case's peak memory, the largest over processes; without rows if none was measured."""
    rows = tuple(row for record in records for row in _rows(record))
    return Table(title="Peak memory", columns=COLUMNS, rows=rows, notes=_NOTES)


def _rows(record: Record) -> Sequence[tuple[Cell, ...]]:
    runs = [run for run in record.runs if not run.reason]
    host = max((run.peak_memory_bytes for run in runs if run.peak_memory_bytes is not None), default=None)
    device = max((run.device_memory_bytes for run in runs if run.device_memory_bytes is not None), default=None)
    if host is None and device is None:
        return ()
    faults = [run.minor_faults_per_step for run in runs if run.minor_faults_per_step is not None]
    cells = (
        Cell(text=record.label, record=record),
        Cell(text=record.case.scope),
        Cell(text=units.memory(host), sort=host, record=record),
        Cell(text=units.memory(device), sort=device, record=record),
        Cell(text=units.number(median(faults)) if faults else units.DASH, sort=median(faults) if faults else None),
    )
    return (cells,)

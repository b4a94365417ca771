"""The rate of the input pipeline against the device's, for a workload's page and the terminal."""

from collections.abc import Sequence

from suite import units
from suite.results.records.record import Record
from suite.results.single.input_pipeline import InputPipeline, input_pipelines
from suite.results.views.rows import count_cell, row_of, share_cell
from suite.results.views.table import ON_ONE_HOST, Cell, Table, chosen, one_host_cell, rate_cells

TITLE = "From storage: with the input pipeline, and what bounds the speed"
COLUMNS = (
    "case", "batch", "examples/s", "95 % interval", "device alone, examples/s", "step's share", "first batch",
    "GPU utilisation", "bound by", ON_ONE_HOST,
)  # fmt: skip
_TERMINAL = ("model", "case", "examples/s", "device alone, examples/s", "step's share", "bound by")
_INPUT_TITLE = "The input pipeline alone"
_INPUT_COLUMNS = ("case", "batch", "examples/s", "95 % interval", "first batch", ON_ONE_HOST)


def table(records: Sequence[Record]) -> Table:
    """Return the cases of scope `epoch`; maybe without rows."""
    pipelines = input_pipelines(records)
    notes = (
        "The step's share is how much of the time the step alone accounts for, its batch on the device; the device "
        "waits for the rest of it.",
    )
    return Table(title=TITLE, columns=COLUMNS, rows=tuple(map(_row, pipelines)), notes=notes if pipelines else ())


def input_table(records: Sequence[Record]) -> Table:
    """Return the cases of scope `input`; maybe without rows."""
    rows = [(*_head(f), _first(f), one_host_cell(f.summary)) for f in input_pipelines(records, "input")]
    return Table(title=_INPUT_TITLE, columns=_INPUT_COLUMNS, rows=tuple(rows))


def tables(records: Sequence[Record]) -> tuple[Table, ...]:
    """Return those of the two tables that have rows."""
    return tuple(found for found in (table(records), input_table(records)) if found.rows)


def for_terminal(records: Sequence[Record], machine: str) -> tuple[Table, ...]:
    """Return the machine's tables for a terminal of 80 columns."""
    own_records = [record for record in records if record.machine.slug == machine]
    epochs = [row_of(f.summary.record.workload, *_row(f)) for f in input_pipelines(own_records)]
    inputs = [row_of(f.summary.record.workload, *_head(f), _first(f)) for f in input_pipelines(own_records, "input")]
    both = (
        chosen(Table(title=TITLE, columns=("model", *COLUMNS), rows=tuple(epochs)), _TERMINAL),
        Table(title=_INPUT_TITLE, columns=("model", *_INPUT_COLUMNS[:-1]), rows=tuple(inputs)),
    )
    return tuple(table for table in both if table.rows)


def _row(item: InputPipeline) -> tuple[Cell, ...]:
    device = rate_cells(item.device_rate, item.summary)[0]
    shares = (share_cell(item.share), _first(item), share_cell(item.gpu_utilisation))
    return row_of(*_head(item), device, *shares, item.bound or units.DASH, one_host_cell(item.summary))


def _head(item: InputPipeline) -> tuple[Cell, ...]:
    record = item.summary.record
    return row_of(
        Cell(text=record.case.label(), record=record),
        count_cell(record.case.batch),
        *rate_cells(item.rate, item.summary),
    )


def _first(item: InputPipeline) -> Cell:
    return Cell(text=units.seconds(item.first_batch_seconds), sort=item.first_batch_seconds)

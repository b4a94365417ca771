"""Scopes that read storage: the input pipeline's rate against the device's, and the accuracy after training."""

from collections.abc import Iterable, Sequence

from suite import units
from suite.results.records.record import Record
from suite.results.single.input_pipeline import InputPipeline, input_pipelines
from suite.results.views.rows import count_cell, row_of, share_cell, step_share_cell
from suite.results.views.table import ON_ONE_HOST, Cell, Table, chosen, one_host_cell, rate_cells

_EPOCHS = (
    "case", "batch", "examples/s", "95 % interval", "device alone, examples/s", "step's share", "first batch",
    "GPU utilisation", "bound by", ON_ONE_HOST,
)  # fmt: skip
_EPOCHS_IN_TERMINAL = ("model", "case", "examples/s", "device alone, examples/s", "step's share", "bound by")
_INPUTS = ("case", "batch", "examples/s", "95 % interval", "first batch", ON_ONE_HOST)
_ACCURACIES = ("case", "trained on", "steps", "validation examples", "accuracy")
_ACCURACIES_IN_TERMINAL = ("model", "case", "trained on", "steps", "accuracy")
_SHARE = (
    "The step's share is the time of the step alone, its batch on the device, over the time with input. For the rest "
    "the device waits.",
)
_ACCURACY = (
    "An accuracy is the share of validation examples that the network answers correctly after training from storage. "
    "It is of one process. Accuracies on stand-ins say nothing about the published data.",
)


def pipeline_table(records: Sequence[Record]) -> Table:
    """Return the cases of scope `epoch`; maybe without rows."""
    return chosen(_epochs(records), _EPOCHS, _SHARE)


def input_table(records: Sequence[Record]) -> Table:
    """Return the cases of scope `input`; maybe without rows."""
    return chosen(_inputs(records), _INPUTS)


def accuracy_table(records: Iterable[Record]) -> Table:
    """Return the accuracies of a workload's `learning` records with their data, newest last; maybe without rows."""
    return chosen(_accuracies(records), _ACCURACIES, _ACCURACY)


def for_terminal(records: Iterable[Record], machine: str) -> tuple[Table, ...]:
    """Return the machine's tables for a terminal of 80 columns; some may be without rows."""
    own_records = [record for record in records if record.machine.slug == machine]
    return (
        chosen(_epochs(own_records), _EPOCHS_IN_TERMINAL),
        chosen(_inputs(own_records), ("model", *_INPUTS[:-1])),
        chosen(_accuracies(own_records), _ACCURACIES_IN_TERMINAL),
    )


def _epochs(records: Sequence[Record]) -> Table:
    title = "From storage: with the input pipeline, and what bounds the speed"
    return Table(title=title, columns=("model", *_EPOCHS), rows=tuple(map(_epoch, input_pipelines(records))))


def _epoch(item: InputPipeline) -> tuple[Cell, ...]:
    device = rate_cells(item.device_rate, item.summary)[0]
    shares = (step_share_cell(item.share), _first(item), share_cell(item.gpu_utilisation))
    return row_of(*_head(item), device, *shares, item.bound or units.DASH, one_host_cell(item.summary))


def _inputs(records: Sequence[Record]) -> Table:
    rows = (row_of(*_head(f), _first(f), one_host_cell(f.summary)) for f in input_pipelines(records, "input"))
    return Table(title="The input pipeline alone", columns=("model", *_INPUTS), rows=tuple(rows))


def _head(item: InputPipeline) -> tuple[Cell, ...]:
    record = item.summary.record
    case = Cell(text=record.case.label(), record=record)
    return row_of(record.workload, case, count_cell(record.case.batch), *rate_cells(item.rate, item.summary))


def _first(item: InputPipeline) -> Cell:
    return Cell(text=units.seconds(item.first_batch_seconds), sort=item.first_batch_seconds)


def _accuracies(records: Iterable[Record]) -> Table:
    rows = []
    for record in sorted(records, key=lambda r: (r.name, r.created)):
        for learnt in (run.learnt for run in record.runs if run.learnt is not None):
            data = "the published data" if record.case.data == "tfds" else "a stand-in that the project makes"
            counts = map(count_cell, (learnt.steps, learnt.examples))
            accuracy = Cell(text=units.percent(learnt.accuracy, 3), sort=learnt.accuracy, record=record)
            rows.append(row_of(record.workload, Cell(text=record.label, record=record), data, *counts, accuracy))
    return Table(title="Accuracy after training", columns=("model", *_ACCURACIES), rows=tuple(rows))

"""The accuracies of scope `learning`, as a table for the site and the terminal."""

from collections.abc import Iterable

from suite import units
from suite.results.records.record import Record
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import Cell, Table, chosen

_TERMINAL = ("model", "case", "trained on", "steps", "accuracy")
_ACCURACIES = ("case", "trained on", "steps", "validation examples", "accuracy")


def for_terminal(records: Iterable[Record], machine: str) -> tuple[Table, ...]:
    """Return the machine's accuracies for a terminal of 80 columns; empty without any."""
    found = _accuracies(record for record in records if record.machine.slug == machine)
    return (chosen(found, _TERMINAL),) if found.rows else ()


def table(records: Iterable[Record]) -> Table:
    """Return the accuracies of a workload's `learning` records with their data, newest last; maybe without rows."""
    notes = (
        "An accuracy is the share of the validation's examples, none of which was trained on, that the network answers "
        "right after so many steps from storage: its largest output for classes, a sigmoid above one half for two. It "
        "is of one process; what stand-ins show is no claim about the published data.",
    )
    found = _accuracies(records)
    return chosen(found, _ACCURACIES, notes if found.rows else ())


def _accuracies(records: Iterable[Record]) -> Table:
    rows = []
    for record in sorted(records, key=lambda r: (r.name, r.created)):
        for run in record.runs:
            if run.learnt is None:
                continue
            data = "the published data" if record.case.data == "tfds" else "a stand-in that the project makes"
            counts = map(count_cell, (run.learnt.steps, run.learnt.examples))
            accuracy = Cell(text=units.percent(run.learnt.accuracy, 3), sort=run.learnt.accuracy, record=record)
            rows.append(row_of(record.workload, Cell(text=record.label, record=record), data, *counts, accuracy))
    return Table(title="Accuracy after training", columns=("model", *_ACCURACIES), rows=tuple(rows))

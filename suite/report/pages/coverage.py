"""The coverage page: how many models were timed on each machine, and which questions it answered."""

from collections.abc import Sequence

from suite import experiments, units
from suite.case import Case, Precision
from suite.report.parts.facts import Answers, Facts
from suite.report.parts.matrix import matrices
from suite.results.records.record import Record
from suite.results.single.selection import by_machine, current_cases
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import Cell, Table
from suite.scopes import SCOPES
from suite.workload import Description

PATH = "coverage.md"
_PRECISIONS: dict[Precision, str] = {
    "float32-highest": "",
    "framework-default": ", framework's default",
    "tf32": ", TF32",
    "bfloat16": ", bfloat16",
}


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    tables = measured(facts.records, facts.catalogue), answered(facts.answers)
    return {PATH: facts.page(PATH, tables=tables, matrices=matrices(facts), lead=_lead(tables[0], facts))}


def _lead(models: Table, facts: Facts) -> str:
    """Return how many machines timed the models, and how many have other records alone, in sentences."""
    catalogue = facts.catalogue
    complete = sum(any(cell.sort == len(catalogue) for cell in row) for row in models.rows)
    more = len(by_machine(facts.measured)) - len(models.rows)
    have = "has" if more == 1 else "have"
    others = f" {units.count(more)} more {have} records, but no complete result in JAX at a headline batch."
    number = units.pluralize(len(models.rows), "machine")
    if not models.rows:
        return "No machine has timed a model yet."
    all_models = f"{units.count(complete)} of them timed all {units.count(len(catalogue))}"
    return f"Models were timed on {number}; {all_models}.{others * (more > 0)}"


def measured(records: Sequence[Record], catalogue: Sequence[Description]) -> Table:
    """Return the number of models with a complete result on each machine, by backend, scope and precision."""
    models = {about.name for about in catalogue}
    machines = by_machine(record for record in records if record.workload in models and _counts(record))
    timed = {
        own_records[0].machine.name: {
            (_column(item.record), item.record.workload) for item in current_cases(own_records) if item.complete
        }
        for own_records in machines.values()
    }
    columns = [
        f"{backend.upper()} {scope}{words}"
        for backend in ("cpu", "gpu")
        for scope in SCOPES
        for words in _PRECISIONS.values()
    ]
    timed_columns = {column for cases in timed.values() for column, _ in cases}
    columns = [column for column in columns if column in timed_columns]
    rows = tuple(row_of(name, *(_number(cases, column) for column in columns)) for name, cases in timed.items())
    title = f"Models with a complete result, of {units.count(len(models))}"
    return Table(title=title, columns=("machine", *columns), rows=rows)


def _counts(record: Record) -> bool:
    """Return whether a record counts for the headline: plain JAX at the documented batch."""
    case, batch = record.case.timed.ignoring_allocator, record.description.batch
    plain = Case(workload=case.workload, backend=case.backend, scope=case.scope, batch=batch, precision=case.precision)
    return record.general and case == plain


def _column(record: Record) -> str:
    return f"{record.backend.upper()} {record.case.scope}{_PRECISIONS[record.case.precision]}"


def _number(found: set[tuple[str, str]], column: str) -> Cell:
    return count_cell(sum(of == column for of, _ in found) or None)


def answered(answers: Answers) -> Table:
    """Return the machines that answered each experiment's question."""
    rows = tuple(
        row_of(name, experiments.load(name).TITLE, "; ".join(machine.name for machine, _ in found) or units.DASH)
        for name, found in answers.items()
    )
    title, columns = "Experiments and the machines that answered", ("experiment", "question", "machines")
    return Table(title=title, columns=columns, rows=rows, words=True)

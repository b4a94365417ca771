"""Print what the published results lack, and in which order it is to be measured: `python -m plan`.

With the tests on Python's path. Three kinds of machine are asked for. A filled cell says what its current result is
worth; an empty one names the tier that will fill it, the first being the most urgent, or says why nothing belongs
there. One GPU among several counts where the GPU alone is asked for, as long as no machine with one has a result.
"""

from plan.tables import answered, controlled, table
from plan.wanted import KINDS, controls, plain
from suite.cli.types import PUBLISHED
from suite.console import terminal
from suite.report.parts.facts import Facts
from suite.results.records import catalogue, store
from suite.results.views.table import Cell, Table


def words(cell: Cell) -> str:
    """Return what a cell says, with its remark."""
    return f"{cell.text} ({cell.remark})" if cell.remark else cell.text


def show(made: Table, *notes: str) -> None:
    """Print a table."""
    terminal.print_table(made.title, made.columns, [[words(cell) for cell in row] for row in made.rows], notes)


def main() -> None:
    """Print a table for each kind of machine, and one of the experiments."""
    records, workloads = store.load([PUBLISHED])[0], catalogue.read(PUBLISHED)
    others = controls(records)
    for kind in KINDS:
        made = table(kind.name, kind.wanted, workloads, plain(r for r in records if kind.fills(r.machine)), others)
        show(made, controlled(kind.wanted, made.rows, others))
    show(answered(Facts(records=records).answers, workloads))


if __name__ == "__main__":
    main()

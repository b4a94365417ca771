"""The page that asks whether the networks learn, and the table of accuracies that records hold."""

from collections.abc import Iterable, Sequence

from suite import units
from suite.report.html import Page
from suite.report.tables import Cell, Table, label
from suite.results.learning import Check, Learning, Trained
from suite.results.record import Record

TITLE = "Do the networks learn?"
_COLUMNS = ("network", "data", "steps", "batch", "accuracy by seed", "spread", "bound", "worst broken one", "verdict")


def page(found: Learning | None) -> str:
    """Return the page as Markdown."""
    made = Page(TITLE, "", frozenset())
    made.paragraph(
        "A step that is fast and teaches nothing would be worth nothing. So each network is trained with the very step "
        "that is timed, on batches from the input pipeline, for a few steps from several seeds. The data are the small "
        "stand-ins that the project makes: these accuracies show that a network learns, and say nothing about the real "
        "data."
    )
    if found is None:
        made.add("<p>Nothing has been trained yet: <code>nox -s learning</code> writes this page's numbers.</p>")
        return made.text()
    made.facts(
        [
            ("date", found.made),
            ("commit", found.commit or units.DASH),
            ("machine", f"{found.machine}, {units.count(found.cores)} cores, on the {found.backend.upper()}"),
            ("seeds", ", ".join(map(str, found.seeds))),
            ("duration", units.seconds(found.seconds)),
        ]
    )
    made.heading("Accuracy after a few steps")
    made.paragraph(
        "Every seed has to reach the bound, and a broken network must not: one whose labels are dealt out anew in each "
        "batch, and one of which the last layer alone learns."
    )
    made.table(trained(found.trained))
    if found.checks:
        made.heading("Losses")
        made.table(checks(found.checks))
    made.add('<p class="note"><a href="evidence/learning.json" download>All of this as JSON</a></p>')
    return made.text()


def trained(some: Sequence[Trained]) -> Table:
    """Return the accuracies by network."""
    title = "Trained on the small stand-ins and judged by examples that no step saw"
    return Table(title=title, columns=_COLUMNS, rows=tuple(map(_row, some)), words=True)


def _row(one: Trained) -> tuple[Cell, ...]:
    worst = max(one.broken.items(), key=lambda item: item[1], default=None)
    reached = " · ".join(units.percent(share, 3) for share in one.accuracies)
    return (
        Cell(text=one.network),
        Cell(text=one.data),
        Cell(text=units.count(one.steps), sort=one.steps),
        Cell(text=units.count(one.batch), sort=one.batch),
        Cell(text=reached, sort=min(one.accuracies)),
        Cell(text=units.percent(one.spread), sort=one.spread),
        Cell(text=units.percent(one.bound), sort=one.bound),
        Cell(text=f"{worst[0]}: {units.percent(worst[1])}" if worst else units.DASH, sort=worst and worst[1]),
        Cell(text="learns" if one.good else "shortfall"),
    )


def checks(some: Sequence[Check]) -> Table:
    """Return what had to happen to the losses, and what did."""
    words = {True: "as it had to be", False: "shortfall", None: "not tried"}
    rows = tuple(
        (Cell(text=c.network), Cell(text=c.expected), Cell(text=c.found), Cell(text=words[c.good])) for c in some
    )
    return Table(title="What losses do", columns=("network", "has to be", "was", "verdict"), rows=rows, words=True)


def table(records: Iterable[Record]) -> Table:
    """Return the accuracies of the records of scope `learning`, with what they were trained on; by case, newest last.

    Without rows where there are none.
    """
    rows = []
    for record in sorted(records, key=lambda r: (r.name, r.created)):
        for run in record.runs:
            if run.learnt is None:
                continue
            data = "the published data" if record.case.data == "tfds" else "a stand-in that the project makes"
            rows.append(
                (
                    Cell(text=label(record), record=record),
                    Cell(text=data),
                    Cell(text=units.count(run.learnt.steps), sort=run.learnt.steps),
                    Cell(text=units.count(run.learnt.examples), sort=run.learnt.examples),
                    Cell(text=units.percent(run.learnt.accuracy, 3), sort=run.learnt.accuracy, record=record),
                )
            )
    notes = (
        "An accuracy is the share of the validation's examples, none of which was trained on, that the network answers "
        "right after so many steps from storage: its largest output for classes, a sigmoid above one half for two. It "
        "is of one process; what stand-ins show is no claim about the published data.",
    )
    columns = ("case", "trained on", "steps", "validation examples", "accuracy")
    return Table(title="Accuracy after training", columns=columns, rows=tuple(rows), notes=notes if rows else ())

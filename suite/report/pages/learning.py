"""The page that asks whether the networks learn, and the table of accuracies that records hold."""

import re
from collections.abc import Iterable, Sequence

from suite import units
from suite.report.parts.html import Page
from suite.results.evidence.learning import LearningCheck, Trained
from suite.results.records.record import Record
from suite.results.views.table import Cell, Table, chosen

TITLE = "Do the networks learn?"
_COLUMNS = (
    "network", "backend", "data", "steps", "batch",
    "accuracy by seed", "spread", "bound", "best broken one", "verdict",
)  # fmt: skip

_TERMINAL = ("model", "case", "trained on", "steps", "accuracy")
_ACCURACIES = ("case", "trained on", "steps", "validation examples", "accuracy")


def page(networks: Sequence[LearningCheck]) -> str:
    """Return the page as Markdown: the networks in the order of their names, the CPU before the GPU."""
    made = Page(TITLE, "", frozenset())
    made.paragraph(
        "A step that is fast and teaches nothing would be worth nothing. So each network is trained with the very step "
        "that is timed, on batches from the input pipeline, for a few steps from several seeds. The data are the small "
        "stand-ins that the project makes: these accuracies show that a network learns, and say nothing about the real "
        "data."
    )
    some = sorted(networks, key=lambda check: (check.network, check.backend))
    if not some:
        return made.text()
    made.heading("Accuracy after a few steps")
    made.paragraph(
        "Every seed has to reach the bound, and a broken network must not: one whose labels are dealt out anew in each "
        "batch, and one of which the last layer alone learns."
    )
    made.table(trained(some))
    made.heading("Losses")
    made.paragraph(
        "CPU and GPU start from the same numbers and see the same batch again and again. Their losses are compared for "
        "as long as it does not matter to the CPU's own, by a tenth of the tolerance, if every weight of the start is "
        "one rounding off: from the step on at which it does, two machines that are both right differ too. How far "
        "they are apart in all steps stands beside it."
    )
    made.table(checks(some))
    made.heading("Where and when")
    made.table(origin(some))
    return made.text()


def trained(some: Sequence[LearningCheck]) -> Table:
    """Return the accuracies by network and backend."""
    title = "Trained on the small stand-ins and judged by examples that no step saw"
    rows = tuple(_row(check, check.trained) for check in some if check.trained is not None)
    return Table(title=title, columns=_COLUMNS, rows=rows, words=True)


def _row(check: LearningCheck, one: Trained) -> tuple[Cell, ...]:
    best = max(one.broken.items(), key=lambda item: item[1], default=None)
    reached = " · ".join(units.percent(share, 3) for share in one.accuracies)
    return (
        Cell(text=check.network),
        Cell(text=check.backend),
        Cell(text=one.data),
        Cell(text=units.count(one.steps), sort=one.steps),
        Cell(text=units.count(one.batch), sort=one.batch),
        Cell(text=reached, sort=min(one.accuracies)),
        Cell(text=units.percent(one.spread), sort=one.spread),
        Cell(text=units.percent(one.bound), sort=one.bound),
        Cell(text=f"{best[0]}: {units.percent(best[1], 3)}" if best else units.DASH, sort=best and best[1]),
        Cell(text="learns" if one.good else "shortfall"),
    )


def checks(some: Sequence[LearningCheck]) -> Table:
    """Return what had to happen to the losses, and what did; what needed a GPU is left out where one has tried it."""
    words = {True: "as it had to be", False: "shortfall", None: "not tried"}
    on_gpu = {check.network for check in some if check.backend == "gpu"}
    rows = tuple(
        tuple(Cell(text=text) for text in (check.network, check.backend, c.expected, c.found, words[c.good]))
        for check in some
        for c in check.checks
        if c.good is not None or check.network not in on_gpu
    )
    return Table(
        title="What losses do", columns=("network", "backend", "has to be", "was", "verdict"), rows=rows, words=True
    )


def origin(some: Sequence[LearningCheck]) -> Table:
    """Return where each network was trained, when, and from which code."""
    rows = tuple(
        (
            Cell(text=one.network),
            Cell(text=f"{one.machine}, {units.pluralize(one.cores, 'core')}"),
            Cell(text=one.backend),
            Cell(text=", ".join(map(str, one.seeds))),
            Cell(text=one.made),
            Cell(text=re.sub("(?<=[0-9a-f]{12})[0-9a-f]+", "", one.commit) or units.DASH),
            Cell(text=units.seconds(one.seconds) if one.seconds else units.DASH, sort=one.seconds),
        )
        for one in some
    )
    columns = ("network", "machine", "backend", "seeds", "date", "commit", "duration")
    return Table(title="Where the networks were trained", columns=columns, rows=rows, words=True)


def for_terminal(records: Iterable[Record], machine: str) -> tuple[Table, ...]:
    """Return the machine's accuracies for a terminal of 80 columns; nothing where there are none."""
    found = _accuracies(record for record in records if record.machine.slug == machine)
    return (chosen(found, _TERMINAL),) if found.rows else ()


def table(records: Iterable[Record]) -> Table:
    """Return the accuracies of a workload's records of scope `learning`, with what they were trained on; newest last.

    Without rows where there are none.
    """
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
            rows.append(
                (
                    Cell(text=record.workload),
                    Cell(text=record.label, record=record),
                    Cell(text=data),
                    Cell(text=units.count(run.learnt.steps), sort=run.learnt.steps),
                    Cell(text=units.count(run.learnt.examples), sort=run.learnt.examples),
                    Cell(text=units.percent(run.learnt.accuracy, 3), sort=run.learnt.accuracy, record=record),
                )
            )
    return Table(title="Accuracy after training", columns=("model", *_ACCURACIES), rows=tuple(rows))

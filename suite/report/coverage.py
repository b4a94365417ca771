"""The page of what has been measured and what has not: workloads, machines and scopes, each cell filled or why not."""

from collections.abc import Mapping, Sequence

from suite import experiments, units
from suite.experiments import headline
from suite.report.experiments import Readings
from suite.report.html import Page
from suite.results.reading import Reading
from suite.results.record import Machine, Record
from suite.results.reference import KINDS, Kind, Wanted, cell, elsewhere, plain, unasked
from suite.results.summary import SOUND, summary
from suite.results.table import Cell, Table
from suite.workload import Case, Description

TITLE = "What has been measured, and what has not"
_LEAD = (
    "The reference results are to hold every documented model on three kinds of machine. A filled cell says what its "
    "current result is worth and links the record; an empty one, or one that lacks models, names the tier that will "
    "fill it, the first being the most urgent, or says why nothing belongs there; what no tier asks for is filled "
    "where it was measured all the same. A cell of one GPU among several says so; where the GPU alone is asked for it "
    "counts as long as no machine with one GPU has a result. Machines that no tier asks for follow, with what they "
    "have."
)
_UNKNOWN = ": not known"  # behind a model's name, in the answer of one whose results are not whole


def page(
    records: Sequence[Record],
    catalogue: Sequence[Description],
    answers: Readings,
    local: frozenset[str],
    links: dict[str, str],
) -> str:
    """Return the page."""
    made = Page(TITLE, "", local)
    made.paragraph(_LEAD)
    for kind in KINDS:
        made.heading(kind.name)
        mine = plain(record for record in records if kind.fills(record.machine))
        made.table(table(kind.name, kind.wanted, catalogue, mine), links)
    for name, there in elsewhere(records).items():
        mine = plain(there)
        if columns := unasked(mine):
            made.heading(name)
            made.table(table(name, columns, catalogue, mine), links)
    made.heading("Experiments")
    made.table(answered(answers, catalogue), links)
    return made.text()


def table(
    name: str, columns: Sequence[Wanted], catalogue: Sequence[Description], records: Mapping[Case, Sequence[Record]]
) -> Table:
    """Return the table of a kind of machine, or of one machine, whose records are given; a row for each workload."""
    rows = tuple(
        (
            Cell(text=about.name),
            *(cell(wanted, about, about.name in headline.WORKLOADS, records) for wanted in columns),
        )
        for about in catalogue
    )
    cells = [each for row in rows for each in row[1:] if each.text != units.DASH]
    full = sum(each.record is not None for each in cells)
    owed = any(wanted.tier for wanted in columns)
    steady = sum(each.record is not None and summary(each.record).status in SOUND for each in cells)
    share = f"{units.count(full)} of {units.count(len(cells))} cells are filled" if owed else "what it has"
    share += f", {units.count(steady)} of them steady" if owed else f", {units.count(steady)} of its cells steady"
    return Table(
        title=f"{name}: {share}",
        columns=("model", *(wanted.title for wanted in columns)),
        rows=rows,
        words=True,
    )


def answered(answers: Readings, catalogue: Sequence[Description]) -> Table:
    """Return which experiment was run on which kind of machine, and on how many of its models."""
    there = {about.name for about in catalogue}
    rows = []
    for name, mine in answers.items():
        models = tuple(model for model in experiments.load(name).WORKLOADS if model in there)
        cells = (_run(name, models, kind, mine) for kind in KINDS)
        rows.append((Cell(text=name), Cell(text=experiments.load(name).TITLE), *cells, _others(name, mine)))
    columns = ("experiment", "question", *(kind.name for kind in KINDS), "other machines")
    return Table(title="Experiments, and the machines that answered", columns=columns, rows=tuple(rows), words=True)


def _others(name: str, answers: Sequence[tuple[Machine, Reading]]) -> Cell:
    """Return which machines of no kind answered."""
    gpus = experiments.gpus(name)
    names = [machine.name for machine, _ in answers if not any(kind.asks(machine, gpus) for kind in KINDS)]
    return Cell(text="; ".join(names) or units.DASH)


def _run(name: str, models: Sequence[str], kind: Kind, answers: Sequence[tuple[Machine, Reading]]) -> Cell:
    """Return whether an experiment is answered for a kind of machine, or of how many models, and which tier owes more.

    A tier owes the models of the headline set; which are not answered is in the remark.
    """
    mine = [reading for machine, reading in answers if kind.asks(machine, experiments.gpus(name))]
    owed = _owed(name, kind)
    missing = [model for model in models if not any(_tells(reading, model) for reading in mine)]
    if not mine or 0 < len(models) == len(missing):
        return owed
    if not missing:
        return Cell(text="answered")
    share = f"{units.count(len(models) - len(missing))} of {units.count(len(models))} models"
    asked = [model for model in missing if model in headline.WORKLOADS]
    if owed.text == units.DASH or not asked:
        why = owed.remark if owed.text == units.DASH else "beyond the headline set, not asked for"
        return Cell(text=share, remark=f"{why}: {', '.join(missing)}")
    rest = "the rest" if asked == missing else ", ".join(asked)
    return Cell(text=f"{share}, {rest} {owed.text}", remark=f"{owed.remark}: {', '.join(missing)}")


def _owed(name: str, kind: Kind) -> Cell:
    """Return which tier is to answer an experiment on a kind of machine, or why none is."""
    if getattr(experiments.load(name), "NEEDS_DATA", None):
        return Cell(text=units.DASH, remark="needs the real data")
    if kind.experiments is None:
        return Cell(text=units.DASH, remark="not asked for")
    return Cell(text=f"tier {kind.experiments}", remark="not answered yet")


def _tells(reading: Reading, model: str) -> bool:
    """Return whether a model is answered: named, and not only in sentences which say that its answer is not known."""
    said = [each for each in reading.answers if Reading(answers=(each,)).names(model)]
    return reading.names(model) and not (said and all(_UNKNOWN in each for each in said))

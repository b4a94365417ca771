"""Tables of what the plan asks for: each cell is filled, or says which tier fills it or why nothing belongs there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plan.wanted import KINDS, Controls, Kind, Wanted, beside, cell
from suite import experiments, units
from suite.case import Case
from suite.report.parts import facts
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single.summary import summary
from suite.results.views.experiment_result import ExperimentResult
from suite.results.views.table import Cell, Table
from suite.workload import Description

Answers = Sequence[tuple[Machine, ExperimentResult]]  # of one experiment

_ANSWERED = "answered"
_UNKNOWN = ": not known"  # behind a model's name, in the answer of one whose results are not whole
_NOT_KNOWN = "Not known"  # how an answer begins that is of all models together and has too few


def table(
    name: str,
    columns: Sequence[Wanted],
    catalogue: Sequence[Description],
    records: Mapping[Case, Sequence[Record]],
    others: Controls,
) -> Table:
    """Return the table of a kind of machine, whose records are given; a row for each workload."""
    rows = tuple(
        (
            Cell(text=about.name),
            *(_remarked(wanted, cell(wanted, about, records), others) for wanted in columns),
        )
        for about in catalogue
    )
    cells = [each for row in rows for each in row[1:] if each.text != units.DASH]
    full = sum(each.record is not None for each in cells)
    steady = sum(each.record is not None and summary(each.record).steady for each in cells)
    share = f"{units.count(full)} of {units.count(len(cells))} cells are filled, "
    share += f"nothing speaks against {units.count(steady)} of them"
    return Table(
        title=f"{name}: {share}",
        columns=("model", *(wanted.title for wanted in columns)),
        rows=rows,
        words=True,
    )


def _remarked(wanted: Wanted, filled: Cell, others: Controls) -> Cell:
    """Return a cell that also says which control it has beside it, where it is to have one."""
    if filled.record is None or not wanted.controlled:
        return filled
    names, own = beside(filled.record, others)
    said = f"control{'' if own else ' in another campaign'}: {', '.join(names)}" if names else "no control"
    return replace(filled, remark="; ".join(filter(None, (filled.remark, said))))


def controlled(columns: Sequence[Wanted], rows: Sequence[Sequence[Cell]], others: Controls) -> str:
    """Return how many of the steps that are to have a control have one, and which have none."""
    steps, together = 0, 0
    lacking: dict[str, list[str]] = {}
    for place, column in enumerate(columns, 1):
        for row in rows if column.controlled else ():
            names, own = beside(row[place].record, others)
            steps, together = steps + 1, together + own
            if not names:
                lacking.setdefault(column.title, []).append(row[0].text)
    have = steps - sum(map(len, lacking.values()))
    without = "; ".join(f"{', '.join(models)} ({title})" for title, models in lacking.items())
    return (
        "A control is the same step of an independent framework, timed beside JAX's on the same machine: "
        f"{units.count(have)} of {units.count(steps)} steps have one, {units.count(together)} of them in the campaign "
        f"of the result that is shown{f'; without one are {without}' if without else ''}."
    )


def answered(answers: facts.Answers, catalogue: Sequence[Description]) -> Table:
    """Return which experiment was run on which kind of machine, with how many GPUs, and on how many of its models."""
    there = {about.name: about for about in catalogue}
    rows, asked = [], []
    for name, mine in answers.items():
        usual = experiments.usual(experiments.load(name), catalogue)
        models = [there[model] for model in usual if model in there]
        cells = [_run(name, models, kind, mine) for kind in KINDS]
        asked += [each for each, kind in zip(cells, KINDS, strict=True) if _owed(name, kind).text != units.DASH]
        rows.append((Cell(text=name), Cell(text=experiments.load(name).TITLE), *cells))
    full = [each for each in asked if "tier" not in each.text]
    parts = sum(not each.text.startswith(_ANSWERED) for each in full)
    share = f"{units.count(len(full))} of {units.count(len(asked))} cells that a tier asks for are answered"
    share += f", {units.count(parts)} of them for the models of the headline set alone" if parts else ""
    columns = ("experiment", "question", *(kind.name for kind in KINDS))
    title = f"Experiments, and the machines that answered: {share}"
    return Table(title=title, columns=columns, rows=tuple(rows), words=True)


def _run(name: str, models: Sequence[Description], kind: Kind, answers: Answers) -> Cell:
    """Return whether an experiment is answered for a kind of machine, or what of it, and which tier owes more.

    One that needs several GPUs is answered if it is with each number of them that is asked for.
    """
    needed, owed = getattr(experiments.load(name), "GPUS", 1), _owed(name, kind)
    counts = kind.counts(needed)
    if needed == 1 or not counts:
        return _answer(needed, models, kind, answers, owed)
    cells = {units.count(count): _answer(count, models, kind, answers, owed) for count in counts}
    done = [count for count, each in cells.items() if each.text == _ANSWERED]
    asked = f"{', '.join(cells)} GPUs"
    if len(done) == len(cells):
        return Cell(text=f"{_ANSWERED} with {asked}")
    text = f"{' and '.join(done)} of {asked}, the rest {owed.text}" if done else owed.text
    rest = (f"with {count} GPUs {each.remark}" for count, each in cells.items() if count not in done)
    return Cell(text=text, remark="; ".join(rest))


def _answer(
    gpus: int,
    models: Sequence[Description],
    kind: Kind,
    answers: Answers,
    owed: Cell,
) -> Cell:
    """Return whether an experiment is answered with so many GPUs, or of how many models, and which tier owes more.

    A tier owes the models of the headline set, and with several GPUs all; which are not answered is in the remark.
    """
    mine = [result for machine, result in answers if kind.asks(machine, gpus)]
    missing = [model for model in models if not any(_tells(result, model.name, gpus) for result in mine)]
    known = len(missing) < len(models) if models else any(map(_says, mine))
    if not known:
        return owed
    if not missing:
        return Cell(text=_ANSWERED)
    share = f"{units.count(len(models) - len(missing))} of {units.count(len(models))} models"
    asked, names = [model.name for model in missing if model.headline or gpus > 1], [model.name for model in missing]
    if owed.text == units.DASH or not asked:
        why = owed.remark if owed.text == units.DASH else "beyond the headline set, not asked for"
        return Cell(text=share, remark=f"{why}: {', '.join(names)}")
    rest = "the rest" if asked == names else ", ".join(asked)
    return Cell(text=f"{share}, {rest} {owed.text}", remark=f"{owed.remark}: {', '.join(names)}")


def _owed(name: str, kind: Kind) -> Cell:
    """Return which tier is to answer an experiment on a kind of machine, or why none is."""
    if getattr(experiments.load(name), "NEEDS_DATA", None):
        return Cell(text=units.DASH, remark="needs the real data")
    if not kind.counts(getattr(experiments.load(name), "GPUS", 1)):
        return Cell(text=units.DASH, remark="not asked for")
    return Cell(text=f"tier {kind.experiments}", remark="not answered yet")


def _says(result: ExperimentResult) -> bool:
    """Return whether an experiment that asks of no model by name has an answer that is known."""
    return any(not answer.startswith(_NOT_KNOWN) for answer in result.answers)


def _tells(result: ExperimentResult, model: str, gpus: int) -> bool:
    """Return whether a model is answered: named, and not only in sentences which say that its answer is not known.

    With several GPUs it has a whole result of so many, too.
    """
    said = [each for each in result.answers if ExperimentResult(answers=(each,)).names(model)]
    known = result.names(model) and not (said and all(_UNKNOWN in each for each in said))
    return known and (gpus == 1 or (model, gpus) in _measured(result))


def _measured(result: ExperimentResult) -> set[tuple[str, int]]:
    """Return the models and numbers of GPUs of which an answer shows a whole result."""
    shown = [cell.record for table in result.tables for row in table.rows for cell in row]
    return {(each.workload, each.case.devices) for each in shown if each is not None and summary(each).complete}

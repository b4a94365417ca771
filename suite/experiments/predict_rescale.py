"""What if the photographs that a network is asked about are not rescaled? And what if it has to answer exactly 1?"""

from collections.abc import Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.learning import documented_steps, learning, learnt, newest
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.records.run import Predictions
from suite.results.views.experiment_result import ExperimentResult
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import Cell, Table
from suite.workload import Description

TITLE = "Which answers does a network give to pixels that it never learnt from?"
TESTS = ("O25",)
METHOD = (
    "The tutorial behind the article trains on pixels from 0 to 1, predicts from pixels from 0 to 255, and calls a "
    "photograph a dog where the output is exactly 1. Here the trained network answers the validation, as many cats as "
    "dogs, in both ways, and both rules are applied to its outputs, which are a sigmoid in float32. On the published "
    "data it is trained for as many steps as documented; on the stand-ins that the project makes, for a few hundred."
)
WORKLOADS = ("catdog_cnn_dropout",)

_STAND_IN_STEPS = 300
_COLUMNS = (
    "model", "trained on", "steps", "pixels", "a dog is", "accuracy", "called a dog", "mean output", "exactly 1",
    "examples",
)  # fmt: skip


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the training of these networks on one backend. Raises ValueError if none tells cats from dogs."""
    chosen = [about for about in catalogue if about.dataset == "cats_vs_dogs"]
    if not chosen:
        raise ValueError(
            f"experiment 'predict_rescale' asks about cats and dogs, none of these networks tells them apart; name "
            f"'{WORKLOADS[0]}'"
        )
    real = here.data == "tfds"
    return tuple(
        learning(about, here, (documented_steps(about) if real else None) or _STAND_IN_STEPS) for about in chosen
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return what each network says in both ways; None if none was trained. The published data come first."""
    rows, answers = [], []
    for data in ("tfds", "embedded"):
        for record in newest(r for r in evidence.records if r.case.data == data).values():
            trained = "the published data" if data == "tfds" else "the stand-in"
            for one in learnt(record)[:1]:
                rows += [row for said in one.predictions for row in _rows(record, trained, one.steps, said)]
                if one.predictions:
                    answers.append(f"{record.workload}, trained on {trained}: {_words(one.predictions)}.")
    if not rows:
        return None
    title = "Answers to as many cats as dogs"
    return ExperimentResult(answers=tuple(answers), tables=(Table(title=title, columns=_COLUMNS, rows=tuple(rows)),))


def _words(said: Sequence[Predictions]) -> str:
    return "; ".join(
        f"on pixels from {one.pixels} it is right about {units.percent(one.accuracy_above_half)} if an output above "
        f"0.5 is a dog ({units.percent(one.above_half)} are), and about {units.percent(one.accuracy_exactly_one)} if "
        "it must be exactly 1"
        for one in said
    )


def _rows(record: Record, trained: str, steps: int, said: Predictions) -> list[tuple[Cell, ...]]:
    rules = (
        ("output > 0.5", said.accuracy_above_half, said.above_half),
        ("output = 1", said.accuracy_exactly_one, said.exactly_one),
    )
    return [
        row_of(
            record.workload,
            trained,
            count_cell(steps),
            said.pixels,
            rule,
            Cell(text=units.percent(right, 3), sort=right, record=record),
            Cell(text=units.percent(dogs, 3), sort=dogs),
            Cell(text=units.number(said.mean_output), sort=said.mean_output),
            Cell(text=units.percent(said.exactly_one, 3), sort=said.exactly_one),
            count_cell(said.examples),
        )
        for rule, right, dogs in rules
    ]

"""Do the networks reach the accuracies that their sources report? Trained as long as documented, on the real data."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from suite import units
from suite.inquiry.here import Here
from suite.inquiry.learning import documented_steps, learning, learnt, newest
from suite.results.reading import Reading
from suite.results.record import Record
from suite.results.table import Cell, Table
from suite.workload import Case, Data, Description

TITLE = "Do the networks reach the documented accuracies?"
TESTS = ("O23",)
METHOD = (
    "Each network is trained with the step that is timed, from storage, for as many steps as documented: 20 epochs on "
    "MNIST, 2 on the reviews, 25 of 8,000 steps on cats and dogs, which is how long the article trained its first "
    "network. Then it answers every example of the validation. On the published data alone: stand-ins that the project "
    "makes are easier or harder than those, so that their accuracies say nothing about a documented one. The share of "
    "right answers stands beside the documented one; its processes start from different seeds, and the range is theirs."
)
NEEDS_DATA: Data = "tfds"
# The validation accuracies of the sources; of MNIST and the reviews, those that the Keras examples state.
DOCUMENTED = {
    "catdog_cnn_base": 0.80,
    "catdog_cnn_conv64": 0.84,
    "catdog_cnn_dropout": 0.90,
    "catdog_cnn_128": 0.94,
    "catdog_cnn_noaug": 0.85,
    "mnist_mlp": 0.984,
    "imdb_text_cnn": 0.89,
}
WORKLOADS = tuple(DOCUMENTED)

_LADDER = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_128")
_COLUMNS = ("model", "documented", "measured", "range", "difference", "steps", "validation examples", "processes")


def cases(catalogue: Sequence[Description], here: Here) -> tuple[Case, ...]:
    """Return the documented training of each network that has an accuracy, on one backend.

    Raises RuntimeError if the data are not the published ones, ValueError if no network has a documented accuracy.
    """
    if here.data != NEEDS_DATA:
        raise RuntimeError(
            f"experiment 'accuracy' needs the real data, this run has data '{here.data}'; add --data {NEEDS_DATA}"
        )
    found = [(about, documented_steps(about)) for about in catalogue if about.name in DOCUMENTED]
    made = tuple(learning(about, here, steps) for about, steps in found if steps)
    if not made:
        raise ValueError(f"no accuracy is documented for these workloads; there are: {', '.join(DOCUMENTED)}")
    return made


def read(records: Sequence[Record]) -> Reading | None:
    """Return documented and measured accuracies; None if no network was trained on the real data as long as that."""
    found = newest(r for r in records if _fits(r))
    if not found:
        return None
    means = {name: fmean(one.accuracy for one in learnt(record)) for name, record in found.items()}
    answers = [
        f"{name}: {_percent(means[name])} of the validation are answered right, documented are "
        f"{_percent(DOCUMENTED[name])}."
        for name in DOCUMENTED
        if name in means
    ]
    if all(name in means for name in _LADDER):
        ladder = [means[name] for name in _LADDER]
        rises = all(one < next_ for one, next_ in pairwise(ladder))
        words = "rises with each step, as documented" if rises else "does not rise with each step, as documented"
        answers.append(f"From {_LADDER[0]} to {_LADDER[-1]} the accuracy {words}.")
    rows = tuple(_row(name, found.get(name), means.get(name)) for name in DOCUMENTED)
    title = "Validation accuracy on the published data, documented and measured"
    return Reading(answers=tuple(answers), tables=(Table(title=title, columns=_COLUMNS, rows=rows),))


def _fits(record: Record) -> bool:
    case, about = record.case, record.description
    documented = record.workload in DOCUMENTED and case.steps == documented_steps(about)
    return documented and case.data == NEEDS_DATA and case.batch == about.batch and case.augmentation == "host"


def _row(name: str, record: Record | None, mean: float | None) -> tuple[Cell, ...]:
    documented = Cell(text=_percent(DOCUMENTED[name]), sort=DOCUMENTED[name])
    if record is None or mean is None:
        missing = Cell(text=units.DASH, remark="not run: needs the real data")
        return (Cell(text=name), documented, *(missing for _ in _COLUMNS[2:]))
    several = learnt(record)
    shares = [one.accuracy for one in several]
    spread = f"{_percent(min(shares))} to {_percent(max(shares))}" if len(shares) > 1 else units.DASH
    points = 100 * (mean - DOCUMENTED[name])
    return (
        Cell(text=name),
        documented,
        Cell(text=_percent(mean), sort=mean, record=record),
        Cell(text=spread, remark="" if len(shares) > 1 else "one process"),
        Cell(text=f"{points:+.1f} points", sort=points),
        Cell(text=units.count(several[0].steps), sort=several[0].steps),
        Cell(text=units.count(several[0].examples), sort=several[0].examples),
        Cell(text=units.count(len(shares)), sort=len(shares)),
    )


def _percent(share: float) -> str:
    return units.percent(share, 3)

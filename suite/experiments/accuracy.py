"""Do the networks reach the accuracies that their sources report? Trained as long as documented, on the real data."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import claimed
from suite.analysis.learning import documented_steps, learning, learnt, newest
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.views.experiment_result import ExperimentResult
from suite.results.views.rows import count_cell, number_cell, row_of
from suite.results.views.table import Cell, Table
from suite.workload import Data, Description

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
WORKLOADS = (  # with a documented accuracy
    "catdog_cnn_base",
    "catdog_cnn_conv64",
    "catdog_cnn_dropout",
    "catdog_cnn_128",
    "catdog_cnn_noaug",
    "mnist_mlp",
    "imdb_text_cnn",
)

_LADDER = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_128")
_COLUMNS = ("model", "documented", "measured", "range", "difference", "steps", "validation examples", "processes")


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the documented training of each network that has an accuracy, on one backend.

    Raises RuntimeError if the data are not the published ones, ValueError if no network has a documented accuracy.
    """
    if here.data != NEEDS_DATA:
        raise RuntimeError(
            f"experiment 'accuracy' needs the real data, this run has data '{here.data}'; add --data {NEEDS_DATA}"
        )
    found = [(about, documented_steps(about)) for about in catalogue if claimed(about, "accuracy")]
    made = tuple(learning(about, here, steps) for about, steps in found if steps)
    if not made:
        raise ValueError(f"no accuracy is documented for these workloads; there are: {', '.join(WORKLOADS)}")
    return made


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return documented and measured accuracies; None if no network was trained on the real data as long as that."""
    found = trained(evidence.records)
    if not found:
        return None
    means = {name: mean(record) for name, record in found.items()}
    answers = [
        f"{name}: {_percent(means[name])} of the validation are answered right, documented are "
        f"{_percent(_documented(record.description))}."
        for name, record in found.items()
    ]
    rises = rising(found)
    if rises is not None:
        words = "rises with each step, as documented" if rises else "does not rise with each step, as documented"
        answers.append(f"From {_LADDER[0]} to {_LADDER[-1]} the accuracy {words}.")
    rows = tuple(_row(record, means[name]) for name, record in found.items())
    title = "Validation accuracy on the published data, documented and measured"
    return ExperimentResult(answers=tuple(answers), tables=(Table(title=title, columns=_COLUMNS, rows=rows),))


def trained(records: Iterable[Record]) -> dict[str, Record]:
    """Return the newest record of each network that was trained on the real data as long as documented, by name."""
    return newest(record for record in records if _fits(record))


def rising(found: Mapping[str, Record]) -> bool | None:
    """Return whether the accuracy rises along the four networks that the article has in a row; None if one is missing.

    `found` are the records of the networks that were trained, by name.
    """
    if not all(name in found for name in _LADDER):
        return None
    return all(one < next_ for one, next_ in pairwise(mean(found[name]) for name in _LADDER))


def mean(record: Record) -> float:
    """Return the share of the validation that is answered right, a mean over the processes."""
    return fmean(one.accuracy for one in learnt(record))


def _documented(about: Description) -> float:
    """Return the share of the validation that the source has answered right, which must state one."""
    claim = claimed(about, "accuracy")
    assert claim is not None
    assert claim.gpu_value is not None
    return claim.gpu_value / 100


def _fits(record: Record) -> bool:
    case, about = record.case, record.description
    documented = claimed(about, "accuracy") is not None and case.steps == documented_steps(about)
    return documented and case.data == NEEDS_DATA and case.batch == about.batch and case.augmentation == "host"


def _row(record: Record, share: float) -> tuple[Cell, ...]:
    documented, several = _documented(record.description), learnt(record)
    shares = [one.accuracy for one in several]
    spread = f"{_percent(min(shares))} to {_percent(max(shares))}" if len(shares) > 1 else units.DASH
    points = 100 * (share - documented)
    counts = map(count_cell, (several[0].steps, several[0].examples, len(shares)))
    return row_of(
        record.workload,
        number_cell(documented, _percent),
        number_cell(share, _percent, record),
        Cell(text=spread, remark="" if len(shares) > 1 else "one process"),
        Cell(text=f"{points:+.1f} points", sort=points),
        *counts,
    )


def _percent(share: float | None) -> str:
    return units.percent(share, 3)

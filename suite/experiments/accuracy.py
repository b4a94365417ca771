"""Do the networks reach the accuracies that their sources report? Trained as long as documented, on the real data."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import claimed
from suite.analysis.learning import documented_steps, learning, learnt, newest, paired_difference
from suite.analysis.steps import usual_case
from suite.case import Backend, Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import ExperimentResult
from suite.results.views.rows import count_cell, number_cell, row_of
from suite.results.views.table import Cell, Table
from suite.workload import Data, Description

TITLE = "Do the networks reach the documented accuracies?"
TESTS = ("O23",)
METHOD = (
    "Each network is trained from storage with the timed step, for as many steps as documented: 20 epochs on MNIST,"
    " 2 on the reviews, 25 of 8,000 steps on cats and dogs, as the article trained its first network. Then it "
    "answers every validation example. Only published data count: stand-ins are easier or harder, so their "
    "accuracies say nothing about a documented one. The range is over processes with different seeds. A network "
    "with a documented whole run is trained on CPU and GPU from equal seeds, and both are compared over the seeds "
    "of all campaigns."
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
_BACKENDS: tuple[Backend, ...] = ("cpu", "gpu")
_SIDES: tuple[Backend, ...] = ("gpu", "cpu")  # of a difference: the first minus the second
_PAIRED = ("model", "pairs of equal seeds", "GPU minus CPU", "95 % interval")
_COLUMNS = (
    "model",
    "backend",
    "documented",
    "measured",
    "range",
    "difference",
    "steps",
    "validation examples",
    "processes",
)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the documented training of each network: on every backend if its whole run is documented, else on one.

    Raises RuntimeError if the data are not the published ones, ValueError if no training is documented.
    """
    if here.data != NEEDS_DATA:
        raise RuntimeError(
            f"experiment 'accuracy' needs the real data, this run has data '{here.data}'; add --data {NEEDS_DATA}"
        )
    made = tuple(case for about in catalogue for case in _cases(about, here))
    if not made:
        raise ValueError(
            f"no training of these workloads is documented; it is, with its accuracy, for: {', '.join(WORKLOADS)}"
        )
    return made


def _cases(about: Description, here: MachineCapabilities) -> tuple[Case, ...]:
    steps = documented_steps(about)
    if steps is None or about.grid is not None:
        return ()
    if about.run is None:  # long
        return (learning(about, here, steps),)
    # Many epochs of small records: decoding them again is cheaper than reading them again.
    axes = {"steps": steps, "stored": "memory"}
    return tuple(usual_case(about, backend, here, "learning", **axes) for backend in here.backends)


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return documented and measured accuracies; None if no network was trained on the real data as long as that."""
    found = trained(evidence.records)
    if not found:
        return None
    answers = [_undocumented(name, record) for name, record in found.items() if not _documented(record.description)]
    rises = rising(found)
    if rises is not None:
        words = "rises with each step, as documented" if rises else "does not rise with each step, as documented"
        answers.append(f"From {_LADDER[0]} to {_LADDER[-1]} the accuracy {words}.")
    sides = {side: trained(record for record in evidence.records if record.backend == side) for side in _BACKENDS}
    rows = tuple(_row(sides[side][name]) for name in found for side in _BACKENDS if name in sides[side])
    both = [name for name in found if all(name in sides[side] for side in _BACKENDS)]
    differences = [
        (name, paired_difference(*(_all_of(evidence.records, name, side) for side in _SIDES))) for name in both
    ]
    pairs = [(name, paired) for name, paired in differences if paired is not None]
    title = "Validation accuracy on the published data, documented and measured"
    tables = [Table(title=title, columns=_COLUMNS, rows=rows)]
    if pairs:
        title = "The same accuracy on CPU and GPU, from equal seeds"
        tables.append(Table(title=title, columns=_PAIRED, rows=tuple(_pair(*each) for each in pairs)))
        answers += [f"{name}: GPU minus CPU is {_points(paired)[0]}, {_points(paired)[1]}." for name, paired in pairs]
    lead = _lead(found, [paired for _, paired in pairs])
    return ExperimentResult(answers=tuple(filter(None, (lead, *answers))), tables=tuple(tables))


def trained(records: Iterable[Record]) -> dict[str, Record]:
    """Return the newest record of each network that was trained on the real data as long as documented, by name."""
    return newest(record for record in records if _fits(record))


def _all_of(records: Iterable[Record], name: str, backend: Backend) -> list[Record]:
    """Return all campaigns' records of a network's documented training on the published data."""
    return [record for record in records if (record.workload, record.backend) == (name, backend) and _fits(record)]


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


def _lead(found: Mapping[str, Record], pairs: Iterable[Estimate]) -> str:
    """Return the accuracies reached and documented, and how far CPU and GPU agree; empty if none is documented."""
    documented = [
        f"{name} reaches {_percent(mean(record))}, documented {_percent(share)}"
        for name, record in found.items()
        if (share := _documented(record.description))
    ]
    bounds = [abs(bound) for paired in pairs for bound in (paired.low, paired.high) if bound is not None]
    agree = f" From equal seeds CPU and GPU differ by at most {100 * max(bounds):.2f} points." if bounds else ""
    return f"{'; '.join(documented)}.{agree}" if documented else ""


def _undocumented(name: str, record: Record) -> str:
    return f"{name} reaches {_percent(mean(record))}; its source states no accuracy."


def _documented(about: Description) -> float | None:
    """Return the share of the validation that the source has answered right; None if it states none."""
    claim = claimed(about, "accuracy")
    return None if claim is None or claim.gpu_value is None else claim.gpu_value / 100


def _pair(name: str, paired: Estimate) -> tuple[Cell, ...]:
    points, interval = _points(paired)
    return row_of(name, count_cell(paired.processes), Cell(text=points, sort=paired.value), interval)


def _points(paired: Estimate) -> tuple[str, str]:
    """Return a difference of shares in points, and its interval, as text."""
    if paired.low is None or paired.high is None:
        return f"{100 * paired.value:+.2f} points", "of one pair"
    return f"{100 * paired.value:+.2f} points", f"{100 * paired.low:+.2f} to {100 * paired.high:+.2f}"


def _fits(record: Record) -> bool:
    case, about = record.case, record.description
    steps = documented_steps(about)
    documented = steps is not None and case.steps == steps
    return documented and case.data == NEEDS_DATA and case.batch == about.batch and case.augmentation == "host"


def _row(record: Record) -> tuple[Cell, ...]:
    documented, several, share = _documented(record.description), learnt(record), mean(record)
    shares = [one.accuracy for one in several]
    spread = f"{_percent(min(shares))} to {_percent(max(shares))}" if len(shares) > 1 else units.DASH
    points = None if documented is None else 100 * (share - documented)
    counts = map(count_cell, (several[0].steps, several[0].examples, len(shares)))
    return row_of(
        record.workload,
        record.backend,
        number_cell(documented, _percent),
        number_cell(share, _percent, record),
        Cell(text=spread, remark="" if len(shares) > 1 else "one process"),
        Cell(text=units.DASH if points is None else f"{round(points, 1) + 0.0:+.1f} points", sort=points),
        *counts,
    )


def _percent(share: float | None) -> str:
    return units.percent(share, 3)

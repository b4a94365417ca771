"""Does the time of one step tell the time of an epoch? Predicted from the steady step, and measured.

Both are of one campaign: the pools of the two may hold other versions of the code, which differ by as much as is asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import from_storage
from suite.analysis.steps import caveat, point, together, usual_case, words
from suite.case import Backend, Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.single.summary import Summary, seconds_by_round
from suite.results.stats.statistics import Estimate, geometric_mean, paired_ratio
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.rows import row_of, share_cell
from suite.results.views.table import ON_ONE_HOST, Cell, Table, one_host_cell, times_cells
from suite.workload import Description

TITLE = "Does the time of one step tell the time of an epoch?"
TESTS = ("O9",)
METHOD = (
    "The prediction is an epoch's number of steps times the time of one step with its batch on the device, as an "
    "article extrapolates. If a whole run is documented, its epochs are measured, with each batch copied from "
    "memory; the median epoch counts, without compiling and validation. An epoch from storage is not measured to "
    "its end: the step with its input is timed over a window, and multiplied by the number of steps. So it is "
    "extrapolated too, and shows only what the input adds to a step. 'timed' is the share of the epoch in the "
    "window. What happens once an epoch, or later, is not in it. Both times are from rounds that have both. An "
    "epoch is one pass over the data: 250 steps of 32 photographs, not the 8,000 steps that the article calls an "
    "epoch. The residual network's source takes one batch four times; here its epoch is the 50,000 pictures of the "
    "data set. Networks of more than a hundred teraFLOP an epoch run on a GPU only."
)
WORKLOADS = ("mnist_mlp", "cifar10_mlp", "catdog_cnn_base", "cifar10_resnet63")

# Of an epoch by data set, where a source counts otherwise or knows none: the data set once.
_EXAMPLES = {"cats_vs_dogs": 8_000, "cifar10": 50_000}
_MOST_FLOP = 1e14  # of an epoch on a CPU
_COLUMNS = ("model", "epoch", "predicted", "measured", "ratio", "95 % interval", "timed", ON_ONE_HOST)


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """An epoch as it was measured beside what a step says, in the rounds of both; `ratio` is seconds over predicted."""

    step: Summary
    measured: Summary
    ratio: Estimate
    predicted: Estimate
    seconds: Estimate
    timed: float  # share of the epoch that was timed

    @property
    def where(self) -> str:
        """Return in words where its examples come from."""
        return "from memory" if self.measured.record.case.scope == "run" else "from storage"


def examples(about: Description) -> int | None:
    """Return how many examples an epoch has here; None where there is none to speak of."""
    return _EXAMPLES.get(about.dataset, about.epoch_examples)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return step and epoch of each network, on the CPU or, if it is large, on the GPU; and documented whole runs.

    Raises RuntimeError if nothing is left for the backends that there are.
    """
    found = []
    for about in catalogue:
        backend = _backend(about)
        if backend not in here.backends or not about.stored or examples(about) is None:
            continue
        found += [usual_case(about, backend, here), usual_case(about, backend, here, "epoch")]
        if about.run is not None:
            found.append(usual_case(about, backend, here, "run", allocator="tuned-malloc"))
    if catalogue and not found:
        here.need_gpu("extrapolation")
        here.need_cpu("extrapolation")
    return tuple(found)


def _backend(about: Description) -> Backend:
    return "cpu" if (examples(about) or 0) * about.flop_per_example <= _MOST_FLOP else "gpu"


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return how far prediction and epoch differ; None if no campaign has both."""
    found = epochs(evidence.records)
    if not found:
        return None
    chart = Chart(
        caption="Measured over predicted time of an epoch; on 1 a step tells all.",
        across="measured / predicted, log scale",
        points=tuple(_point(item) for item in found),
        level=1.0,
        finding="An epoch takes {span} as long as its steps predict",
    )
    title = "An epoch as the steady step predicts it, and as it was measured"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(map(_row, found)))
    return ExperimentResult(answers=tuple(map(_answer, found)), tables=(table,), chart=chart)


def epochs(records: Sequence[Record]) -> list[Epoch]:
    """Return every epoch that a campaign has measured beside its step."""
    return [item for group in together(records, _fits) for item in _epochs(group)]


def _fits(record: Record) -> bool:
    if record.description.grid is not None:
        return False  # its epochs are of several networks, on a part of the data each
    if record.case.scope == "run":
        return record.usual() and not record.cut_short
    return record.headline_step() or from_storage(record)


def _epochs(group: Sequence[Summary]) -> Iterator[Epoch]:
    scopes = {item.record.case.scope: item for item in group}
    alone, count = scopes.get("step"), examples(group[0].record.description)
    if alone is None or count is None or not alone.complete:
        return
    steps = count / alone.record.case.batch
    for scope in ("run", "epoch"):
        item = scopes.get(scope)
        if item is None or not item.complete:
            continue
        record = item.record
        times = _stages(record) if scope == "run" else {r: steps * s for r, s in seconds_by_round(record).items()}
        predicted = {number: steps * seconds for number, seconds in seconds_by_round(alone.record).items()}
        ratio = paired_ratio(times, predicted)
        if ratio is not None:
            taken = [len(run.samples) * run.steps_per_sample for run in record.runs if not run.reason]
            rounds = sorted(times.keys() & predicted.keys())
            yield Epoch(
                step=alone,
                measured=item,
                ratio=ratio,
                predicted=geometric_mean([predicted[number] for number in rounds]),
                seconds=geometric_mean([times[number] for number in rounds]),
                timed=1.0 if scope == "run" else min(1.0, min(taken) / steps),
            )


def _stages(record: Record) -> dict[int, float]:
    """Return of each round the middle epoch of a whole run."""
    found = {
        run.round: [stage.wall_seconds for stage in run.stages if stage.name == "epoch"]
        for run in record.runs
        if not run.reason
    }
    return {number: median(times) for number, times in found.items() if times}


def _row(item: Epoch) -> tuple[Cell, ...]:
    record = item.measured.record
    where, caveats = f"{record.backend.upper()}, {item.where}", one_host_cell(item.step, item.measured)
    predicted, measured = _time_cell(item.predicted, item.step.record), _time_cell(item.seconds, record)
    return row_of(
        record.workload, where, predicted, measured, *times_cells(item.ratio, record), share_cell(item.timed), caveats
    )


def _time_cell(time: Estimate, record: Record) -> Cell:
    text = units.seconds(time.value, units.half_width(time.low, time.high))
    return Cell(text=text, sort=time.value, record=record)


def _answer(item: Epoch) -> str:
    record = item.measured.record
    judged = "" if item.timed >= 1 else f", judged by the {units.percent(item.timed)} of it that were timed"
    return (
        f"{record.workload} on the {record.backend.upper()}: an epoch {item.where} takes {words(item.ratio)} as long "
        f"as its step predicts{judged}."
    ) + caveat((item.step, item.measured))


def _point(item: Epoch) -> Point:
    record = item.measured.record
    return point(item.where, item.ratio, item.step, item.measured, row=f"{record.workload}, {record.backend.upper()}")

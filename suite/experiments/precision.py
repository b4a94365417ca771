"""What does lower precision gain on the GPU? One step in float32, TF32 and bfloat16."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import caveat, fullest, point, step, words
from suite.case import Case
from suite.results.records.record import Record
from suite.results.single.selection import current_cases
from suite.results.single.summary import Summary, seconds_by_round, time_ratio
from suite.results.stats.statistics import Estimate, unpaired_ratio
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.table import (
    ON_ONE_HOST,
    Cell,
    Table,
    base_cells,
    gain_cell,
    one_host_cell,
    time_cell,
    times_cells,
)
from suite.workload import Description

TITLE = "What does lower precision gain on the GPU?"
TESTS = ("O3",)
METHOD = (
    "One step is timed on the GPU with matrix products and convolutions in float32 at highest precision, in TF32, and "
    "with everything but the parameters in bfloat16. The gain is the time in float32 over the time in the other "
    "precision, paired by round. Where no campaign has float32 beside the others, that of another one stands in: such "
    "a gain has no interval, as what differs between campaigns is not known. The CPU has no such choice, so the "
    "headline compares float32 on both sides."
)
WORKLOADS = ("cifar10_mlp", "cifar10_tf_cnn", "cifar10_resnet63", "catdog_cnn_128", "serve_resnet50")

_FULL = "float32-highest"
_UNKNOWN = "not known, as a precision has no whole result"
_COLUMNS = ("model", "precision", "batch", "GPU step", "gain", "95 % interval", ON_ONE_HOST)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the GPU's step in each precision that it has. Raises RuntimeError if there is no choice."""
    here.need_gpu("precision")
    if len(here.gpu_precisions) < 2:
        raise RuntimeError(
            f"experiment 'precision' asks for a choice, this GPU has only {', '.join(here.gpu_precisions)}"
        )
    return tuple(step(about, "gpu", here, precision=one) for about in catalogue for one in here.gpu_precisions)


def read(records: Sequence[Record]) -> ExperimentResult | None:
    """Return what each precision gains over float32; None if no workload was timed in two of them."""
    answers, rows, points = [], [], []
    elsewhere = {item.record.workload: item for item in current_cases(filter(_in_full, records)) if item.complete}
    for group in fullest(records, _fits):
        if len(group) < 2:
            continue
        by_name = {item.record.case.precision: item for item in group}
        full, name = by_name.get(_FULL), group[0].record.workload
        base, gains = full or elsewhere.get(name), []
        for precision in sorted(by_name, key=_order):
            item = by_name[precision]
            found = time_ratio(full, item) if full else _unpaired(base, item)
            why = "; ".join(item.reasons) or "no float32 beside it"
            rows.append(
                (
                    Cell(text=name),
                    Cell(text=precision),
                    Cell(text=units.count(item.record.case.batch), sort=item.record.case.batch),
                    time_cell(item),
                    *(base_cells(item.record) if item is full else times_cells(found, item.record, why)),
                    gain_cell(found, item, full) if full or found is None else _unpaired_status(item),
                )
            )
            if found is not None and base is not None and precision != _FULL:
                mark = point(precision, found, base, item, row=name)
                points.append(mark if full else replace(mark, solid=False))
                gains += [f"{precision} is {words(found)}"] if item.complete and base.complete else []
        apart = "" if full else " of another campaign"
        said = f"{' and '.join(gains)} as fast as float32{apart}" if gains else _UNKNOWN
        answers.append(f"{name}: {said}." + caveat(group))
    if not answers:
        return None
    chart = Chart(
        caption="Time of one step in float32 over its time in another precision on the same GPU; above 1 it gains.",
        across="float32 time / time, log scale",
        points=tuple(points),
        level=1.0,
    )
    title = "One step on the GPU in each precision"
    return ExperimentResult(
        answers=tuple(answers), tables=(Table(title=title, columns=_COLUMNS, rows=tuple(rows)),), chart=chart
    )


def _unpaired(full: Summary | None, item: Summary) -> Estimate | None:
    """Return the ratio of two campaigns' times, which has no interval."""
    if full is None:
        return None
    found = unpaired_ratio(*(list(seconds_by_round(side.record).values()) for side in (full, item)))
    return msgspec.structs.replace(found, low=None, high=None) if found else None


def _unpaired_status(item: Summary) -> Cell:
    return one_host_cell(item, caveat="float32 is of another campaign")


def _in_full(record: Record) -> bool:
    return record.backend == "gpu" and record.headline_step() and record.profile != "smoke"


def _fits(record: Record) -> bool:
    return record.backend == "gpu" and record.headline_step("precision")


def _order(precision: str) -> int:
    return (_FULL, "tf32", "bfloat16").index(precision)

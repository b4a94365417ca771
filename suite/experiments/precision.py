"""What does lower precision gain on the GPU? One step in float32, TF32 and bfloat16."""

from collections.abc import Sequence

from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import ratio_point, said_of_pooled, untimed, usual_case, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.records.record import Record
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import count_cell, ratio_cells, row_of
from suite.results.views.table import HOSTS, STATUS, Table, time_cell
from suite.workload import Description

TITLE = "What does lower precision gain on the GPU?"
TESTS = ("O3",)
METHOD = (
    "One step is timed on the GPU with matrix products and convolutions in float32 at highest precision, in TF32, and "
    "with everything but the parameters in bfloat16. The gain is the time in float32 over the time in the other "
    "precision, each pooled over hosts. The CPU has no such choice, so the headline compares float32 on both sides."
)
WORKLOADS = ("cifar10_mlp", "cifar10_tf_cnn", "cifar10_resnet63", "catdog_cnn_128", "serve_resnet50")

_FULL = "float32-highest"
_COLUMNS = ("model", "precision", "batch", "GPU step", "gain", "95 % interval", STATUS, HOSTS)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the GPU's step in each precision that it has. Raises RuntimeError if there is no choice."""
    here.need_gpu("precision")
    if len(here.gpu_precisions) < 2:
        raise RuntimeError(
            f"experiment 'precision' asks for a choice, this GPU has only {', '.join(here.gpu_precisions)}"
        )
    return tuple(usual_case(about, "gpu", here, precision=one) for about in catalogue for one in here.gpu_precisions)


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return what each precision gains over float32; None if no workload was timed in two of them."""
    answers, rows, points = [], [], []
    groups = list(evidence.sides(_fits, least=2))
    for group in groups:
        by_name = {pool.case.precision: pool for pool in group}
        full, name, gains = by_name.get(_FULL), group[0].case.workload, {}
        for precision in sorted(by_name, key=_order):
            pool = by_name[precision]
            if full is not None and pool is not full:
                gains[precision] = over(full, pool)
                points.append(ratio_point(precision, gains[precision], row=name))
            gain = ratio_cells(pool, full, gains.get(precision), f"no {_FULL} beside it")
            rows.append(row_of(name, precision, count_cell(pool.case.batch), time_cell(pool), *gain))
        said = " and ".join(f"{precision} is {words(gain.estimate)}" for precision, gain in gains.items())
        text = f"{said} as fast as float32" if gains else "not known, as float32 was not measured"
        answers.append(f"{name}: {text}.{said_of_pooled(gains.values())}")
    if not answers:
        return None
    chart = Chart(
        caption="Time of one step in float32 over its time in another precision on the same GPU; above 1 it gains.",
        across="float32 time / time, log scale",
        points=tuple(points),
        level=1.0,
    )
    title = "One step on the GPU in each precision"
    table = Table(title=title, columns=_COLUMNS, rows=tuple(rows), notes=untimed(evidence, _fits, groups))
    return ExperimentResult(answers=tuple(answers), tables=(table,), chart=chart)


def _fits(record: Record) -> bool:
    return record.backend == "gpu" and record.headline_step("precision")


def _order(precision: str) -> int:
    return (_FULL, "tf32", "bfloat16").index(precision)

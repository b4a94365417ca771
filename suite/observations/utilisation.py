"""How busy the processors are in a short run."""

from collections.abc import Sequence

from suite import units
from suite.experiments.run_length import busy, cpu, gpu
from suite.inquiry.steps import fullest
from suite.observations import NOT_RUN, Judgement, Observation, either, unmeasured
from suite.observations._articles import MNIST
from suite.observations._found import counted
from suite.results.record import Record
from suite.results.summary import Summary

_EXPERIMENT = "run_length"
_SATURATED, _IDLE, _MORE = 0.9, 0.5, 1.5


def _runs(records: Sequence[Record]) -> dict[tuple[str, int], Summary]:
    """Return the whole runs of mnist_mlp with the data on the host, by backend and length."""

    def fits(record: Record) -> bool:
        case = record.case
        chosen = (record.workload, case.scope, case.implementation, case.variant, case.precision)
        return chosen == ("mnist_mlp", "run", "jax", "plain", "float32-highest") and not record.cut_short

    found = (item for group in fullest(records, fits) for item in group if counted(item))
    return {(item.record.backend, item.record.case.length): item for item in found}


def _saturates(records: Sequence[Record]) -> Judgement:
    runs = _runs(records)
    if not {("cpu", 1), ("gpu", 1)} <= set(runs):
        return NOT_RUN
    host = busy(runs["cpu", 1], cpu, lambda level: level.mean)
    most = busy(runs["gpu", 1], gpu, lambda level: level.max)
    if host is None or most is None:
        return NOT_RUN
    said = f"The CPU's cores are busy {units.percent(host)} of its run, the GPU at most {units.percent(most)}."
    items = (runs["cpu", 1], runs["gpu", 1])
    return either(host >= _SATURATED and most <= _IDLE, host < _IDLE or most > _SATURATED, said, items)


def _too_short(records: Sequence[Record]) -> Judgement:
    runs = _runs(records)
    shares = {
        length: busy(item, gpu, lambda level: level.mean)
        for (backend, length), item in runs.items()
        if backend == "gpu"
    }
    short, long = shares.get(1), shares.get(10)
    if short is None and long is None:
        return NOT_RUN
    if long is None:
        return unmeasured("one ten times as long", f"The GPU is busy {units.percent(short)} of the documented run.")
    if short is None:
        return unmeasured("the documented run", f"The GPU is busy {units.percent(long)} of one ten times as long.")
    said = (
        f"The GPU is busy {units.percent(short)} of the documented run and {units.percent(long)} of one ten times as "
        "long."
    )
    items = (runs["gpu", 1], runs["gpu", 10])
    return either(long >= _MORE * short and long > _IDLE, long < _MORE * short, said, items)


OBSERVATIONS = (
    Observation(
        code="O1",
        article=MNIST,
        said="Training on MNIST takes all of the CPU, but at most 26 % of the GPU.",
        rule="Reproduced if the CPU's cores are busy at least 90 % of its run and the GPU at most 50 % at any time; "
        "refuted if the cores are busy less than half, or the GPU more than 90 %.",
        experiment=_EXPERIMENT,
        judge=_saturates,
    ),
    Observation(
        code="O2",
        article=MNIST,
        said="The GPU was not busy because the run was too short.",
        rule="Reproduced if ten times the epochs keep the GPU busy one and a half times as much and more than half "
        "of the time; refuted if they do not come to one and a half times as much.",
        experiment=_EXPERIMENT,
        judge=_too_short,
    ),
)

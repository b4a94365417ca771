"""How busy the processors are in a short run."""

from collections.abc import Sequence

from suite import units
from suite.experiments.run_length import cpu_while_training, gpu, gpu_at_most, gpu_while_training, mean, runs
from suite.observations import NOT_RUN, Judgement, Observation, either, unmeasured
from suite.observations._articles import MNIST
from suite.observations._found import counted
from suite.results.record import Record
from suite.results.summary import Summary

_EXPERIMENT = "run_length"
_SATURATED, _IDLE, _MORE = 0.9, 0.5, 1.5
_SHORT, _LONG = 1, 10  # times the documented epochs
_NAMES = {_SHORT: "the documented run", _LONG: "one ten times as long"}


def _runs(records: Sequence[Record]) -> dict[tuple[str, int], Summary]:
    """Return the whole runs of mnist_mlp with the data on the host, by backend and length."""
    return {
        (item.record.backend, item.record.case.length): item
        for group in runs(records)
        for item in group
        if counted(item) and (item.record.workload, item.record.case.variant) == ("mnist_mlp", "plain")
    }


def _saturates(records: Sequence[Record]) -> Judgement:
    runs = _runs(records)
    if not {("cpu", 1), ("gpu", 1)} <= set(runs):
        return NOT_RUN
    host, most = mean(runs["cpu", 1], cpu_while_training), mean(runs["gpu", 1], gpu_at_most)
    if host is None or most is None:
        return NOT_RUN
    said = f"While training, the CPU's cores are busy {units.percent(host)}; the GPU is at most {units.percent(most)}."
    items = (runs["cpu", 1], runs["gpu", 1])
    return either(host >= _SATURATED and most <= _IDLE, host < _IDLE or most > _SATURATED, said, items)


def _too_short(records: Sequence[Record]) -> Judgement:
    runs = _runs(records)
    sides = {length: item for (backend, length), item in runs.items() if backend == "gpu"}
    shares = {length: mean(item, gpu_while_training) for length, item in sides.items()}
    known = {length: share for length in _NAMES if (share := shares.get(length)) is not None}
    if not known:
        return NOT_RUN
    found = " and ".join(f"{units.percent(share)} in {_NAMES[length]}" for length, share in known.items())
    said = f"While training, the GPU is busy {found}"
    missing = [_missing(length, length in sides) for length in _NAMES if length not in known]
    if missing:
        return unmeasured(missing[0], f"{said}.")
    short, long = known[_SHORT], known[_LONG]
    items = (sides[_SHORT], sides[_LONG])
    wholes = " and ".join(units.percent(mean(item, gpu)) for item in items)
    said = f"{said}; building and compiling included, {wholes}."
    return either(long >= _MORE * short and long > _IDLE, long < _MORE * short, said, items)


def _missing(length: int, there: bool) -> str:
    return f"how busy it is in the epochs of {_NAMES[length]}, which are too short for it" if there else _NAMES[length]


OBSERVATIONS = (
    Observation(
        code="O1",
        article=MNIST,
        said="Training on MNIST takes all of the CPU, but at most 26 % of the GPU.",
        rule="Reproduced if the CPU's cores are busy at least 90 % while its run trains and the GPU at most 50 % at "
        "any time; refuted if the cores are busy less than half, or the GPU more than 90 %.",
        experiment=_EXPERIMENT,
        judge=_saturates,
    ),
    Observation(
        code="O2",
        article=MNIST,
        said="The GPU was not busy because the run was too short.",
        rule="Reproduced if ten times the epochs keep the GPU busy one and a half times as much while training and "
        "more than half of that time; refuted if they do not come to one and a half times as much. Building and "
        "compiling do not count: a longer run always has less of them.",
        experiment=_EXPERIMENT,
        judge=_too_short,
    ),
)

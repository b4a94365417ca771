"""How busy the processors are in a short run."""

from collections.abc import Sequence

from suite import units
from suite.analysis.steps import percent_words
from suite.claims import NOT_RUN, Judgement, Observation, judged, part, unmeasured
from suite.claims._articles import MNIST
from suite.claims._judging import above, below, least, most, mostly, share_over_processes, unsure, usable
from suite.experiments.run_length import cpu_while_training, gpu, gpu_at_most, gpu_while_training, mean, runs
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.single.summary import Summary
from suite.results.stats.statistics import Estimate

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
        if usable(item) and (item.record.workload, item.record.case.variant) == ("mnist_mlp", "plain")
    }


def _saturates(evidence: Evidence) -> Judgement:
    runs = _runs(evidence.records)
    if not {("cpu", 1), ("gpu", 1)} <= set(runs):
        return NOT_RUN
    cpu_run, gpu_run = runs["cpu", 1], runs["gpu", 1]
    host, top = share_over_processes(cpu_run, cpu_while_training), share_over_processes(gpu_run, gpu_at_most)
    if host is None or top is None:
        return NOT_RUN
    said = f"While training, the CPU's cores are busy {percent_words(host)}; the GPU is at most {percent_words(top)}."
    parts = (
        part(
            "it takes all of the CPU",
            mostly(host, _SATURATED),
            below(host, _IDLE),
            [cpu_run],
            unsure(host, between=True),
        ),
        part("it leaves half of the GPU idle", below(top, _IDLE), mostly(top, _IDLE), [gpu_run], unsure(top)),
    )
    return judged(said, parts, (cpu_run, gpu_run))


def _too_short(evidence: Evidence) -> Judgement:
    runs = _runs(evidence.records)
    sides = {length: item for (backend, length), item in runs.items() if backend == "gpu"}
    shares = {length: share_over_processes(item, gpu_while_training) for length, item in sides.items()}
    known = {length: found for length in _NAMES if (found := shares.get(length)) is not None}
    if not known:
        return NOT_RUN
    found = " and ".join(f"{percent_words(busy)} in {_NAMES[length]}" for length, busy in known.items())
    said = f"While training, the GPU is busy {found}"
    missing = [_missing(length, length in sides) for length in _NAMES if length not in known]
    if missing:
        return unmeasured(missing[0], f"{said}.")
    short, long = known[_SHORT], known[_LONG]
    gain = _over(long, short)
    items = (sides[_SHORT], sides[_LONG])
    wholes = " and ".join(units.percent(mean(item, gpu)) for item in items)
    said = f"{said}; building and compiling included, {wholes}."
    busier, same = above(gain, _MORE) and mostly(long, _IDLE), below(gain, _MORE)
    return judged(said, [part("", busier, same, items, unsure(gain))], items)


def _over(one: Estimate, other: Estimate) -> Estimate:
    """Return the ratio of two shares, between the ends of their intervals; without one where a share has none."""
    value = one.value / other.value
    if None in (one.low, one.high, other.low, other.high):
        return Estimate(value=value)
    return Estimate(value=value, low=least(one) / most(other), high=most(one) / least(other), processes=one.processes)


def _missing(length: int, there: bool) -> str:
    return f"how busy it is in the epochs of {_NAMES[length]}, which are too short for it" if there else _NAMES[length]


OBSERVATIONS = (
    Observation(
        code="O1",
        article=MNIST,
        said="Training on MNIST takes all of the CPU, but at most 26 % of the GPU.",
        rule="Part 1 holds if the CPU's cores are surely busy more than 90 % of the time while the run trains; it "
        "fails below 50 %. Part 2 holds if the GPU's peak is surely below 50 %; it fails above.",
        experiment=_EXPERIMENT,
        judge=_saturates,
    ),
    Observation(
        code="O2",
        article=MNIST,
        said="The GPU was not busy because the run was too short.",
        rule="Reproduced if ten times the epochs make the GPU surely 1.5 times as busy while training, and busy more "
        "than half of that time. Refuted if surely less than 1.5 times as busy. Building and compiling do not "
        "count, since a longer run always has less of them.",
        experiment=_EXPERIMENT,
        judge=_too_short,
    ),
)

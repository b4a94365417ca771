"""The first call of a process beside its later ones."""

from collections.abc import Sequence
from statistics import median

from suite import units
from suite.experiments.first_call_vs_steady import by_round, cores, differing, first, steady
from suite.inquiry.steps import percent_words
from suite.observations import NOT_RUN, Judgement, Observation, either
from suite.observations._articles import RESNET
from suite.observations._found import FAR, above, below, groups, higher
from suite.results.record import Record
from suite.results.statistics import Estimate, paired_ratio
from suite.results.summary import Summary

_EXPERIMENT = "first_call_vs_steady"
_STEADY = {"cpu": 0.02, "gpu": 0.005}  # by which calls three and four may differ: 1 % each way, and half a percent
_WAITING = (0.9, 1.2)  # CPU time over wall time of a host that waits for its GPU


def _sides(records: Sequence[Record]) -> dict[str, Summary]:
    """Return the network that the article timed, by backend."""
    found = groups(records, lambda r: r.case.scope == "calls" and r.case.implementation == "jax")
    return {backend: group[0] for (name, backend), group in found.items() if name == "cifar10_resnet63"}


def _first_over_steady(item: Summary) -> Estimate | None:
    return paired_ratio(by_round(item, first), by_round(item, steady))


def ratio_of_first_calls(records: Sequence[Record]) -> tuple[Estimate | None, tuple[Summary, ...]]:
    """Return the CPU's time of the first call over the GPU's, None if no campaign has both; and both results."""
    sides = _sides(records)
    if set(sides) != {"cpu", "gpu"} or sides["cpu"].record.campaign != sides["gpu"].record.campaign:
        return None, ()
    return paired_ratio(by_round(sides["cpu"], first), by_round(sides["gpu"], first)), tuple(sides.values())


def _slower(records: Sequence[Record]) -> Judgement:
    sides = _sides(records)
    ratios = {backend: found for backend, item in sides.items() if (found := _first_over_steady(item)) is not None}
    if set(ratios) != {"cpu", "gpu"}:
        return NOT_RUN
    said = "; ".join(f"{units.times(r.value, r.low, r.high)} on the {b.upper()}" for b, r in sorted(ratios.items()))
    cpu, gpu = ratios["cpu"], ratios["gpu"]
    more, less = higher(gpu, cpu, sides.values()), higher(cpu, gpu, sides.values())
    slower, faster = above(cpu, 1) and above(gpu, 1), below(cpu, 1) or below(gpu, 1)
    found = f"The first call takes the time of a later one {said}."
    return either(slower and more, faster or less, found, sides.values())


def _stable(records: Sequence[Record]) -> Judgement:
    sides = _sides(records)
    if not sides:
        return NOT_RUN
    spreads = {backend: found for backend, item in sides.items() if (found := differing(item)) is not None}
    if not spreads:
        return NOT_RUN
    said = ", ".join(f"{percent_words(value)} on the {backend.upper()}" for backend, value in sorted(spreads.items()))
    within = all(below(value, _STEADY[backend]) for backend, value in spreads.items())
    beyond = any(above(value, _STEADY[backend]) for backend, value in spreads.items())
    return either(within and len(spreads) == 2, beyond, f"Calls three and four differ by {said}.", sides.values())


def _clocks(records: Sequence[Record]) -> Judgement:
    sides = _sides(records)
    if set(sides) != {"cpu", "gpu"}:
        return NOT_RUN
    busy = {backend: median(by_round(item, cores).values()) for backend, item in sides.items()}
    good = busy["cpu"] > 1.5 and _WAITING[0] <= busy["gpu"] <= _WAITING[1]
    said = (
        f"CPU time over wall time is {units.number(busy['cpu'])} on the CPU and {units.number(busy['gpu'])} on the GPU."
    )
    return either(good, not good, said, sides.values())


OBSERVATIONS = (
    Observation(
        code="O5",
        article=RESNET,
        said="The first call is far slower than a later one, most of all on the GPU: 86 times, on the CPU 1.9 to 2.5.",
        rule="Reproduced if the first call is surely slower on both sides and its ratio surely higher on the GPU; "
        "refuted if it is surely faster on one, or the ratio is surely higher on the CPU. The ratios are compared by a "
        f"factor of {FAR:g} where no campaign has both.",
        experiment=_EXPERIMENT,
        judge=_slower,
    ),
    Observation(
        code="O6",
        article=RESNET,
        said="The third and fourth call take the same time: within 0.5 % on the GPU, 1 % either way on the CPU.",
        rule="Reproduced if the calls surely differ by less than that on both sides, refuted if surely by more on one.",
        experiment=_EXPERIMENT,
        judge=_stable,
    ),
    Observation(
        code="O7",
        article=RESNET,
        said="CPU time is 2.7 to 3.7 times wall time on the CPU, which keeps several cores busy, and 1.02 times on "
        "the GPU.",
        rule="Reproduced if the CPU keeps more than 1.5 cores busy and the GPU's host 0.9 to 1.2, else refuted.",
        experiment=_EXPERIMENT,
        judge=_clocks,
    ),
)

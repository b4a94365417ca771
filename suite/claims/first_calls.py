"""O5 to O7: the first call of a process and later ones.

Results are of one campaign: a comparison within processes needs no pool, and none has its variance between hosts.
"""

from collections.abc import Iterable, Sequence

from suite import units
from suite.analysis.steps import percent_words
from suite.claims import NOT_RUN, Judgement, Observation, Part, judged, part, unjudged
from suite.claims._articles import RESNET
from suite.claims._judging import SURELY, above, below, groups, higher, over, over_processes, unsure
from suite.experiments.first_call_vs_steady import cores, differing, first, steady, values_by_round
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.single.summary import Summary
from suite.results.stats.statistics import Estimate, paired_ratio

_EXPERIMENT = "first_call_vs_steady"
_STEADY = {"cpu": 0.02, "gpu": 0.005}  # tolerated difference of calls three and four: 1 % each way, and half a percent
_SEVERAL = 1.5  # cores
_WAITING = (0.9, 1.2)  # CPU time over wall-clock time of a host that blocks on its GPU


def _sides(records: Sequence[Record]) -> dict[str, Summary]:
    """Return the results of the article's network, by backend."""
    by_side = groups(records, lambda r: r.case.scope == "calls" and r.case.implementation == "jax")
    return {backend: group[0] for (name, backend), group in by_side.items() if name == "cifar10_resnet63"}


def _first_over_steady(item: Summary) -> Estimate | None:
    return paired_ratio(values_by_round(item, first), values_by_round(item, steady))


def ratio_of_first_calls(records: Sequence[Record]) -> tuple[Estimate | None, tuple[Summary, ...]]:
    """Return CPU time over GPU time of the first call, None if no campaign has both; and both results."""
    sides = _sides(records)
    if set(sides) != {"cpu", "gpu"} or sides["cpu"].record.campaign != sides["gpu"].record.campaign:
        return None, ()
    return paired_ratio(values_by_round(sides["cpu"], first), values_by_round(sides["gpu"], first)), tuple(
        sides.values()
    )


def _slower(evidence: Evidence) -> Judgement:
    sides = _sides(evidence.records)
    ratios = {backend: ratio for backend, item in sides.items() if (ratio := _first_over_steady(item)) is not None}
    if set(ratios) != {"cpu", "gpu"}:
        return NOT_RUN
    cpu, gpu = ratios["cpu"], ratios["gpu"]
    on_cpu, on_gpu = (units.ratio(ratio.value, ratio.low, ratio.high) for ratio in (cpu, gpu))
    cpus, gpus = _between(sides.values(), cpu, gpu)
    more, less = higher(gpus, cpus), higher(cpus, gpus)
    slower, faster = above(cpu, 1) and above(gpu, 1), below(cpu, 1) or below(gpu, 1)
    text = f"The first call takes {on_cpu} as long as a later one on the CPU, {on_gpu} on the GPU."
    items, why = tuple(sides.values()), unsure(cpu, gpu)
    parts = (
        part("the first call is slower than a later one on both sides", slower, faster, items, why),
        part("it is so by a higher ratio on the GPU", more, less, items, why),
    )
    return judged(text, parts, items)


def _between(items: Iterable[Summary], *values: Estimate) -> tuple[Estimate, ...]:
    """Return the values without intervals if their results are of several campaigns: each is one host's."""
    if len({item.record.campaign for item in items}) == 1:
        return values
    return tuple(Estimate(value=value.value) for value in values)


def _stable(evidence: Evidence) -> Judgement:
    sides = _sides(evidence.records)
    if not sides:
        return NOT_RUN
    spreads = {backend: spread for backend, item in sides.items() if (spread := differing(item)) is not None}
    if not spreads:
        return NOT_RUN
    listed = ", ".join(f"{percent_words(value)} on the {backend.upper()}" for backend, value in sorted(spreads.items()))
    parts = [_differ(backend, spreads.get(backend), sides) for backend in _STEADY]
    return judged(f"Calls three and four differ by {listed}.", parts, sides.values())


def _differ(backend: str, spread: Estimate | None, sides: dict[str, Summary]) -> Part:
    says, bound = f"they agree on the {backend.upper()}", _STEADY[backend]
    if spread is None:
        return unjudged(says, "it was not measured")
    return part(says, below(spread, bound), above(spread, bound), [sides[backend]], unsure(spread))


def _clocks(evidence: Evidence) -> Judgement:
    sides = _sides(evidence.records)
    if set(sides) != {"cpu", "gpu"}:
        return NOT_RUN
    known = {backend: over_processes(list(values_by_round(item, cores).values())) for backend, item in sides.items()}
    busy = {backend: value for backend, value in known.items() if value is not None}
    if set(busy) != {"cpu", "gpu"}:
        return NOT_RUN
    low, high = _WAITING
    waits = above(busy["gpu"], low) and below(busy["gpu"], high)
    other = below(busy["gpu"], low) or above(busy["gpu"], high)
    parts = (
        over("on the CPU several cores are busy", busy["cpu"], _SEVERAL, [sides["cpu"]]),
        part("one core is busy while the GPU computes", waits, other, [sides["gpu"]], unsure(busy["gpu"])),
    )
    said = ", ".join(f"{_number(value)} on the {backend.upper()}" for backend, value in sorted(busy.items()))
    return judged(f"CPU time over wall time is {said}.", parts, sides.values())


def _number(value: Estimate) -> str:
    return units.number(value.value, units.half_width(value.low, value.high))


OBSERVATIONS = (
    Observation(
        code="O5",
        article=RESNET,
        said="The first call is far slower than a later one, most of all on the GPU: 86x, on the CPU 1.9x to 2.5x.",
        rule="Part 1 holds if the first call is surely slower than a later one on both sides; it fails if surely "
        "faster on one. Part 2 holds if the ratio of the two is surely higher on the GPU; it fails if surely "
        f"higher on the CPU. Between campaigns, higher means a factor of {SURELY**2:g}.",
        experiment=_EXPERIMENT,
        judge=_slower,
    ),
    Observation(
        code="O6",
        article=RESNET,
        said="The third and fourth call take the same time: within 0.5 % on the GPU, 1 % either way on the CPU.",
        rule="A part for each side. It holds if calls three and four surely differ by less than 0.5 % on the GPU, or 2 "
        "% on the CPU. It fails if they surely differ by more.",
        experiment=_EXPERIMENT,
        judge=_stable,
    ),
    Observation(
        code="O7",
        article=RESNET,
        said="CPU time is 2.7 to 3.7 times wall time on the CPU, which keeps several cores busy, and 1.02 times on "
        "the GPU.",
        rule="Part 1 holds if the CPU surely keeps more than 1.5 cores busy; it fails below. Part 2 holds if surely "
        "0.9 to 1.2 cores are busy while the GPU computes; it fails outside.",
        experiment=_EXPERIMENT,
        judge=_clocks,
    ),
)

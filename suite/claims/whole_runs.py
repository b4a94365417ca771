"""O9, O10: whole runs and epochs against single steps.

An epoch and its step are of one campaign; experiment `extrapolation` gives the reason.
"""

from collections.abc import Iterator, Sequence

from suite import units
from suite.analysis.steps import steady, words
from suite.claims import NOT_RUN, Judgement, Observation, Part, judged, part, unjudged
from suite.claims._articles import MLP, RESNET
from suite.claims._judging import SIZE, above, below, gains, own_first, steps, unsure
from suite.experiments.extrapolation import Epoch, epochs
from suite.results.pooled.machine_evidence import Evidence

_TELLS = (0.9, 1.1)
_OWN = ("cifar10_resnet63", "cifar10_resnet87")
_DOCUMENTED = 12.13


def _extrapolates(evidence: Evidence) -> Judgement:
    pairs = [item for item in epochs(evidence.records) if item.step.usable and item.measured.usable]
    if not pairs:
        return NOT_RUN
    own, others = (
        [item for item in pairs if (item.measured.record.workload in _OWN) is mine] for mine in (True, False)
    )
    summary = " ".join(
        (*(f"An epoch of {_epoch(item)} of what its step predicts." for item in own), *_beside(others, bool(own)))
    )
    items = [side for item in pairs for side in (item.step, item.measured)]
    return judged(summary, [own_first(own, others, _tells)], items)


def _tells(candidates: Sequence[Epoch]) -> Part:
    """Return whether each epoch is near the prediction of its step; unsteady ones are skipped."""
    kept = [item for item in candidates if steady(item.step, item.measured)]
    if not kept:
        return unjudged("", "none of these epochs and steps are both steady")
    outside = [above(item.ratio, _TELLS[1]) or below(item.ratio, _TELLS[0]) for item in kept]
    inside = [above(item.ratio, _TELLS[0]) and below(item.ratio, _TELLS[1]) for item in kept]
    return part("", all(inside), any(outside), why=unsure(*(item.ratio for item in kept)))


def _epoch(item: Epoch) -> str:
    record = item.measured.record
    return f"{record.workload} {item.where} on the {record.backend.upper()} takes {words(item.ratio)}"


def _beside(others: Sequence[Epoch], own: bool) -> Iterator[str]:
    """Yield the range of other networks' epochs."""
    if others:
        low, high = (end(others, key=lambda item: item.ratio.value) for end in (min, max))
        span = _epoch(low) if low is high else f"{_epoch(low)}, {_epoch(high)}"
        decide = "of which the article says nothing" if own else "which decide instead of the article's"
        yield f"Other networks, {decide}: of {units.pluralize(len(others), 'epoch')} the least and the most: {span}."


def _wide_network(evidence: Evidence) -> Judgement:
    run = steps(evidence, ["cifar10_mlp"], "run").get("cifar10_mlp")
    if run is None:
        return NOT_RUN
    step = steps(evidence, ["cifar10_mlp"]).get("cifar10_mlp")
    beside = f"; a step in steady state is {words(step.ratio.estimate)} as fast" if step else ""
    ratio = words(run.ratio.estimate)
    said = f"The documented run, building and compiling in it, is {ratio} as fast on the GPU{beside}."
    return judged(said, [gains("", run, _DOCUMENTED)], speedups=[run, step] if step else [run])


OBSERVATIONS = (
    Observation(
        code="O9",
        article=RESNET,
        said="The time of one step tells that of a whole training.",
        rule="The article's residual networks decide, others only where these cannot; unsteady results are left out. "
        "Reproduced if every epoch surely takes within 10 % of what its step predicts. Refuted if one surely does "
        "not.",
        experiment="extrapolation",
        judge=_extrapolates,
    ),
    Observation(
        code="O10",
        article=MLP,
        said="A wide network of dense layers at batch 32 trains 12x as fast on a T4, building the model included.",
        rule=f"Reproduced if the speed-up of the same run is as high within a factor of {SIZE:g}. Refuted if the GPU "
        "is surely slower. Any other ratio may be the hardware's.",
        judge=_wide_network,
    ),
)

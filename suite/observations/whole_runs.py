"""Whole runs and epochs, beside what single steps say."""

from collections.abc import Sequence

from suite.experiments.extrapolation import epochs
from suite.inquiry.steps import words
from suite.observations import NOT_RUN, Judgement, Observation, either
from suite.observations._articles import MLP, RESNET
from suite.observations._found import above, below, near, steps
from suite.results.record import Record

_TELLS = (0.9, 1.1)
_DOCUMENTED = 12.13


def _extrapolates(records: Sequence[Record]) -> Judgement:
    found = [item for item in epochs(records) if item.step.status != "smoke" and item.measured.status != "smoke"]
    if not found:
        return NOT_RUN
    said = "; ".join(
        f"an epoch of {item.measured.record.workload} {item.where} on the {item.measured.record.backend.upper()} takes "
        f"{words(item.ratio)} of what its step predicts"
        for item in found
    )
    outside = [above(item.ratio, _TELLS[1]) or below(item.ratio, _TELLS[0]) for item in found]
    inside = [above(item.ratio, _TELLS[0]) and below(item.ratio, _TELLS[1]) for item in found]
    items = [side for item in found for side in (item.step, item.measured)]
    return either(all(inside), any(outside), f"{said[0].upper()}{said[1:]}.", items)


def _wide_network(records: Sequence[Record]) -> Judgement:
    run = steps(records, ["cifar10_mlp"], "run").get("cifar10_mlp")
    if run is None:
        return NOT_RUN
    step = steps(records, ["cifar10_mlp"]).get("cifar10_mlp")
    beside = f"; a step in steady state is {words(step.ratio)} as fast" if step else ""
    said = f"The documented run, building and compiling in it, is {words(run.ratio)} as fast on the GPU{beside}."
    return either(near(run.ratio, _DOCUMENTED), below(run.ratio, 1), said, [run, step] if step else [run])


OBSERVATIONS = (
    Observation(
        code="O9",
        article=RESNET,
        said="The time of one step tells that of a whole training.",
        rule="Reproduced if every epoch that was measured surely takes within 10 % of what its step predicts, "
        "refuted if one surely does not.",
        experiment="extrapolation",
        judge=_extrapolates,
    ),
    Observation(
        code="O10",
        article=MLP,
        said="A wide network of dense layers at batch 32 trains 12 times as fast on a T4, building the model included.",
        rule="Reproduced if the speed-up of the same run is as high, within a factor of 1.25; refuted if the GPU is "
        "surely slower. Other ratios are of other hardware.",
        judge=_wide_network,
    ),
)

"""Against how much of a CPU a GPU is set."""

from collections.abc import Sequence

from suite import units
from suite.experiments.threads import threads
from suite.inquiry.steps import words
from suite.observations import NOT_RUN, Judgement, Observation, either
from suite.observations._articles import RESNET
from suite.observations._found import above, below, groups
from suite.results.record import Record
from suite.results.summary import time_ratio

_MATTERS = 1.5


def _decides(records: Sequence[Record]) -> Judgement:
    found = groups(records, lambda r: r.backend == "cpu" and r.headline_step("threads"), least=2)
    said, ratios, items = [], [], []
    for (name, _), group in sorted(found.items()):
        few, many = (end(group, key=threads) for end in (min, max))
        between = time_ratio(few, many)
        if between is not None and threads(few) < threads(many):
            ratios.append(between)
            items += [few, many]
            said.append(
                f"{name} is {words(between)} as fast with {threads(many)} threads as with {units.count(threads(few))}"
            )
    if not ratios:
        return NOT_RUN
    return either(
        any(above(each, _MATTERS) for each in ratios),
        all(below(each, _MATTERS) for each in ratios),
        f"On one and the same processor {'; '.join(said)}.",
        items,
    )


OBSERVATIONS = (
    Observation(
        code="O8",
        article=RESNET,
        said="Set against an old dual core the GPU is 159 times as fast, against the processor of its own machine 52 "
        "times: the CPU decides the headline.",
        rule="Reproduced if the cores that are granted alone change a CPU's speed, and with it the speed-up, surely "
        "more than one and a half times; refuted if surely less in all networks.",
        experiment="threads",
        judge=_decides,
    ),
)

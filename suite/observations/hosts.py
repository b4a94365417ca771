"""Against how much of a CPU a GPU is set."""

from collections.abc import Sequence

from suite import units
from suite.experiments.threads import threads
from suite.inquiry.steps import words
from suite.observations import NOT_RUN, Judgement, Observation, Part, judged, part
from suite.observations._articles import RESNET
from suite.observations._found import above, below, groups, own_first, unsure
from suite.results.record import Record
from suite.results.statistics import Estimate
from suite.results.summary import Summary, time_ratio

_MATTERS = 1.5
_OWN = ("cifar10_resnet63", "cifar10_resnet87")

_Gain = tuple[str, Estimate, tuple[Summary, Summary]]  # of a network: all threads over few, and both results


def _decides(records: Sequence[Record]) -> Judgement:
    found = groups(records, lambda r: r.backend == "cpu" and r.headline_step("threads"), least=2)
    said, gains = [], list[_Gain]()
    for (name, _), group in sorted(found.items()):
        few, many = (end(group, key=threads) for end in (min, max))
        between = time_ratio(few, many)
        if between is not None and threads(few) < threads(many):
            gains.append((name, between, (few, many)))
            said.append(
                f"{name} is {words(between)} as fast with {threads(many)} threads as with {units.count(threads(few))}"
            )
    if not gains:
        return NOT_RUN
    own, others = ([gain for gain in gains if (gain[0] in _OWN) is mine] for mine in (True, False))
    items = [item for *_, both in gains for item in both]
    return judged(f"On one and the same processor {'; '.join(said)}.", [own_first(own, others, _matters)], items)


def _matters(gains: Sequence[_Gain]) -> Part:
    ratios, items = [ratio for _, ratio, _ in gains], [item for *_, both in gains for item in both]
    more, less = (any(above(each, _MATTERS) for each in ratios), all(below(each, _MATTERS) for each in ratios))
    return part("", more, less, items, unsure(*ratios))


OBSERVATIONS = (
    Observation(
        code="O8",
        article=RESNET,
        said="Set against an old dual core the GPU is 159 times as fast, against the processor of its own machine 52 "
        "times: the CPU decides the headline.",
        rule="The article's residual networks decide, others only where these cannot. Reproduced if a CPU's step with "
        "all granted cores is surely more than 1.5 times as fast as with the fewest. Refuted if surely less.",
        experiment="threads",
        judge=_decides,
    ),
)

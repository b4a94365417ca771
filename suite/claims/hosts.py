"""O8: the CPU that a GPU is compared with."""

from collections.abc import Sequence

from suite import units
from suite.analysis.steps import words
from suite.claims import NOT_RUN, Judgement, Observation, Part, judged, part
from suite.claims._articles import RESNET
from suite.claims._judging import above, below, own_first, unsure
from suite.experiments.threads import sweeps, threads
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.stats.statistics import Estimate

_MATTERS = 1.5
_OWN = ("cifar10_resnet63", "cifar10_resnet87")

_Gain = tuple[str, Estimate]  # by network: speed with all threads over that with few


def _decides(evidence: Evidence) -> Judgement:
    sentences, gains = [], list[_Gain]()
    for few, *_, many in sweeps(evidence):
        name, between = few.case.workload, over(few, many).estimate
        gains.append((name, between))
        sentences.append(
            f"{name} is {words(between)} as fast with {threads(many)} threads as with {units.count(threads(few))}"
        )
    if not gains:
        return NOT_RUN
    own, others = ([gain for gain in gains if (gain[0] in _OWN) is mine] for mine in (True, False))
    numbers = "159x and 52x themselves are judged as documented numbers."
    found = f"On one kind of processor {'; '.join(sentences)}. {numbers}"
    return judged(found, [own_first(own, others, _matters)])


def _matters(gains: Sequence[_Gain]) -> Part:
    ratios = [ratio for _, ratio in gains]
    more, less = (any(above(each, _MATTERS) for each in ratios), all(below(each, _MATTERS) for each in ratios))
    return part("", more, less, why=unsure(*ratios))


OBSERVATIONS = (
    Observation(
        code="O8",
        article=RESNET,
        said="The CPU that a GPU is set against decides the headline: 159x beside an old dual core, 52x beside the "
        "processor of its own machine.",
        rule="The article's residual networks decide, others only where these cannot. Reproduced if a CPU's step with "
        "all granted cores is surely more than 1.5 times as fast as with the fewest. Refuted if surely less.",
        experiment="threads",
        judge=_decides,
    ),
)

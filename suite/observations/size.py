"""What a speed-up depends on."""

from collections.abc import Sequence

from suite import units
from suite.experiments.size import flop, networks
from suite.inquiry.steps import words
from suite.observations import NOT_RUN, Judgement, Observation, either, judgement
from suite.observations._articles import MNIST, PHOTOGRAPHS
from suite.observations._found import FAR, more, steps
from suite.results.fit import power_law, rank_correlation
from suite.results.record import Record
from suite.results.speedup import SpeedUp

_DEEPER = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_noaug", "catdog_cnn_128",
           "catdog_cnn_deep", "cifar10_tf_cnn")  # fmt: skip


def _depends(records: Sequence[Record]) -> Judgement:
    found = list(steps(records).values())
    if len(found) < 2:
        return NOT_RUN
    low, high = (end(found, key=lambda item: item.ratio.value) for end in (min, max))
    said = f"From {_named(low)} to {_named(high)} over {len(found)} networks."
    together = high.gpu.record.campaign == low.gpu.record.campaign
    known = None not in (high.ratio.low, low.ratio.high)
    return either(more(high, low), together and known and not more(high, low), said, found)


def _named(item: SpeedUp) -> str:
    return f"{words(item.ratio)} for {item.gpu.record.workload}"


def _deeper(records: Sequence[Record]) -> Judgement:
    found = sorted(steps(records, _DEEPER).values(), key=flop)
    sizes, ratios = networks(found)
    if len(sizes) < 3:
        return NOT_RUN
    law, correlation = power_law(sizes, ratios), rank_correlation(sizes, ratios)
    said = (
        f"Of {len(sizes)} networks the step with the least FLOP has {_named(found[0])}, that with the most "
        f"{_named(found[-1])}."
    )
    if law is None or law.low is None or law.high is None or correlation is None:
        return judgement("not comparable", said, found)
    slope = f"{units.number(law.exponent, units.half_width(law.low, law.high))} ({units.interval(law.low, law.high)})"
    return either(law.low > 0, law.high < 0, f"{said} The slope of the logarithms is {slope}.", found)


OBSERVATIONS = (
    Observation(
        code="O3",
        article=MNIST,
        said="What a GPU gains depends on data, optimizer, architecture and hyper-parameters.",
        rule=f"Reproduced if the speed-ups of two networks are surely apart, by a factor of {FAR:g} where no "
        "campaign has both, refuted if the intervals of the lowest and the highest overlap in one campaign.",
        experiment="size",
        judge=_depends,
    ),
    Observation(
        code="O27",
        article=PHOTOGRAPHS,
        said="Deeper and more complex networks gain more from a GPU.",
        rule="Reproduced if over the article's networks the speed-up surely grows with the FLOP of a step, refuted "
        "if it surely falls. Those that differ in data or dropout alone count as one.",
        experiment="size",
        judge=_deeper,
    ),
)

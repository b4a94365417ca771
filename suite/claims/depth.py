"""O18 to O22: the cost of depth in cat-and-dog networks."""

from itertools import pairwise

from suite.analysis.input_pipeline import change, from_storage, gpu_busy
from suite.analysis.steps import percent_words, words
from suite.claims import NOT_RUN, Judgement, Observation, judged, part, unjudged
from suite.claims._articles import PHOTOGRAPHS
from suite.claims._judging import SIZE, above, below, gains, least, more, most, over, steps, unsure
from suite.results.pooled.machine_evidence import Evidence, rate_over
from suite.results.pooled.pools import Pool
from suite.results.stats.statistics import Estimate

_BASE, _DROPOUT, _WIDE, _DEEP = "catdog_cnn_base", "catdog_cnn_dropout", "catdog_cnn_128", "catdog_cnn_deep"
_SAME = 0.1
_RISES = 0.1  # of the GPU's busy share


def stored(evidence: Evidence, name: str, backend: str = "gpu") -> Pool | None:
    """Return a network's steps from storage; None if there are none."""
    pools = evidence.of(name).fitting(lambda record: record.backend == backend and from_storage(record))
    return next(pools, None)


def _alone(evidence: Evidence, name: str, backend: str) -> Pool | None:
    """Return a network's steps with the batch on the device; None if there are none."""
    pools = evidence.of(name).fitting(lambda record: record.backend == backend and record.headline_step())
    return next(pools, None)


def larger_pictures(evidence: Evidence) -> dict[str, Estimate]:
    """Return the rate from storage with larger pictures over that without, by backend."""
    return _changes(evidence, _WIDE, _DROPOUT)


def _even_so(evidence: Evidence) -> Judgement:
    item = steps(evidence, (_BASE,), "epoch").get(_BASE)
    if item is None:
        return NOT_RUN
    said = f"From storage on the GPU is {words(item.ratio.estimate)} as fast as the CPU."
    return judged(said, [gains("", item, 4)], speedups=[item])


def _changes(evidence: Evidence, name: str, base: str) -> dict[str, Estimate]:
    """Return a network's rate from storage over another's, by backend."""
    pairs = {backend: (stored(evidence, name, backend), stored(evidence, base, backend)) for backend in ("cpu", "gpu")}
    return {backend: rate_over(mine, theirs).estimate for backend, (mine, theirs) in pairs.items() if mine and theirs}


def _said(changes: dict[str, Estimate]) -> str:
    return ", ".join(f"{change(value)} on the {backend.upper()}" for backend, value in changes.items())


def _gap_grows(evidence: Evidence) -> Judgement:
    speedups = steps(evidence, (_BASE, _WIDE), "epoch")
    changes = larger_pictures(evidence)
    cost = f"Larger pictures change the speed from storage on by {_said(changes)}. " if changes else ""
    if len(speedups) < 2:
        unknown = [unjudged("the gap grows", "not both networks were measured on both sides")]
        return judged(cost.rstrip(), unknown) if changes else NOT_RUN
    small, large = speedups[_BASE], speedups[_WIDE]
    ratios = [item.ratio.estimate for item in (small, large)]
    summary = (
        f"{cost}From storage on the GPU is {words(ratios[0])} as fast with {_BASE} and {words(ratios[1])} with {_WIDE}."
    )
    return judged(
        summary, [part("", more(large, small), more(small, large), why=unsure(*ratios))], speedups=speedups.values()
    )


def _free_depth(evidence: Evidence) -> Judgement:
    changes = _changes(evidence, _DEEP, _WIDE)
    if "gpu" not in changes:
        return NOT_RUN
    summary = f"From {_WIDE} to {_DEEP} the speed from storage on changes by {_said(changes)}"
    deep, wide = (_alone(evidence, name, "gpu") for name in (_DEEP, _WIDE))
    summary += f"; the GPU's step alone by {change(rate_over(deep, wide).estimate)}." if deep and wide else "."
    slows = "the CPU loses more than 10 %"
    parts = (
        over("the GPU loses less than 10 %", changes["gpu"], 1 - _SAME),
        part(slows, below(changes["cpu"], 1 - _SAME), above(changes["cpu"], 1 - _SAME), why=unsure(changes["cpu"]))
        if "cpu" in changes
        else unjudged(slows, "it was not measured"),
    )
    return judged(summary, parts)


def _busier(evidence: Evidence) -> Judgement:
    pools = {name: stored(evidence, name) for name in (_BASE, _WIDE, _DEEP)}
    shares = {name: busy for name, pool in pools.items() if pool and (busy := gpu_busy(pool)) is not None}
    if len(shares) < len(pools):
        return NOT_RUN
    summary = f"The GPU is busy {', '.join(map(percent_words, shares.values()))} of the time along the three networks."
    parts = []
    for (less, small), (further, large) in pairwise(shares.items()):
        rises, falls = least(large) > most(small) + _RISES, most(large) < least(small) + _RISES
        parts.append(part(f"{further} keeps it busier than {less}", rises, falls, why=unsure(small, large)))
    return judged(summary, parts)


def _no_change(evidence: Evidence) -> Judgement:
    pairs = (("catdog_cnn_conv64", _BASE), (_DROPOUT, "catdog_cnn_conv64"))
    changes = {(name, base): _changes(evidence, name, base) for name, base in pairs}
    if not all(changes.values()):
        return NOT_RUN
    listed = "; ".join(f"{name} after {base}: {_said(changed)}" for (name, base), changed in changes.items())
    parts = []
    for what, changed in zip(("the convolution", "dropout"), changes.values(), strict=True):
        values = tuple(changed.values())
        inside = all(above(value, 1 - _SAME) and below(value, 1 + _SAME) for value in values)
        outside = any(below(value, 1 - _SAME) or above(value, 1 + _SAME) for value in values)
        parts.append(part(f"{what} changes nothing", inside, outside, why=unsure(*values)))
    return judged(f"{listed}.", parts)


OBSERVATIONS = (
    Observation(
        code="O18",
        article=PHOTOGRAPHS,
        said="Even so the GPU is 4x as fast as the server's processors.",
        rule=f"Reproduced if the speed-up from storage on is as high within a factor of {SIZE:g}. Refuted if the GPU "
        "is surely slower. Any other ratio may be the hardware's.",
        experiment="depth",
        judge=_even_so,
    ),
    Observation(
        code="O19",
        article=PHOTOGRAPHS,
        said="Pictures of 128 instead of 64 pixels cost the GPU about 20 % and the CPU about 85 % of its speed: the "
        "gap grows to 23x.",
        rule="Reproduced if the speed-up from storage on surely grows with the larger pictures. Refuted if it surely "
        "falls.",
        experiment="depth",
        numbers=((_WIDE, "throughput"), (_WIDE, "change_from_dropout_net")),
        judge=_gap_grows,
    ),
    Observation(
        code="O20",
        article=PHOTOGRAPHS,
        said="More than thirty further convolutions cost the GPU nothing, while the CPU falls to 3 pictures a second.",
        rule="From storage on, against the network without them. Part 1 holds if the GPU surely loses less than 10 % "
        "of its speed; it fails if surely more. Part 2 holds if the CPU surely loses more than 10 %; it fails if "
        "surely less.",
        experiment="depth",
        numbers=((_DEEP, "throughput"),),
        judge=_free_depth,
    ),
    Observation(
        code="O21",
        article=PHOTOGRAPHS,
        said="Along three networks the GPU is busy 10, 50 and 100 % of the time.",
        rule="Part 1 holds if the second network keeps the GPU surely busier than the first, by 10 points. Part 2 asks "
        "the same of the third and the second. A part fails if the difference is surely smaller.",
        experiment="depth",
        numbers=tuple((name, "gpu_utilisation") for name in (_BASE, _WIDE, _DEEP)),
        judge=_busier,
    ),
    Observation(
        code="O22",
        article=PHOTOGRAPHS,
        said="A further convolution with its pooling, and dropout, do not change the speed.",
        rule="A part for the convolution and one for dropout. It holds if the speed from storage on surely changes by "
        "less than 10 % on every side measured. It fails if surely by more on one.",
        experiment="depth",
        judge=_no_change,
    ),
)

"""What depth costs networks that tell cats from dogs."""

from collections.abc import Sequence
from itertools import pairwise

from suite.experiments import depth
from suite.inquiry.flows import change, gain
from suite.inquiry.steps import percent_words, words
from suite.observations import NOT_RUN, Judgement, Observation, judged, part, unjudged
from suite.observations._articles import PHOTOGRAPHS
from suite.observations._found import (
    FAR,
    SIZE,
    above,
    alike,
    below,
    counted,
    gpu_busy,
    higher,
    least,
    most,
    over,
    steps,
    unsure,
)
from suite.results.record import Record
from suite.results.statistics import Estimate
from suite.results.summary import Summary

_BASE, _DROPOUT, _WIDE, _DEEP = "catdog_cnn_base", "catdog_cnn_dropout", "catdog_cnn_128", "catdog_cnn_deep"
_SAME = 0.1
_RISES = 0.1  # of the time that the GPU is busy


def _networks(records: Sequence[Record]) -> depth.Networks:
    found = depth.networks(records)
    return {key: scopes for key, scopes in found.items() if all(map(counted, scopes.values()))}


def _results(found: depth.Networks, *names: str, backends: Sequence[str] = ("cpu", "gpu")) -> list[Summary]:
    """Return these networks' results from storage on, by default of both sides."""
    return [each["epoch"] for (name, backend), each in found.items() if name in names and backend in backends]


def from_storage(records: Sequence[Record], name: str) -> Summary | None:
    """Return a network's steps from storage on on the GPU, beside those of the others; None if there are none."""
    return _networks(records).get((name, "gpu"), {}).get("epoch")


def larger_pictures(records: Sequence[Record]) -> tuple[dict[str, Estimate], dict[str, list[Summary]]]:
    """Return what larger pictures leave of the speed from storage on, and the results, by backend."""
    found = _networks(records)
    left = _changes(found, _WIDE, _DROPOUT, "epoch")
    return left, {backend: _results(found, _DROPOUT, _WIDE, backends=(backend,)) for backend in left}


def _even_so(records: Sequence[Record]) -> Judgement:
    stored = steps(records, (_BASE,), "epoch").get(_BASE)
    if stored is None:
        return NOT_RUN
    said = f"From storage on the GPU is {words(stored.ratio)} as fast as the CPU."
    return judged(said, [alike("", stored.ratio, 4, [stored])], [stored])


def _changes(found: depth.Networks, name: str, base: str, scope: str) -> dict[str, Estimate]:
    """Return how a rate changes from a network to another, by backend."""
    pairs = {b: (found.get((name, b), {}).get(scope), found.get((base, b), {}).get(scope)) for b in ("cpu", "gpu")}
    ratios = {b: gain(mine, theirs) for b, (mine, theirs) in pairs.items() if mine and theirs}
    return {backend: ratio for backend, ratio in ratios.items() if ratio is not None}


def _said(changes: dict[str, Estimate]) -> str:
    return ", ".join(f"{change(value)} on the {backend.upper()}" for backend, value in changes.items())


def _gap_grows(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    (small, _), (large, _) = (depth.between(found, name, "epoch") for name in (_BASE, _WIDE))
    changes = _changes(found, _WIDE, _DROPOUT, "epoch")
    cost = f"Larger pictures change the speed from storage on by {_said(changes)}. " if changes else ""
    if small is None or large is None:
        why = "GPU and CPU of a network are not of one campaign"
        unknown = [unjudged("the gap grows", why)]
        return judged(cost.rstrip(), unknown, _results(found, _DROPOUT, _WIDE)) if changes else NOT_RUN
    items = _results(found, _BASE, _DROPOUT, _WIDE)
    said = f"{cost}From storage on the GPU is {words(small)} as fast with {_BASE} and {words(large)} with {_WIDE}."
    both = _results(found, _BASE, _WIDE)
    grows = part("", higher(large, small, both), higher(small, large, both), both, unsure(large, small))
    return judged(said, [grows], items)


def _free_depth(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    changes, alone = (_changes(found, _DEEP, _WIDE, scope) for scope in ("epoch", "step"))
    if "gpu" not in changes:
        return NOT_RUN
    said = f"From {_WIDE} to {_DEEP} the speed from storage on changes by {_said(changes)}"
    said += f"; the GPU's step alone by {change(alone['gpu'])}." if "gpu" in alone else "."
    gpu, cpu = (_results(found, _WIDE, _DEEP, backends=(backend,)) for backend in ("gpu", "cpu"))
    slows = "the CPU loses more than 10 %"
    parts = (
        over("the GPU loses less than 10 %", changes["gpu"], 1 - _SAME, gpu),
        part(slows, below(changes["cpu"], 1 - _SAME), above(changes["cpu"], 1 - _SAME), cpu, unsure(changes["cpu"]))
        if "cpu" in changes
        else unjudged(slows, "it was not measured"),
    )
    return judged(said, parts, [*gpu, *cpu])


def _busier(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    names = (_BASE, _WIDE, _DEEP)
    known = {name: gpu_busy(found[name, "gpu"]["epoch"].record) for name in names if (name, "gpu") in found}
    shares = {name: busy for name in names if (busy := known.get(name)) is not None}
    if len(shares) < len(names):
        return NOT_RUN
    said = f"The GPU is busy {', '.join(map(percent_words, shares.values()))} of the time along the three networks."
    parts = []
    for (less, small), (more, large) in pairwise(shares.items()):
        both = _results(found, less, more, backends=("gpu",))
        rises, falls = least(large) > most(small) + _RISES, most(large) < least(small) + _RISES
        parts.append(part(f"{more} keeps it busier than {less}", rises, falls, both, unsure(small, large)))
    return judged(said, parts, _results(found, *names, backends=("gpu",)))


def _no_change(records: Sequence[Record]) -> Judgement:
    found = _networks(records)
    pairs = (("catdog_cnn_conv64", _BASE), (_DROPOUT, "catdog_cnn_conv64"))
    changes = {(name, base): _changes(found, name, base, "epoch") for name, base in pairs}
    if not all(changes.values()):
        return NOT_RUN
    said = "; ".join(f"{name} after {base}: {_said(changed)}" for (name, base), changed in changes.items())
    parts = []
    for what, (both, changed) in zip(("the convolution", "dropout"), changes.items(), strict=True):
        values = tuple(changed.values())
        inside = all(above(value, 1 - _SAME) and below(value, 1 + _SAME) for value in values)
        outside = any(below(value, 1 - _SAME) or above(value, 1 + _SAME) for value in values)
        items = _results(found, *both, backends=tuple(changed))
        parts.append(part(f"{what} changes nothing", inside, outside, items, unsure(*values)))
    return judged(f"{said}.", parts, _results(found, *(name for pair in pairs for name in pair)))


OBSERVATIONS = (
    Observation(
        code="O18",
        article=PHOTOGRAPHS,
        said="Even so the GPU is four times as fast as the server's processors.",
        rule=f"Reproduced if the speed-up from storage on is as high within a factor of {SIZE:g}. Refuted if the GPU "
        "is surely slower. Any other ratio may be the hardware's.",
        experiment="depth",
        judge=_even_so,
    ),
    Observation(
        code="O19",
        article=PHOTOGRAPHS,
        said="Pictures of 128 instead of 64 pixels cost the GPU about 20 % and the CPU about 85 % of its speed: the "
        "gap grows to 23 times.",
        rule="Reproduced if the speed-up from storage on surely grows with the larger pictures. Refuted if it surely "
        f"falls. Between campaigns, this means a factor of {FAR:g}.",
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

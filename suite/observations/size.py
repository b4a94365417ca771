"""What a speed-up depends on."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import permutations

from suite import units
from suite.experiments.size import flop, networks
from suite.inquiry.steps import steady, words
from suite.observations import NOT_RUN, Judgement, Observation, Part, judged, part
from suite.observations._articles import MNIST, PHOTOGRAPHS
from suite.observations._found import FAR, by_batch, least, more, most, own_first, steps
from suite.observations._sizes import with_size
from suite.results.record import Record
from suite.results.speedup import SpeedUp, record_of
from suite.workload import Description

_OWN = ("mnist_mlp", "mnist_cnn")
_SAME = 1.1
_DEEPER = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_noaug", "catdog_cnn_128",
           "catdog_cnn_deep", "cifar10_tf_cnn")  # fmt: skip

# What is varied, and what has to be the same.
_Axis = tuple[Callable[[Description], object], Callable[[Description], object]]
_ALONE: dict[str, _Axis] = {
    "data": (lambda about: about.dataset, lambda about: (about.network, about.batch)),
    "optimizer": (
        lambda about: about.optimizer,
        lambda about: (about.parameters, about.flop_per_example, about.dataset, about.preprocessing, about.batch),
    ),
    "architecture": (
        lambda about: (about.parameters, about.flop_per_example),
        lambda about: (about.optimizer, about.dataset, about.preprocessing, about.batch),
    ),
}


def _depends(records: Sequence[Record]) -> Judgement:
    found, batches = list(steps(records).values()), list(by_batch(records).values())
    if not found or (len(found) < 2 and not batches):
        return NOT_RUN
    low, high = (end(found, key=lambda item: item.ratio.value) for end in (min, max))
    said = f"From {_named(low)} to {_named(high)} over {units.counted(len(found), 'network')}."
    parts = [_by_groups(f"it depends on the {what}", _alone(found, *axis)) for what, axis in _ALONE.items()]
    parts.append(_by_groups("it depends on the batch, a hyper-parameter", batches))
    return judged(said, parts, found)


def _alone(found: Sequence[SpeedUp], varied: Callable[..., object], same: Callable[..., object]) -> list[list[SpeedUp]]:
    """Return groups of networks that differ in one thing alone."""
    groups: dict[object, list[SpeedUp]] = defaultdict(list)
    for item in found:
        groups[same(record_of(item).description)].append(item)
    return [group for group in groups.values() if len({varied(record_of(item).description) for item in group}) > 1]


def _by_groups(says: str, groups: Sequence[Sequence[SpeedUp]]) -> Part:
    """Return whether speed-ups surely differ inside a group, or surely are the same inside all of them."""
    kept = [mine for group in groups if len(mine := [item for item in group if steady(item)]) > 1]
    own, others = ([group for group in kept if _is_own(group) is mine] for mine in (True, False))

    def judge(groups: Sequence[Sequence[SpeedUp]]) -> Part:
        apart = [pair for group in groups for pair in permutations(group, 2) if more(*pair)]
        one, other = max(apart, key=lambda pair: pair[0].ratio.value / pair[1].ratio.value, default=(None, None))
        example = f" ({_at(one)}, {_at(other)})" if one and other else ""
        same, why = all(map(_are_same, groups)), "no two are surely apart, nor all surely within 10 %"
        return part(f"{says}{example}", bool(apart), same, why=why)

    if not kept:
        why = "not two of its results are steady" if groups else "no two networks here differ in it alone"
        return Part(says=says, holds=None, why=why)
    return own_first(own, others, judge)


def _is_own(group: Sequence[SpeedUp]) -> bool:
    return all(record_of(item).workload in _OWN for item in group)


def _are_same(group: Sequence[SpeedUp]) -> bool:
    together = len({record_of(item).campaign for item in group}) == 1
    return together and max(most(item.ratio) for item in group) < _SAME * min(least(item.ratio) for item in group)


def _at(item: SpeedUp) -> str:
    case = record_of(item).case
    return f"{case.workload} at batch {units.count(case.batch)} {words(item.ratio)}"


def _named(item: SpeedUp) -> str:
    return f"{words(item.ratio)} for {item.gpu.record.workload}"


def _deeper(records: Sequence[Record]) -> Judgement:
    found = sorted(steps(records, _DEEPER).values(), key=flop)
    sizes, _ = networks(found)
    if len(sizes) < 3:
        return NOT_RUN
    said = (
        f"Of {len(sizes)} networks the step with the least FLOP has {_named(found[0])}, that with the most "
        f"{_named(found[-1])}."
    )
    slope, rises = with_size("", found)
    return judged(said + slope, [rises], found)


OBSERVATIONS = (
    Observation(
        code="O3",
        article=MNIST,
        said="What a GPU gains depends on data, optimizer, architecture and hyper-parameters.",
        rule="A part for each of the four, by steady steps that differ in it alone, those of the article's networks "
        "first: it holds if two speed-ups are surely apart, and does not if all surely lie within 10 % of each other. "
        f"Of two campaigns they are apart by a factor of {FAR:g}. Of the hyper-parameters the batch is varied.",
        experiment="size",
        judge=_depends,
    ),
    Observation(
        code="O27",
        article=PHOTOGRAPHS,
        said="Deeper and more complex networks gain more from a GPU.",
        rule="Reproduced if over the article's networks the steady speed-ups surely grow with the FLOP of a step, "
        "refuted if they surely fall. Networks that differ in data or dropout alone count as one.",
        experiment="size",
        judge=_deeper,
    ),
)

"""What a speed-up depends on."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import permutations

from suite import units
from suite.experiments.size import flop, networks
from suite.inquiry.steps import steady, words
from suite.observations import NOT_RUN, Judgement, Observation, Part, judged, part, unjudged
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
_Axis = tuple[Callable[[SpeedUp], object], Callable[[SpeedUp], object]]
_ALONE: dict[str, _Axis] = {
    "data": (lambda item: _about(item).dataset, lambda item: (_about(item).network, _about(item).batch)),
    "optimizer": (lambda item: _about(item).optimizer, lambda item: (_size(item), *_fed(item))),
    "architecture": (lambda item: _size(item), lambda item: (_about(item).optimizer, *_fed(item))),
}
_BATCH: _Axis = (lambda item: record_of(item).case.batch, lambda item: record_of(item).workload)


def _about(item: SpeedUp) -> Description:
    return record_of(item).description


def _size(item: SpeedUp) -> tuple[int, int]:
    return _about(item).parameters, _about(item).flop_per_example


def _fed(item: SpeedUp) -> tuple[str, str, int]:
    return _about(item).dataset, _about(item).preprocessing, _about(item).batch


def _depends(records: Sequence[Record]) -> Judgement:
    found, batches = list(steps(records).values()), [item for items in by_batch(records).values() for item in items]
    if not found or (len(found) < 2 and not batches):
        return NOT_RUN
    low, high = (end(found, key=lambda item: item.ratio.value) for end in (min, max))
    said = f"From {_named(low)} to {_named(high)} over {units.counted(len(found), 'network')}."
    parts = [_varied(f"it depends on the {what}", found, axis) for what, axis in _ALONE.items()]
    parts.append(_varied("it depends on the batch, a hyper-parameter", batches, _BATCH))
    return judged(said, parts, found)


def _varied(says: str, found: Sequence[SpeedUp], axis: _Axis) -> Part:
    """Return whether steady speed-ups surely differ where one thing alone does, or surely are the same everywhere."""
    groups = _alone([item for item in found if steady(item)], axis)
    if not groups:
        there = bool(_alone(found, axis))
        return unjudged(
            says, "not two of its results are steady" if there else "no two networks here differ in it alone"
        )

    def judge(groups: Sequence[Sequence[SpeedUp]]) -> Part:
        pairs = [pair for group in groups for pair in permutations(group, 2) if axis[0](pair[0]) != axis[0](pair[1])]
        apart = [pair for pair in pairs if more(*pair)]
        one, other = max(apart, key=lambda pair: pair[0].ratio.value / pair[1].ratio.value, default=(None, None))
        example = f" ({_at(one)}, {_at(other)})" if one and other else ""
        same, why = all(map(_are_same, groups)), "no two are surely apart, nor all surely within 10 %"
        return part(f"{says}{example}", bool(apart), same, why=why)

    own, others = ([group for group in groups if _is_own(group) is mine] for mine in (True, False))
    return own_first(own, others, judge)


def _alone(found: Sequence[SpeedUp], axis: _Axis) -> list[list[SpeedUp]]:
    """Return groups of speed-ups that differ in one thing alone."""
    varied, same = axis
    groups: dict[object, list[SpeedUp]] = defaultdict(list)
    for item in found:
        groups[same(item)].append(item)
    return [group for group in groups.values() if len(set(map(varied, group))) > 1]


def _is_own(group: Sequence[SpeedUp]) -> bool:
    return all(record_of(item).workload in _OWN for item in group)


def _are_same(group: Sequence[SpeedUp]) -> bool:
    together = len({record_of(item).campaign for item in group}) == 1
    return together and max(most(item.ratio) for item in group) < _SAME * min(least(item.ratio) for item in group)


def _at(item: SpeedUp) -> str:
    case = record_of(item).case
    return f"{case.workload} at batch {units.count(case.batch)} {words(item.ratio)}"


def _named(item: SpeedUp) -> str:
    return f"{words(item.ratio)} for {record_of(item).workload}"


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
        rule="Four parts: data, optimizer, architecture and batch, which stands for the hyper-parameters. Each "
        "compares steady steps that differ in it alone, the article's networks first. It holds if two speed-ups "
        "are surely apart, and fails if all are surely within 10 %. Between campaigns, apart means a factor of "
        f"{FAR:g}.",
        experiment="size",
        judge=_depends,
    ),
    Observation(
        code="O27",
        article=PHOTOGRAPHS,
        said="Deeper and more complex networks gain more from a GPU.",
        rule="Reproduced if over the article's networks the steady speed-ups surely grow with the FLOP of a step. "
        "Refuted if they surely fall. Networks that differ in data or dropout alone count as one.",
        experiment="size",
        judge=_deeper,
    ),
)

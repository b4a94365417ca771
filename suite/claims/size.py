"""O3, O27: what a speed-up depends on."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import permutations

from suite import units
from suite.analysis.steps import words
from suite.claims import NOT_RUN, Judgement, Observation, Part, judged, part, unjudged
from suite.claims._articles import MNIST, PHOTOGRAPHS
from suite.claims._judging import by_batch, certified, least, more, most, own_first, steps
from suite.claims._sizes import with_size
from suite.experiments.size import flop, networks
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.workload import Description

_OWN = ("mnist_mlp", "mnist_cnn")
_SAME = 1.1
_DEEPER = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_noaug", "catdog_cnn_128",
           "catdog_cnn_deep", "cifar10_tf_cnn")  # fmt: skip

# What varies, and what must be equal.
_Axis = tuple[Callable[[PooledSpeedUp], object], Callable[[PooledSpeedUp], object]]
_ALONE: dict[str, _Axis] = {
    "data": (lambda item: _about(item).dataset, lambda item: (_about(item).network, _about(item).batch)),
    "optimizer": (lambda item: _about(item).optimizer, lambda item: (_size(item), *_fed(item))),
    "architecture": (lambda item: _size(item), lambda item: (_about(item).optimizer, *_fed(item))),
}
_BATCH: _Axis = (lambda item: item.case.batch, lambda item: item.workload)


def _about(item: PooledSpeedUp) -> Description:
    return item.record.description


def _size(item: PooledSpeedUp) -> tuple[int, int]:
    return _about(item).parameters, _about(item).flop_per_example


def _fed(item: PooledSpeedUp) -> tuple[str, str, int]:
    return _about(item).dataset, _about(item).preprocessing, _about(item).batch


def _depends(evidence: Evidence) -> Judgement:
    speedups = list(steps(evidence).values())
    batches = [item for items in by_batch(evidence).values() for item in items]
    if not speedups or (len(speedups) < 2 and not batches):
        return NOT_RUN
    low, high = (end(speedups, key=lambda item: item.ratio.value) for end in (min, max))
    span = _named(low) if low is high else f"From {_named(low)} to {_named(high)}"
    summary = f"{span} over {units.pluralize(len(speedups), 'network')}."
    parts = [_varied(f"it depends on the {what}", speedups, axis) for what, axis in _ALONE.items()]
    parts.append(_varied("it depends on the batch, a hyper-parameter", batches, _BATCH))
    return judged(summary, parts, speedups=speedups)


def _varied(says: str, speedups: Sequence[PooledSpeedUp], axis: _Axis) -> Part:
    """Return whether certified speed-ups surely differ if one thing alone does, or are surely equal in all groups."""
    groups = _alone([item for item in speedups if certified(item)], axis)
    if not groups:
        comparable = bool(_alone(speedups, axis))
        return unjudged(
            says, "not two of its speed-ups are certified" if comparable else "no two networks here differ in it alone"
        )

    def judge(groups: Sequence[Sequence[PooledSpeedUp]]) -> Part:
        pairs = [pair for group in groups for pair in permutations(group, 2) if axis[0](pair[0]) != axis[0](pair[1])]
        apart = [pair for pair in pairs if more(*pair)]
        one, other = max(apart, key=lambda pair: pair[0].ratio.value / pair[1].ratio.value, default=(None, None))
        example = f" ({_at(one)}, {_at(other)})" if one and other else ""
        same, why = all(map(_are_same, groups)), "no two are surely apart, nor all surely within 10 %"
        return part(f"{says}{example}", bool(apart), same, why=why)

    own, others = ([group for group in groups if _is_own(group) is mine] for mine in (True, False))
    return own_first(own, others, judge)


def _alone(speedups: Sequence[PooledSpeedUp], axis: _Axis) -> list[list[PooledSpeedUp]]:
    """Return groups of speed-ups that differ in one thing alone."""
    varied, same = axis
    groups: dict[object, list[PooledSpeedUp]] = defaultdict(list)
    for item in speedups:
        groups[same(item)].append(item)
    return [group for group in groups.values() if len(set(map(varied, group))) > 1]


def _is_own(group: Sequence[PooledSpeedUp]) -> bool:
    return all(item.workload in _OWN for item in group)


def _are_same(group: Sequence[PooledSpeedUp]) -> bool:
    ratios = [item.ratio.estimate for item in group]
    return max(map(most, ratios)) < _SAME * min(map(least, ratios))


def _at(item: PooledSpeedUp) -> str:
    case = item.case
    return f"{case.workload} at batch {units.count(case.batch)} {words(item.ratio.estimate)}"


def _named(item: PooledSpeedUp) -> str:
    return f"{words(item.ratio.estimate)} for {item.workload}"


def _deeper(evidence: Evidence) -> Judgement:
    speedups = sorted(steps(evidence, _DEEPER).values(), key=flop)
    sizes, _ = networks(speedups)
    if len(sizes) < 3:
        return NOT_RUN
    summary = (
        f"Of {len(sizes)} networks the step with the least FLOP has {_named(speedups[0])}, that with the most "
        f"{_named(speedups[-1])}."
    )
    slope, rises = with_size("", speedups)
    return judged(summary + slope, [rises], speedups=speedups)


OBSERVATIONS = (
    Observation(
        code="O3",
        article=MNIST,
        said="What a GPU gains depends on data, optimizer, architecture and hyper-parameters.",
        rule="Four parts: data, optimizer, architecture and batch, which stands for the hyper-parameters. Each "
        "compares steps that differ in it alone, the article's networks first. It holds if two speed-ups are surely "
        "apart, and fails if all are surely within 10 %.",
        experiment="size",
        judge=_depends,
    ),
    Observation(
        code="O27",
        article=PHOTOGRAPHS,
        said="Deeper and more complex networks gain more from a GPU.",
        rule="Reproduced if over the article's networks the speed-ups surely grow with the FLOP of a step. "
        "Refuted if they surely fall. Networks that differ in data or dropout alone count as one.",
        experiment="size",
        judge=_deeper,
    ),
)

"""Several GPUs at once."""

from collections.abc import Sequence

from suite import units
from suite.inquiry.devices import Side, found, strong
from suite.inquiry.steps import words
from suite.observations import NOT_RUN, Judgement, Observation, either
from suite.observations._articles import TEXT
from suite.observations._found import above, below, both, counted, near, steps
from suite.results.record import Record
from suite.results.statistics import Estimate
from suite.results.summary import Summary

_EXPERIMENT, _TREES = "scaling", "gbdt_mortgage"
_OF_ONE, _OF_FOUR = 11.01, 23.19 / 11.01  # documented: one GPU over the CPU, four over one


def _sides(records: Sequence[Record]) -> dict[str, list[Side]]:
    """Return each workload's headline batch on several GPUs, by name; what may be judged by."""
    sides = {name: strong(cells) for name, cells in found(records).items()}
    return {name: kept for name, mine in sides.items() if (kept := list(filter(_judged, mine)))}


def _judged(side: Side) -> bool:
    return side.counted and all(map(counted, side.results))


def _speeds(sides: Sequence[Side]) -> dict[int, Estimate]:
    return {side.devices: side.speed for side in sides if side.speed is not None}


def _results(sides: Sequence[Side]) -> list[Summary]:
    return [item for side in sides for item in side.results]


def _trees(records: Sequence[Record]) -> Judgement:
    sides = [side for side in _sides(records).get(_TREES, ()) if side.devices == 4]
    four, one = _speeds(sides).get(4), steps(records, [_TREES]).get(_TREES)
    if four is None or one is None:
        return NOT_RUN
    said = f"One GPU trains the trees {words(one.ratio)} as fast as the CPU, four {words(four)} as fast as one."
    alike = near(one.ratio, _OF_ONE) and near(four, _OF_FOUR)
    return either(alike, below(one.ratio, 1) or below(four, 1), said, (*both([one]), *_results(sides)))


def _fastest(records: Sequence[Record]) -> Judgement:
    sides = _sides(records)
    if not sides:
        return NOT_RUN
    speeds = {name: _speeds(mine) for name, mine in sides.items()}
    best = {name: max(mine.items(), key=lambda pair: pair[1].value) for name, mine in speeds.items()}
    said = "; ".join(f"{name} {words(speed)} on {units.count(count)}" for name, (count, speed) in best.items())
    slower = any(all(below(speed, 1) for speed in mine.values()) for mine in speeds.values())
    faster = all(above(speed, 1) for _, speed in best.values())
    items = [item for mine in sides.values() for item in _results(mine)]
    return either(faster, slower, f"The headline batch over that on one GPU, at best: {said}.", items)


OBSERVATIONS = (
    Observation(
        code="O13",
        article=TEXT,
        said="Four GPUs train boosted trees 23.2 times as fast as a CPU, one 11 times.",
        rule="Reproduced if one GPU is 11 times as fast as the CPU and four are 2.1 times as fast as one, both within "
        "a factor of 1.25 of the interval; refuted if one is surely slower than the CPU, or four than one.",
        experiment=_EXPERIMENT,
        judge=_trees,
    ),
    Observation(
        code="O14",
        article=TEXT,
        said="Data parallelism over several GPUs is fastest.",
        rule="Reproduced if the headline batch of every network that was timed on several GPUs is surely faster on "
        "two, four or eight than on one; refuted if that of one network is surely slower on each number of them.",
        experiment=_EXPERIMENT,
        judge=_fastest,
    ),
)

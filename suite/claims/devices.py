"""O13, O14: several GPUs at once."""

from collections.abc import Sequence
from functools import partial

from suite import units
from suite.analysis.devices import cells_by_workload, strong
from suite.analysis.steps import said_of_pooled, words
from suite.claims import NOT_RUN, Judgement, Observation, Part, judged, part, unjudged, unmeasured
from suite.claims._articles import TEXT
from suite.claims._judging import SIZE, above, alike, below, gains, own_first, steps, unsure
from suite.results.pooled.machine_evidence import Evidence
from suite.results.stats.pooling import Pooled

_EXPERIMENT, _TREES = "scaling", "gbdt_mortgage"
_OWN = {
    _TREES: "several GPUs train the trees faster",
    "dp_linear_mirrored": "several GPUs train the data-parallel network faster",
}
_OF_ONE, _OF_FOUR = 11.01, 23.19 / 11.01  # documented: one GPU over the CPU, four over one


def _speeds(evidence: Evidence) -> dict[str, dict[int, Pooled]]:
    """Return the speed of each workload's headline batch over one GPU, by workload and number of GPUs."""
    sides = {name: strong(cells) for name, cells in cells_by_workload(evidence).items()}
    speeds = {name: {one.devices: one.speed for one in mine if one.speed} for name, mine in sides.items()}
    return {name: mine for name, mine in speeds.items() if mine}


def _trees(evidence: Evidence) -> Judgement:
    one, speeds = steps(evidence, [_TREES]).get(_TREES), _speeds(evidence).get(_TREES, {})
    sentences = [f"One GPU trains the trees {words(one.ratio.estimate)} as fast as the CPU."] if one else []
    sentences += [
        f"{_gpus(count)} train them {words(speed.estimate)} as fast as one." for count, speed in speeds.items()
    ]
    if not sentences:
        return NOT_RUN
    if one is None or 4 not in speeds:
        missing = ("the CPU beside them",) * (one is None) + (f"{_gpus(4)} at once",) * (4 not in speeds)
        return unmeasured(", ".join(missing), " ".join(sentences))
    parts = (
        gains("one GPU is 11 times as fast as the CPU", one, _OF_ONE),
        alike(f"{_gpus(4)} are 2.1 times as fast as one", speeds[4].estimate, _OF_FOUR),
    )
    return judged(" ".join(sentences), parts, speedups=[one])


def _gpus(count: int) -> str:
    return f"{units.count(count)} GPUs"


def _fastest(evidence: Evidence) -> Judgement:
    speeds = _speeds(evidence)
    if not speeds:
        return NOT_RUN
    best = {name: max(by_count.items(), key=lambda pair: pair[1].value) for name, by_count in speeds.items()}
    listed = "; ".join(f"{name} {words(speed.estimate)} on {_gpus(count)}" for name, (count, speed) in best.items())
    slower = [name for name in speeds if _slower(speeds[name])]
    faster = [name for name in speeds if _faster(speeds[name])]
    mixed = f" Not always: faster are {', '.join(faster)}, slower {', '.join(slower)}." if faster and slower else ""
    text = f"The headline batch over that on one GPU, at best: {listed}.{mixed}"
    text += said_of_pooled(speed for _, speed in best.values())
    parts = [_judged(says, [speeds[name]] if name in speeds else []) for name, says in _OWN.items()]
    if all(each.holds is None for each in parts):
        own, others = (
            [by_count for name, by_count in speeds.items() if (name in _OWN) is mine] for mine in (True, False)
        )
        parts = [own_first(own, others, partial(_judged, ""))]
    return judged(text, parts)


def _judged(says: str, speeds: Sequence[dict[int, Pooled]]) -> Part:
    if not speeds:
        return unjudged(says, "it was not timed on several GPUs")
    why = unsure(*(speed.estimate for by_count in speeds for speed in by_count.values()))
    return part(says, all(map(_faster, speeds)), any(map(_slower, speeds)), why=why)


def _faster(speeds: dict[int, Pooled]) -> bool:
    return above(max(speeds.values(), key=lambda speed: speed.value).estimate, 1)


def _slower(speeds: dict[int, Pooled]) -> bool:
    return all(below(speed.estimate, 1) for speed in speeds.values())


OBSERVATIONS = (
    Observation(
        code="O13",
        article=TEXT,
        said="Four GPUs train boosted trees 23.2x as fast as a CPU, one 11x.",
        rule="Part 1 holds if one GPU is 11 times as fast as the CPU, part 2 if four are 2.1 times as fast as one. "
        f"Both allow a factor of {SIZE:g}, and fail if the GPUs are surely slower. Any other ratio may be the "
        "hardware's.",
        experiment=_EXPERIMENT,
        numbers=(("gbdt_mortgage", "training"),),
        judge=_trees,
    ),
    Observation(
        code="O14",
        article=TEXT,
        said="Data parallelism over several GPUs is fastest.",
        rule="Part 1 is of the article's trees, part 2 of its data-parallel network. A part holds if the headline "
        "batch is surely faster on two, four or eight GPUs than on one, and fails if it is surely slower on each "
        "number. If neither part can be judged, other networks decide: all must hold, and one that fails refutes.",
        experiment=_EXPERIMENT,
        judge=_fastest,
    ),
)

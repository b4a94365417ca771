"""A second GPU: what it gains at each batch, and from which batch it pays."""

from collections.abc import Sequence
from functools import partial

from suite import units
from suite.analysis import devices
from suite.analysis.devices import Side
from suite.report.parts.answer import Answer, Question, shown, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoting
from suite.results.pooled.machine_evidence import Evidence
from suite.results.stats.fit import crossing
from suite.results.stats.pooling import Pooled


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the least that a second GPU gains, and from which batch on it pays."""
    pairs = {name: devices.second(cells) for name, cells in devices.cells_by_workload(evidence).items()}
    sides = [side for of_model in pairs.values() for side in of_model]
    timed = [(side, side.speed, side.base, side.item) for side in sides if side.speed and side.base and side.item]
    if not timed:
        return None
    timed.sort(key=lambda each: each[1].value)
    quoting = Quoting(facts=facts, evidence=evidence)
    (side, speed, base, item), (largest, most, *pools) = timed[0], timed[-1]
    number, about = quoting.ratio(base, item), item.newest.description
    return Answer(
        sentence=Html("{} at batch {} two {} run {} {} as fast as one{}.").format(
            _why(speed),
            units.count(side.batch),
            quoting.gpu,
            quoting.model(about),
            number.words,
            _from(pairs[about.name]),
        ),
        numbers=(number,),
        turns=Html(
            "Each GPU computes the gradients of its share of the batch; before each update all GPUs exchange them. It "
            "turns with the work of a step. For {}, {} {} gains most: {} at batch {}."
        ).format(
            quoting.model(about),
            devices.pays(pairs[about.name], side),
            quoting.model(pools[-1].newest.description),
            quoting.ratio(*pools).words,
            units.count(largest.batch),
        ),
        draw=partial(
            shown, facts, evidence, "scaling", f"A second GPU: {_ratio(speed)} to {_ratio(most)} the speed", "second"
        ),
        tables=tables(facts, evidence, "scaling")[-1:],
    )


def _why(speed: Pooled) -> str:
    if speed.high is not None and speed.high < 1:
        return "Exchanging gradients takes time:"
    return "They are faster:" if (speed.low or 0) > 1 else "Not surely faster:"


def _from(pairs: Sequence[Side]) -> str:
    """Return the batch from which two are faster, as a clause; '' if it is not between those timed."""
    points = [(one.batch, one.speed.estimate) for one in pairs if one.speed is not None]
    at = crossing(points) if len(points) > 1 else None
    if at is None or at.outcome != "from" or at.size is None:
        return ""
    return f", from batch {units.number(at.size, units.half_width(at.low, at.high))} faster"


def _ratio(speed: Pooled) -> str:
    return units.ratio(speed.value, speed.low, speed.high)


QUESTION = Question(
    title="Two GPUs are no faster: why?",
    place=12,
    also=("multi-GPU", "data parallel", "NCCL", "all-reduce", "scaling", "NVLink"),
    wanted="This needs a step on one and on two GPUs of the same machine.",
    command="nox -s bench -- cifar10_mlp --experiment scaling",
    evidence=("scaling",),
    read_next=("what_does_the_batch_size_do", "why_is_gpu_use_low"),
    answer=answer,
)

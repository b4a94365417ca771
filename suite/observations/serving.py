"""Inference, one picture at a time, and speed-ups as large as a bill."""

from collections.abc import Sequence

from suite import units
from suite.experiments._steps import words
from suite.observations import NOT_RUN, Judgement, Observation, either
from suite.observations._articles import TEXT
from suite.observations._found import above, below, steps
from suite.results.record import Record

_PAID = 30.0


def _wins(records: Sequence[Record]) -> Judgement:
    found = {name: item for name, item in steps(records).items() if name.startswith("serve_")}
    if len(found) < 2:
        return NOT_RUN
    ordered = sorted(found.values(), key=lambda item: item.gpu.record.description.flop_per_example)
    small, large = ordered[0].ratio, ordered[-1].ratio
    wins = all(above(item.ratio, 1) for item in ordered)
    said = "; ".join(f"{item.gpu.record.workload} {words(item.ratio)}" for item in ordered)
    return either(
        wins and above(small, large.high or large.value),
        any(below(item.ratio, 1) for item in ordered) or above(large, small.high or small.value),
        f"Speed-ups at batch 1, the smallest network first: {said}.",
    )


def _paid(records: Sequence[Record]) -> Judgement:
    found = steps(records)
    if not found:
        return NOT_RUN
    high = sorted(name for name, item in found.items() if above(item.ratio, _PAID))
    said = f"{units.count(len(high))} of {units.count(len(found))} networks gain surely more than {units.times(_PAID)}"
    return Judgement(verdict="not comparable", found=said + (f": {', '.join(high)}." if high else "."))


OBSERVATIONS = (
    Observation(
        code="O12",
        article=TEXT,
        said="At inference the GPU wins in every case, and most with small networks: 804 %.",
        rule="Reproduced if it surely wins with every serving network and most with the smallest; refuted if it "
        "loses with one, or wins more with the largest. The clusters behind the 804 % cannot be set up again.",
        judge=_wins,
    ),
    Observation(
        code="O15",
        article=TEXT,
        said="For each hour that a V100 needs a CPU has to be paid for 30.",
        rule="Not testable as it is stated; which networks gain more than 30 times is listed.",
        judge=_paid,
    ),
)

"""Observations for which there is no measurement yet."""

from collections.abc import Sequence

from suite.observations import NOT_RUN, Judgement, Observation
from suite.observations._articles import TEXT
from suite.results.record import Record


def _not_yet(_: Sequence[Record]) -> Judgement:
    return NOT_RUN


OBSERVATIONS = (
    Observation(
        code="O13",
        article=TEXT,
        said="Four GPUs train boosted trees 23.2 times as fast as a CPU, one 11 times.",
        rule="Not measured: the trees are not built yet.",
        judge=_not_yet,
    ),
    Observation(
        code="O14",
        article=TEXT,
        said="Data parallelism over several GPUs is fastest.",
        rule="Not measured on several GPUs so far.",
        judge=_not_yet,
    ),
)

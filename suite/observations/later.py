"""Observations for which there is no measurement yet."""

from collections.abc import Sequence

from suite.observations import NOT_RUN, Judgement, Observation
from suite.observations._articles import MNIST
from suite.results.record import Record


def _not_yet(_: Sequence[Record]) -> Judgement:
    return NOT_RUN


OBSERVATIONS = (
    Observation(
        code="O4",
        article=MNIST,
        said="A grid search over hyper-parameters gains from a GPU.",
        rule="Not measured: the grid is not built yet.",
        judge=_not_yet,
    ),
)

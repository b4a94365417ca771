"""A GPU and a search over hyper-parameters."""

from collections.abc import Sequence

from suite.inquiry.searches import is_search
from suite.inquiry.steps import ratio, words
from suite.observations import NOT_RUN, Judgement, Observation, either
from suite.observations._articles import MNIST
from suite.observations._found import above, below, groups
from suite.results.record import Record


def _gains(records: Sequence[Record]) -> Judgement:
    found = groups(records, is_search)
    sides = {(backend, item.record.case.variant): item for (_, backend), group in found.items() for item in group}
    if not {("cpu", "plain"), ("gpu", "plain")} <= set(sides):
        return NOT_RUN
    plain = ratio(sides["cpu", "plain"], sides["gpu", "plain"])
    if plain is None:
        return NOT_RUN
    said = f"One fit after another, the GPU makes the whole search {words(plain)} as fast as the CPU does."
    if {("cpu", "stacked"), ("gpu", "stacked")} <= set(sides):
        stacked = ratio(sides["cpu", "stacked"], sides["gpu", "stacked"])
        said += f" With its fits stacked it is {words(stacked)}." if stacked is not None else ""
    return either(above(plain, 1), below(plain, 1), said, sides.values())


OBSERVATIONS = (
    Observation(
        code="O4",
        article=MNIST,
        said="A grid search over hyper-parameters gains from a GPU.",
        rule="Reproduced if the whole search, one fit after another, is surely faster on the GPU, refuted if surely "
        "slower.",
        experiment="grid_search",
        judge=_gains,
    ),
)

"""A GPU and a search over hyper-parameters."""

from collections.abc import Sequence

from suite.inquiry.searches import is_search
from suite.inquiry.steps import words
from suite.observations import NOT_RUN, Judgement, Observation, either, unmeasured
from suite.observations._articles import MNIST
from suite.observations._found import above, below, counted, groups
from suite.results.record import Record
from suite.results.speedup import SpeedUp, current, speedups

_WAYS = {"plain": "one fit after another", "stacked": "with its fits stacked"}  # by variant


def _gains(records: Sequence[Record]) -> Judgement:
    found = _speedups(records)
    said = " ".join(
        f"{said_of.capitalize()}, the GPU makes the whole search {words(found[way].ratio)} as fast as the CPU does."
        for way, said_of in _WAYS.items()
        if way in found
    )
    if "plain" in found:
        plain = found["plain"].ratio
        return either(above(plain, 1), below(plain, 1), said, found.values())
    there = {backend for (_, backend), group in groups(records, _plain).items() if group}
    if not said and not there:
        return NOT_RUN
    missing = " and ".join(f"the {side.upper()}" for side in ("cpu", "gpu") if side not in there)
    return unmeasured(f"{_WAYS['plain']} on {missing or 'both in one campaign'}", said)


def _speedups(records: Sequence[Record]) -> dict[str, SpeedUp]:
    """Return the current speed-up of the whole search in each way, by variant: of two that are of one campaign."""
    searches = (record for record in records if is_search(record) and record.profile != "smoke")
    found = {item.gpu.record.case.variant: item for item in current(speedups(searches))}
    return {way: item for way, item in found.items() if counted(item.cpu) and counted(item.gpu)}


def _plain(record: Record) -> bool:
    return is_search(record) and record.case.variant == "plain"


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

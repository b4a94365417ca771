"""What a documented number was compared with, and by which rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from suite.inquiry.steps import solid
from suite.observations import Part, part, unjudged
from suite.observations._found import near
from suite.results.record import Record
from suite.results.speedup import Result
from suite.results.statistics import Estimate
from suite.workload import Claim, Scope

ANY_OTHER = "Any other ratio is not comparable, as the hardware differs."


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a documented number was compared with; no parts where nothing like it was measured."""

    rule: str  # on the page: when it is reproduced, and when refuted
    parts: tuple[Part, ...] = ()
    found: str = ""
    ratio: Estimate | None = None  # the measured one, shown beside it
    scope: Scope | None = None
    items: Sequence[Result] = ()


Compare = Callable[[Claim, str, Sequence[Record]], Comparison]  # of a workload, by one machine's records


def of(records: Sequence[Record], *names: str) -> list[Record]:
    """Return the records of these workloads."""
    return [record for record in records if record.workload in names]


def agrees(value: Estimate, documented: float, items: Sequence[Result], against: bool = False, says: str = "") -> Part:
    """Return whether a ratio is as high as documented by steady, certified results, or something is against it."""
    if not solid(*items):
        return unjudged(says, "not all of its results are steady and certified")
    return part(says, near(value, documented), against, items, "the ratio is another, which the hardware may explain")

"""One number under its key: of the current pool, of a stored pool, or of one campaign on one host."""

from dataclasses import dataclass

from suite.results.cite.keys import Key
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import State
from suite.scopes import SCOPES

ON_ONE_HOST = "on one host"


@dataclass(frozen=True, kw_only=True)
class Number:
    """The number of a key. The key has a digest if the number is pinned."""

    key: Key
    value: Pooled
    state: State
    reasons: tuple[str, ...]  # why it may not be quoted
    record: Record  # the newest record, of its key's machine
    members: tuple[Record, ...]  # the numerator's first, each side sorted by age
    digest: str  # full digest of its record or stored line; '' if it has neither
    ways: str = ""  # the two ways of best over best
    pooled: bool = True  # False: of one campaign, on one host

    @property
    def quotable(self) -> bool:
        """Whether it may be quoted."""
        return self.state == "quotable"

    @property
    def word(self) -> str:
        """The word that a quotation shows: 'on one host' or the state; '' if it may be quoted."""
        if self.quotable:
            return ""
        return self.state if self.pooled or self.state == "invalid" else ON_ONE_HOST

    @property
    def measured(self) -> str:
        """The time of its newest record: UTC, ISO 8601."""
        return max(record.created for record in self.members)

    @property
    def campaigns(self) -> tuple[str, ...]:
        """Its campaigns, the newest last."""
        records = sorted(self.members, key=lambda record: record.created)
        return tuple(dict.fromkeys(record.campaign for record in records))


def a_step(record: Record, metric: str) -> float | None:
    """Return the examples or FLOP of a step, depending on the metric; None for other metrics and starts."""
    case = record.case
    if not SCOPES[case.scope].streamed:
        return None
    flop = SCOPES[case.scope].computes * case.batch * record.description.flop_per_example
    return {"examples-per-second": case.batch, "flop-per-second": flop}.get(metric) or None


def version_of(record: Record) -> str:
    """Return the timed package with its version; '' if the record lacks it."""
    implementation = record.case.implementation
    package = "tensorflow" if implementation == "keras" else implementation
    version = record.software.packages.get(package)
    return f"{package} {version}" if version else ""

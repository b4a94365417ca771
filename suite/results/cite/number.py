"""Numbers and their keys, which name them in quotations and addresses.

    key     = machine "/" case "/" metric [ "@" digest ]
    case    = workload "/" backend "/" scope *( "/" axis "=" value )

Axes at their default are omitted, as is the workload's headline batch; the others are in the order of `Case`. A key
without a digest means the current pool of its machine and case. A digest, of at least 12 hexadecimal digits, pins it
for ever: to the record with that digest, of one campaign on one host, or to the stored pool. A ratio's case is that of
its GPU side. Former names of values stay valid.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from suite import former, units
from suite.case import axes as case_axes
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import State, status
from suite.scopes import SCOPES

Unit = Literal["s", "examples/s", "FLOP/s", "1", "FLOP", "elements"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A quantity of a case: its words, before the scope's, and its unit."""

    words: str
    unit: Unit = "s"


METRICS: Mapping[str, Metric] = {
    "seconds": Metric(words="time of"),
    "examples-per-second": Metric(words="examples a second of", unit="examples/s"),
    "flop-per-second": Metric(words="analytic FLOP a second of", unit="FLOP/s"),
    "speedup": Metric(words="CPU time over GPU time of", unit="1"),  # of JAX
    "best-over-best": Metric(words="fastest CPU time over fastest GPU time of", unit="1"),  # a way of a step each
    "flop-threshold": Metric(words="FLOP of a call from which the GPU takes less time, of", unit="FLOP"),  # of a family
    "elements-threshold": Metric(words="elements of a table from which the GPU takes less time, of", unit="elements"),
    "latency": Metric(words="blocking latency of"),  # of a blocking step
    "latency-p50": Metric(words="median latency of"),  # of a request, in scope `serve`
    "latency-p99": Metric(words="latency at the 99th percentile of"),
}
_OF_BOTH_SIDES = ("1", "FLOP", "elements")
RATIOS = frozenset(name for name, metric in METRICS.items() if metric.unit in _OF_BOTH_SIDES)  # of a machine
_FIXED = 3  # workload, backend, scope
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_DIGEST = re.compile(r"[0-9a-f]{12,64}")
ON_ONE_HOST = "on one host"
PINNED = 16  # digits of a digest in printed keys


@dataclass(frozen=True, kw_only=True)
class Key:
    """The parts of a key; `case` is a case's text form, `digest` is '' if the key is not pinned."""

    machine: str
    case: str
    metric: str
    digest: str = ""

    def text(self) -> str:
        """Return the key as text."""
        return f"{self.machine}/{self.case}/{self.metric}" + (f"@{self.digest}" if self.digest else "")

    @property
    def unpinned(self) -> "Key":
        """The key without its digest."""
        return replace(self, digest="")


def parse(text: str) -> Key:
    """Return the parts of a key's text.

    Raises ValueError with the wrong part and what it must be.
    """
    body, at, digest = text.partition("@")
    parts = body.split("/")
    if at and not _DIGEST.fullmatch(digest):
        raise ValueError(f"key '{text}': '@' must be followed by 12 to 64 hexadecimal digits, not '{digest}'")
    if len(parts) < _FIXED + 2:
        raise ValueError(
            f"key '{text}' has {units.pluralize(len(parts), 'part')}; it needs machine/workload/backend/scope/metric"
        )
    machine, *case, metric = parts
    for part in (machine, *case[:_FIXED], metric):
        if not _NAME.fullmatch(part):
            raise ValueError(
                f"key '{text}': '{part}' is no name of lower-case letters, digits, dots, dashes, underscores"
            )
    if metric not in METRICS:
        raise ValueError(f"key '{text}': metric '{metric}' is not one of: {', '.join(METRICS)}")
    axes = [axis.partition("=")[0] for axis in case[_FIXED:]]
    order = ["batch", *case_axes()]
    for axis in axes:
        if axis not in order:
            raise ValueError(f"key '{text}': '{axis}' is no axis of a case; there are: {', '.join(order)}")
    if axes != sorted(set(axes), key=order.index):
        raise ValueError(f"key '{text}': its axes must be in the order {', '.join(sorted(set(axes), key=order.index))}")
    return Key(machine=machine, case=former.key("/".join(case)), metric=metric, digest=digest)


def key_of(record: Record, metric: str) -> Key:
    """Return the key of a record's number, pinned to the record."""
    return Key(
        machine=record.machine.slug,
        case=record.case.text(record.description.batch),
        metric=metric,
        digest=record.digest[:PINNED],
    )


@dataclass(frozen=True, kw_only=True)
class Number:
    """The number of a key. The key has a digest if the number is pinned."""

    key: Key
    value: Pooled
    state: State
    reasons: tuple[str, ...]  # why it may not be quoted
    record: Record  # the newest record, of its key's machine
    members: tuple[Record, ...]  # the numerator's first, each side sorted by age
    digest: str = ""  # full, of its record or stored line; '' if it has neither
    ways: str = ""  # the two ways of best over best
    pooled: bool = True  # False: of one campaign, on one host
    slow_cpu: str = ""  # of a speed-up: how much less time another CPU with fewer cores surely takes

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
    def status(self) -> str:
        """Its state as a table has it."""
        return status(self.state, outdated=self.value.outdated, slow_cpu=bool(self.slow_cpu))

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
    package = "tensorflow" if implementation == "keras" and "tensorflow" in record.software.packages else implementation
    version = record.software.packages.get(package)
    return f"{package} {version}" if version else ""

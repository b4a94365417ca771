"""Keys: the names of numbers in quotations and addresses.

    key     = machine "/" case "/" metric [ "@" digest ]
    case    = workload "/" backend "/" scope *( "/" axis "=" value )

Axes at their default are omitted, as is the workload's headline batch; the others are in the order of `Case`. A key
without a digest means the current pool of its machine and case. A digest, of at least 12 hexadecimal digits, pins it
for ever: to the record with that digest, of one campaign on one host, or to the stored pool. A ratio's case is that of
its GPU side. Former names of values stay valid.
"""

import re
from dataclasses import dataclass, replace

from suite import former, units
from suite.case import axes as case_axes
from suite.results.records.record import Record

METRICS = (
    "seconds",  # a step, a cold start, a whole run
    "examples-per-second",
    "flop-per-second",  # analytic
    "speedup",  # JAX's time on the CPU over its time on the GPU
    "best-over-best",  # of a step: the fastest CPU way's time over the fastest GPU way's
    "latency",  # seconds of a blocking step
    "latency-p50",  # seconds of a request, in scope `serve`
    "latency-p99",
)
_FIXED = 3  # workload, backend, scope
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_DIGEST = re.compile(r"[0-9a-f]{12,64}")
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

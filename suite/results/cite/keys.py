"""Keys: the name of one number, as it stands in quotations and addresses.

    key     = machine "/" case "/" metric [ "@" digest ]
    case    = workload "/" backend "/" scope *( "/" axis "=" value )

Axes that have their default are left out, the others stand in the order of `Case`; a batch is left out where it is the
workload's headline batch. A key without a digest means the current pool of that machine and case. With one, at least
12 hexadecimal digits, it means one thing for ever: the number of the record, of one campaign on one host, or the
stored pool that has the digest. A ratio's case is that of its GPU side. A value's former name means the same for ever.
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
    "best-over-best",  # of a step: the time of the fastest way on the CPU over that of the fastest on the GPU
    "latency",  # seconds of a step that is waited for
    "latency-p50",  # seconds of a request, in scope `serve`
    "latency-p99",
)
_FIXED = 3  # workload, backend, scope
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_DIGEST = re.compile(r"[0-9a-f]{12,64}")
PINNED = 16  # digits of a digest in the keys that are given out


@dataclass(frozen=True, kw_only=True)
class Key:
    """The parts of a key; `case` is the written form of a case, `digest` empty where nothing is pinned."""

    machine: str
    case: str
    metric: str
    digest: str = ""

    def text(self) -> str:
        """Return the key as it is written."""
        return f"{self.machine}/{self.case}/{self.metric}" + (f"@{self.digest}" if self.digest else "")

    @property
    def unpinned(self) -> "Key":
        """The key of the same number without a digest."""
        return replace(self, digest="")


def parse(text: str) -> Key:
    """Return the parts of a written key.

    Raises ValueError, naming the part and what it must be, if it is none.
    """
    body, at, digest = text.partition("@")
    parts = body.split("/")
    if at and not _DIGEST.fullmatch(digest):
        raise ValueError(f"key '{text}': after @ come 12 to 64 hexadecimal digits of a digest, not '{digest}'")
    if len(parts) < _FIXED + 2:
        raise ValueError(
            f"key '{text}' has {units.pluralize(len(parts), 'part')}; it needs machine/workload/backend/scope/metric"
        )
    machine, *case, metric = parts
    for part in (machine, *case[:_FIXED], metric):
        if not _NAME.fullmatch(part):
            raise ValueError(f"key '{text}': '{part}' is no name of small letters, digits, dots, dashes, underscores")
    if metric not in METRICS:
        raise ValueError(f"key '{text}': metric '{metric}' is not one of: {', '.join(METRICS)}")
    axes = [axis.partition("=")[0] for axis in case[_FIXED:]]
    order = ["batch", *case_axes()]
    for axis in axes:
        if axis not in order:
            raise ValueError(f"key '{text}': '{axis}' is no axis of a case; there are: {', '.join(order)}")
    if axes != sorted(set(axes), key=order.index):
        raise ValueError(f"key '{text}': its axes stand in the order {', '.join(sorted(set(axes), key=order.index))}")
    return Key(machine=machine, case=former.key("/".join(case)), metric=metric, digest=digest)


def key_of(record: Record, metric: str) -> Key:
    """Return the key of what a record gives by a metric, pinned to it."""
    return Key(
        machine=record.machine.slug,
        case=record.case.text(record.description.batch),
        metric=metric,
        digest=record.digest[:PINNED],
    )

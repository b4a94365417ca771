"""Keys: the name of one number, as it stands in quotations and addresses.

    key     = machine "/" case "/" metric [ "@" digest ]
    case    = workload "/" backend "/" scope *( "/" axis "=" value )

Axes that have their default are left out, the others stand in the order of `Case`; a batch is left out where it is the
workload's headline batch. A key without a digest means the newest citable result; with one, at least 12 hexadecimal
digits of a record's, that record for ever. A speed-up's case is that of its GPU side.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from suite import units
from suite.results.latency import latency, waited_for
from suite.results.record import Record
from suite.results.speedup import SpeedUp, speedups
from suite.results.statistics import Estimate
from suite.results.summary import COUNTED, SOUND, Status, Summary, citable, summary, wide, worse
from suite.workload import axes as case_axes

_FIXED = 3  # workload, backend, scope
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_DIGEST = re.compile(r"[0-9a-f]{12,64}")
_PINNED = 16  # digits of a digest in the keys that are given out


@dataclass(frozen=True, kw_only=True)
class Key:
    """The parts of a key; `case` is the written form of a case, `digest` empty where no record is pinned."""

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


@dataclass(frozen=True, kw_only=True)
class Number:
    """What a key stands for: the number with its interval, and where it comes from."""

    key: Key  # pinned
    value: Estimate
    record: Record
    status: Status
    certified: bool | None  # None: the metric needs no certificate

    @property
    def citable(self) -> bool:
        """Whether it may be quoted."""
        return citable(self.record, self.value, self.status, self.certified)


def parse(text: str) -> Key:
    """Return the parts of a written key.

    Raises ValueError, naming the part and what it must be, if it is none.
    """
    body, at, digest = text.partition("@")
    parts = body.split("/")
    if at and not _DIGEST.fullmatch(digest):
        raise ValueError(f"key '{text}': after @ come 12 to 64 hexadecimal digits of a record's digest, not '{digest}'")
    if len(parts) < _FIXED + 2:
        raise ValueError(
            f"key '{text}' has {units.counted(len(parts), 'part')}; it needs machine/workload/backend/scope/metric"
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
    return Key(machine=machine, case="/".join(case), metric=metric, digest=digest)


def numbers(records: Iterable[Record]) -> tuple[Number, ...]:
    """Return every number that the records give, each under its pinned key, in the order of keys and then of time.

    One that a newer one under its key is clearly apart from is unstable, however steady its own campaign was.
    """
    records = sorted(records, key=lambda record: record.created)
    ratios = {item.gpu.record.digest: item for item in speedups(records)}
    found = []
    for item in map(summary, records):
        for metric, value in METRICS.items():
            number = value(item, ratios.get(item.record.digest))
            if number is not None:
                estimate, status, certified = number
                found.append(
                    Number(
                        key=key_of(item.record, metric),
                        value=estimate,
                        record=item.record,
                        status=status,
                        certified=certified,
                    )
                )
    return tuple(_uncontradicted(sorted(found, key=lambda number: number.key.unpinned.text())))


def _uncontradicted(found: Sequence[Number]) -> Iterator[Number]:
    """Yield the numbers, unstable each that a newer whole one under the same key is clearly apart from."""
    for _, group in groupby(found, key=lambda number: number.key.unpinned):
        same = list(group)
        for place, number in enumerate(same):
            newer = [other for other in same[place + 1 :] if other.status in COUNTED]
            apart = number.status in SOUND and any(other.value.apart(number.value) for other in newer)
            yield replace(number, status="unstable") if apart else number


def resolve(text: str, records: Iterable[Record]) -> Number:
    """Return the number that a key means: the pinned one, or the newest citable one.

    Raises ValueError if it is no key, LookupError, naming the nearest there is, if nothing has it.
    """
    return resolved(text, numbers(records))


def resolved(text: str, there: Sequence[Number]) -> Number:
    """Return which of these numbers a key means; raises as `resolve` does."""
    key = parse(text)
    same = [number for number in there if number.key.unpinned == key.unpinned]
    if key.digest:
        same = [number for number in same if number.record.digest.startswith(key.digest)]
    else:
        citable = [number for number in same if number.citable]
        if same and not citable:
            raise LookupError(
                f"key '{text}' has only results that are not citable, the newest is {same[-1].status}; "
                f"{same[-1].key.text()} names it all the same"
            )
        same = citable
    if not same:
        texts = list(dict.fromkeys(number.key.unpinned.text() for number in there))
        near = difflib.get_close_matches(key.unpinned.text(), texts, 1)
        raise LookupError(f"nothing has key '{text}'" + (f"; the nearest is '{near[0]}'" if near else ""))
    return same[-1]


def newest(found: Sequence[Number]) -> list[Number]:
    """Return of each key the newest number that may be quoted, or the newest there is."""
    latest: dict[Key, Number] = {}
    for number in found:
        key = number.key.unpinned
        if key not in latest or number.citable or not latest[key].citable:
            latest[key] = number
    return list(latest.values())


def newest_citable(key: Key, there: Sequence[Number]) -> Number | None:
    """Return the newest number under a key that may be quoted; None if there is none."""
    return next((n for n in reversed(there) if n.citable and n.key.unpinned == key.unpinned), None)


def key_of(record: Record, metric: str) -> Key:
    """Return the key of what a record gives by a metric, pinned to it."""
    return Key(
        machine=record.machine.slug,
        case=record.case.text(record.description.batch),
        metric=metric,
        digest=record.digest[:_PINNED],
    )


Found = tuple[Estimate, Status, bool | None]


def _rate(item: Summary, quantity: float | None) -> Found | None:
    """Return so much a step as so much a second."""
    if item.seconds is None or item.examples_per_second is None or quantity is None:
        return None
    return item.seconds.per(quantity), item.status, None


def _seconds(item: Summary, _: SpeedUp | None) -> Found | None:
    return None if item.seconds is None else (item.seconds, item.status, None)


def _examples(item: Summary, _: SpeedUp | None) -> Found | None:
    return _rate(item, item.record.case.batch)


def _flop(item: Summary, _: SpeedUp | None) -> Found | None:
    if item.record.case.scope == "input":
        return None
    return _rate(item, item.record.case.batch * item.record.description.flop_per_example or None)


def _speedup(_: Summary, ratio: SpeedUp | None) -> Found | None:
    if ratio is None:
        return None
    return ratio.ratio, ratio.status, ratio.certificate


def _median_latency(item: Summary, _: SpeedUp | None) -> Found | None:
    return _latency(item, latency(item.record).median)


def _tail_latency(item: Summary, _: SpeedUp | None) -> Found | None:
    return _latency(item, latency(item.record).tail)


def _latency(item: Summary, value: Estimate | None) -> Found | None:
    if value is None:
        return None
    return value, worse(item.status, "unstable") if wide(item.record, value) else item.status, None


def _step_latency(item: Summary, _: SpeedUp | None) -> Found | None:
    mine = item.record.case.scope == "step" and any(run.alone for run in item.record.runs)
    alone = waited_for(item) if mine else None
    return (alone.seconds, alone.status, None) if alone and alone.seconds else None


METRICS: dict[str, Callable[[Summary, SpeedUp | None], Found | None]] = {
    "seconds": _seconds,  # a step, a cold start, a whole run
    "examples-per-second": _examples,
    "flop-per-second": _flop,  # analytic
    "speedup": _speedup,  # the CPU's time over the GPU's
    "latency": _step_latency,  # seconds of a step that is waited for
    "latency-p50": _median_latency,  # seconds of a request, in scope `serve`
    "latency-p99": _tail_latency,
}

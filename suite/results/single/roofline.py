"""How near a step comes to the limits of its machine, by ceilings measured on the same machine.

MFU, model FLOP utilisation: the step's analytic FLOP/s over the ceiling of matrix products at its precision. The floor
is the least time of a step: its FLOP at that ceiling, or its least bytes at the ceiling of memory, whichever takes
longer. These bytes are parameters, statistics and optimizer state, read and written (for inference: read), and one
batch. Activations are excluded, as they could stay in a cache.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from suite.results.records.record import Record
from suite.results.single.floor import trained
from suite.results.single.summary import Summary, summary

FAMILY = "ceiling"
MATMUL, COPY = "ceiling_matmul", "ceiling_copy"
_FLOAT32_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """The fastest result of a kind of work on one backend of one machine."""

    rate: float  # FLOP/s or bytes/s
    measured: Summary


@dataclass(frozen=True, kw_only=True)
class Share:
    """A step relative to its ceilings; None, with the reason, if one was not measured."""

    mfu: float | None
    floor_seconds: float | None
    of_floor: float | None  # the floor over the step's time
    intensity: float  # FLOP per byte moved
    reason: str = ""


Roof = dict[tuple[str, str, str, str], Ceiling]  # by machine, backend, kind of work and precision


def is_ceiling(record: Record) -> bool:
    """Return whether a record is of a ceiling, not of a network."""
    return record.description.family == FAMILY


def roof(records: Iterable[Record]) -> Roof:
    """Return the ceilings: the fastest of each machine's current complete and valid records.

    Records with caveats and smoke count too, since each shows what the machine can reach.
    """
    latest: dict[tuple[str, str], Summary] = {}
    for record in sorted(filter(is_ceiling, records), key=lambda r: r.sort_key):
        item = summary(record)
        entire = record.case.threads is None and record.case.devices == 1 and record.case.scope == "step"
        if entire and item.complete and rate(item) is not None:
            latest[record.machine_and_case] = item
    ceilings: Roof = {}
    for item in latest.values():
        record, value = item.record, rate(item)
        key = (record.machine.slug, record.backend, record.workload, record.case.precision)
        if value is not None and (key not in ceilings or value > ceilings[key].rate):
            ceilings[key] = Ceiling(rate=value, measured=item)
    return ceilings


def rate(item: Summary) -> float | None:
    """Return a ceiling's FLOP/s or bytes/s; None without a time."""
    if item.seconds is None:
        return None
    return item.flop_per_second or least_bytes(item.record) / item.seconds.value


def least_bytes(record: Record) -> int:
    """Return the least bytes that a step reads and writes; for an older record from its parameters alone."""
    measured = [run.bytes_per_step for run in record.runs if run.bytes_per_step]
    about = record.description
    moved = 2 * about.trainable_parameters if trained(about) else about.parameters
    return measured[0] if measured else _FLOAT32_BYTES * moved


def share(item: Summary, ceilings: Roof) -> Share:
    """Return a step's MFU and floor under the ceilings of its machine."""
    record = item.record
    case, moved = record.case, least_bytes(record)
    flop = case.batch * record.description.flop_per_example
    side = (record.machine.slug, record.backend)
    peak = ceilings.get((*side, MATMUL, case.precision))
    bandwidth = ceilings.get((*side, COPY, "float32-highest"))
    reason = _lacking(item, peak, bandwidth)
    mfu = floor = of_floor = None
    if item.seconds is not None and peak is not None and case.threads is None and case.devices == 1:
        mfu = flop / item.seconds.value / peak.rate if flop else None
        if bandwidth is not None:
            floor = max(flop / peak.rate, moved / bandwidth.rate)
            of_floor = floor / item.seconds.value
            reason = reason if flop else "no FLOP are counted where nothing is multiplied"
    return Share(mfu=mfu, floor_seconds=floor, of_floor=of_floor, intensity=flop / moved, reason=reason)


def _lacking(item: Summary, peak: Ceiling | None, bandwidth: Ceiling | None) -> str:
    case = item.record.case
    if item.seconds is None:
        return "no time was measured"
    if case.threads is not None or case.devices > 1:
        return "the ceilings are of all cores, or of one GPU"
    lacking = [what for what, there in ((f"{case.precision} products", peak), ("memory", bandwidth)) if there is None]
    return f"ceiling of {' and '.join(lacking)} not measured on this {case.backend.upper()}" if lacking else ""

"""Numbers of one campaign on one host, each under a key that is pinned to its record."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from suite.results.cite.number import Number, a_step, key_of
from suite.results.records.record import STABLE, Record
from suite.results.single.latency import blocking_step, latency
from suite.results.single.paired_speedup import SpeedUp, speedups
from suite.results.single.summary import Summary, disturbed, summary
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate


def numbers(records: Iterable[Record]) -> tuple[Number, ...]:
    """Return every number of each single record, sorted by key and then by age."""
    records = sorted(records, key=lambda record: record.created)
    campaigns: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        campaigns[record.campaign].append(record)
    ratios = {item.gpu.record.digest: item for group in campaigns.values() for item in speedups(group)}
    unsorted = [number for record in records for number in _of(summary(record), ratios.get(record.digest))]
    return tuple(sorted(unsorted, key=lambda number: number.key.unpinned.text()))


def of_record(record: Record, metric: str, beside: Iterable[Record]) -> Number | None:
    """Return a record's number, None if it has none for the metric; `beside` holds the records of its campaign."""
    same = (record.campaign, record.workload)
    both = {other.digest: other for other in beside if (other.campaign, other.workload) == same} | {
        record.digest: record
    }
    return next((n for n in numbers(both.values()) if (n.digest, n.key.metric) == (record.digest, metric)), None)


def _of(item: Summary, ratio: SpeedUp | None) -> Iterator[Number]:
    record = item.record
    for metric, give in _METRICS.items():
        value = give(item, ratio)
        if value is not None:
            reasons = tuple(dict.fromkeys(_caveats(item, value, ratio if metric == "speedup" else None)))
            yield Number(
                key=key_of(record, metric),
                value=Pooled(value=value.value, low=value.low, high=value.high, hosts=1, processes=value.processes),
                state="invalid" if (ratio if metric == "speedup" and ratio else item).state == "invalid" else "open",
                reasons=reasons,
                record=record,
                members=(record,),
                digest=record.digest,
                pooled=False,
            )


def _caveats(item: Summary, value: Estimate, ratio: SpeedUp | None) -> Iterator[str]:
    """Yield why a number may not be quoted even as one host's."""
    if item.record.schema not in STABLE:
        yield f"{item.record.schema} was provisional"
    sides = (ratio.cpu, ratio.gpu) if ratio else (item,)
    if (ratio or item).state == "invalid" or not all(side.usable for side in sides):
        yield from (ratio or item).reasons
    yield from disturbed(item.record)
    if value.low is None:
        yield "one process, no interval"
    if ratio is not None and ratio.certificate is False:
        yield "not certified"


def _latency(item: Summary) -> Estimate | None:
    """Return the time of a blocking step or request; None if it was not timed."""
    timed = item.record.case.scope in ("step", "serve") and any(run.blocking_samples for run in item.record.runs)
    blocking = blocking_step(item) if timed else None
    return blocking.seconds if blocking else None


def _rate(metric: str) -> Callable[[Summary, SpeedUp | None], Estimate | None]:
    def rate(item: Summary, _: SpeedUp | None) -> Estimate | None:
        quantity = a_step(item.record, metric)
        return None if item.seconds is None or quantity is None else item.seconds.per(quantity)

    return rate


_METRICS: dict[str, Callable[[Summary, SpeedUp | None], Estimate | None]] = {
    "seconds": lambda item, _: item.seconds,
    "examples-per-second": _rate("examples-per-second"),
    "flop-per-second": _rate("flop-per-second"),
    "speedup": lambda _, ratio: ratio.ratio if ratio else None,
    "latency": lambda item, _: _latency(item),
    "latency-p50": lambda item, _: latency(item.record).median,
    "latency-p99": lambda item, _: latency(item.record).tail,
}

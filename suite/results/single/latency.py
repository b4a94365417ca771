"""Latency of requests in quantiles, and of a single request or step that is waited for; one value per process."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from suite.results.records.record import Record
from suite.results.single.summary import Summary, seconds_by_round, summary
from suite.results.stats.state import too_wide
from suite.results.stats.statistics import Estimate, geometric_mean

MEDIAN, TAIL = 0.5, 0.99


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Results of a record of scope `serve`; estimates are None if no process succeeded."""

    summary: Summary
    median: Estimate | None  # seconds that half of the requests did not exceed
    tail: Estimate | None  # seconds that 99 of 100 did not exceed
    rate: Estimate | None  # requests a second
    blocking: Summary | None  # of requests that are each waited for; None if they were not timed
    requests: int  # of all processes


def latency(record: Record) -> Latency:
    """Return the results of a record of scope `serve`."""
    item = summary(record)
    return Latency(
        summary=item,
        median=_estimate(record, MEDIAN),
        tail=_estimate(record, TAIL),
        rate=item.seconds.per(record.case.batch) if item.seconds else None,
        blocking=blocking_request(item),
        requests=sum(len(seconds) for seconds in _by_round(record).values()),
    )


def blocking_step(item: Summary) -> Summary | None:
    """Return the summary of blocking steps; None if a successful process timed none.

    If a sample is one step, it is that sample. The step's caveats apply.
    """
    runs = []
    for run in item.record.runs:
        samples = run.blocking_samples or (run.samples if run.steps_per_sample == 1 else ())
        if not run.reason and not samples:
            return None
        runs.append(replace(run, samples=samples, steps_per_sample=1))
    record = replace(item.record, runs=tuple(runs))
    values = list(seconds_by_round(record).values())
    if not values:
        return None
    seconds = geometric_mean(values)
    reasons = tuple(dict.fromkeys(filter(None, (*item.reasons, too_wide(seconds)))))
    return dataclasses.replace(item, record=record, seconds=seconds, reasons=reasons)


def blocking_request(item: Summary) -> Summary | None:
    """Return the summary of requests that are each waited for; None if a successful process timed none."""
    return blocking_step(item) if item.record.case.scope == "serve" else None


def quantiles(record: Record, share: float) -> dict[int, float]:
    """Return by round the latency in seconds that this share of the requests did not exceed."""
    return {number: quantile(seconds, share) for number, seconds in _by_round(record).items()}


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed.

    Raises ValueError without values.
    """
    if not values:
        raise ValueError("a quantile needs values, got none")
    return sorted(values)[max(0, math.ceil(share * len(values) - 1e-9) - 1)]


def _by_round(record: Record) -> dict[int, tuple[float, ...]]:
    return {
        run.round: run.served.latency_seconds
        for run in record.runs
        if not run.reason and run.served is not None and run.served.latency_seconds
    }


def _estimate(record: Record, share: float) -> Estimate | None:
    values = quantiles(record, share)
    return geometric_mean(list(values.values())) if values else None

"""What experiments on the input pipeline share: steps from storage as cases, and their rates."""

from suite.analysis.steps import percent_words
from suite.results.pooled.machine_evidence import share
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.single.input_pipeline import input_pipeline
from suite.results.single.summary import Summary, time_ratio
from suite.results.single.telemetry_summary import gpu_share
from suite.results.stats.statistics import Estimate
from suite.workload import Claim, Description


def from_storage(record: Record, *free: str) -> bool:
    """Return whether a record is of a step from storage in the headline setting, whatever the free axes are."""
    return record.case.scope == "epoch" and record.usual(*free)


def gain(item: Summary, base: Summary) -> Estimate | None:
    """Return an example rate over another; None if their times have no ratio."""
    found = time_ratio(base, item)
    return found and found.times(item.record.case.batch / base.record.case.batch)


def gpu_busy(pool: Pool) -> Estimate | None:
    """Return the share of time in which a pool's GPU is busy, at most 1; None if unknown."""
    busy = share(pool, gpu_share)
    return busy and busy.mapped(lambda end: min(end, 1.0))


def step_share(pool: Pool) -> Estimate | None:
    """Return the share of a pool's time from storage that the step alone takes; None if unknown."""

    def of(record: Record) -> float | None:
        found = input_pipeline(record).share
        return found and found.value

    return share(pool, of)


def change(value: Estimate) -> str:
    """Return the change of a rate in percent, with its interval, as text."""
    return percent_words(value.mapped(lambda share: share - 1))


def claimed(about: Description, metric: str) -> Claim | None:
    """Return a workload's claim of that metric; None if it has none."""
    return next((claim for claim in about.claims if claim.metric == metric), None)

"""The headline step of a workload in every campaign on a machine, to see whether it repeats."""

from collections.abc import Iterable
from dataclasses import dataclass

from suite.results.records.record import Record
from suite.results.single.summary import Summary, fastest, summary, time_ratio
from suite.results.stats.statistics import Estimate


@dataclass(frozen=True, kw_only=True)
class Once:
    """One campaign's times, on the CPU with the faster allocator; None for a side that it did not time."""

    created: str  # start of the campaign, UTC
    experiment: str  # '' if none
    cpu: Summary | None
    gpu: Summary | None

    @property
    def ratio(self) -> Estimate | None:
        """CPU time over GPU time, paired by round; None if a side is missing or invalid."""
        return time_ratio(self.cpu, self.gpu) if self.cpu and self.gpu else None


def history(records: Iterable[Record]) -> tuple[Once, ...]:
    """Return the times of each campaign of one workload on one machine, the newest first, without smoke."""
    campaigns: dict[str, list[Record]] = {}
    for record in records:
        if record.headline_step() and record.profile != "smoke":
            campaigns.setdefault(record.campaign, []).append(record)
    timed = []
    for items in campaigns.values():
        cpu, gpu = (fastest(summary(r) for r in items if r.backend == side) for side in ("cpu", "gpu"))
        if cpu or gpu:
            timed.append(Once(created=items[0].created, experiment=items[0].experiment, cpu=cpu, gpu=gpu))
    return tuple(sorted(timed, key=lambda once: once.created, reverse=True))

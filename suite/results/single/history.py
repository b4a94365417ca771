"""The headline step of a workload in every campaign that timed it on a machine: does it come out the same again?"""

from collections.abc import Iterable
from dataclasses import dataclass

from suite.results.records.record import Record
from suite.results.single.summary import Summary, fastest, summary, time_ratio
from suite.results.stats.statistics import Estimate


@dataclass(frozen=True, kw_only=True)
class Once:
    """One campaign's times, on the CPU those of the better allocator; a side that it did not time is None."""

    created: str  # when the campaign began, UTC
    experiment: str  # that it was of; '' if none
    cpu: Summary | None
    gpu: Summary | None

    @property
    def ratio(self) -> Estimate | None:
        """The CPU's time over the GPU's, paired by round; None if one side is missing or makes no sense."""
        return time_ratio(self.cpu, self.gpu) if self.cpu and self.gpu else None


def history(records: Iterable[Record]) -> tuple[Once, ...]:
    """Return what each campaign found of one workload on one machine, the newest first; smoke is none."""
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

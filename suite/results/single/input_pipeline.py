"""Steps with batches from storage: throughput, and whether the input or the device limits it."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from suite.results.records.record import Record
from suite.results.single.summary import Summary, summary
from suite.results.single.telemetry_summary import gpu_share
from suite.results.stats.statistics import Estimate, geometric_mean

Bound = Literal["input", "device", "both"]

_DEVICE_FROM, _INPUT_BELOW = 0.9, 0.7  # share of the time that the step alone takes


@dataclass(frozen=True, kw_only=True)
class InputPipeline:
    """Results of a record of scope `epoch` beside its time."""

    summary: Summary
    rate: Estimate | None  # examples per second, from storage
    device_rate: Estimate | None  # the same with batches on the device
    share: Estimate | None  # of the time that the step alone takes; the device idles the rest
    first_batch_seconds: float | None  # median over processes
    gpu_utilisation: float | None  # median over processes of the mean

    @property
    def bound(self) -> Bound | None:
        """The limit of the throughput; None if the step alone was not timed."""
        return self.share and bound_by(self.share)


def bound_by(share: Estimate) -> Bound:
    """Return the limit of the throughput, from the share of the time that the step alone takes."""
    if share.value >= _DEVICE_FROM:
        return "device"
    return "input" if share.value < _INPUT_BELOW else "both"


def input_pipeline(record: Record) -> InputPipeline:
    """Return the results of a record of scope `epoch` or `input`."""
    item = summary(record)
    good = [run for run in record.runs if not run.reason and run.samples and run.steps_per_sample]
    steps = [median(s.wall_seconds for s in run.samples) / run.steps_per_sample for run in good]
    alone = [run.step_alone_seconds for run in good if run.step_alone_seconds]
    complete = len(alone) == len(steps) and bool(steps)
    firsts = [run.first_batch_seconds for run in good if run.first_batch_seconds is not None]
    return InputPipeline(
        summary=item,
        rate=item.seconds.per(record.case.batch) if item.seconds else None,
        device_rate=geometric_mean(alone).per(record.case.batch) if complete else None,
        share=geometric_mean([one / step for one, step in zip(alone, steps, strict=True)]) if complete else None,
        first_batch_seconds=median(firsts) if firsts else None,
        gpu_utilisation=gpu_share(record),
    )


def input_pipelines(records: Sequence[Record], scope: str = "epoch") -> tuple[InputPipeline, ...]:
    """Return the results of the current record of each case and machine in a scope, by machine, workload and case."""
    latest = {r.machine_and_case: r for r in sorted(records, key=lambda r: r.current_key) if r.case.scope == scope}
    return tuple(input_pipeline(latest[key]) for key in sorted(latest))

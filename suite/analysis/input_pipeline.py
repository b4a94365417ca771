"""What experiments over the input pipeline have in common: steps from storage on as cases, and their rates."""

from typing import Any

import msgspec

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import percent_words, step
from suite.case import Backend, Case
from suite.results.pooled.machine_evidence import share
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.single.input_pipeline import input_pipeline
from suite.results.single.summary import Summary, time_ratio
from suite.results.single.telemetry_summary import gpu_share
from suite.results.stats.statistics import Estimate
from suite.results.views.table import Cell
from suite.workload import Claim, Description


def epoch(about: Description, backend: Backend, here: MachineCapabilities, **changes: Any) -> Case:
    """Return JAX's steps of a workload from storage on, in the headline setting but for these axes."""
    return msgspec.structs.replace(step(about, backend, here), scope="epoch", **changes)


def from_storage(record: Record, *free: str) -> bool:
    """Return whether a record is of such steps in the headline setting, whatever the free axes are."""
    return record.case.scope == "epoch" and record.usual(*free)


def gain(item: Summary, base: Summary) -> Estimate | None:
    """Return by how many times an example rate is another's; None where their times have no ratio."""
    found = time_ratio(base, item)
    return found and found.times(item.record.case.batch / base.record.case.batch)


def gpu_busy(pool: Pool) -> Estimate | None:
    """Return the share of the time in which the GPU of a pool is busy, at most 1; None where nobody watched."""
    busy = share(pool, gpu_share)
    return busy and busy.mapped(lambda end: min(end, 1.0))


def step_share(pool: Pool) -> Estimate | None:
    """Return the share of the time from storage on that the step alone accounts for."""

    def of(record: Record) -> float | None:
        found = input_pipeline(record).share
        return found and found.value

    return share(pool, of)


def change(value: Estimate) -> str:
    """Return by how much one rate differs from another in percent, with its interval, as a sentence needs it."""
    return percent_words(value.mapped(lambda share: share - 1))


def share_cell(value: float | Estimate | None, why: str = "") -> Cell:
    """Return a share as a percentage; a dash and why where there is none."""
    if value is None:
        return Cell(text=units.DASH, remark=why)
    number = value.value if isinstance(value, Estimate) else value
    return Cell(text=units.percent(number), sort=number)


def claimed(about: Description, metric: str) -> Claim | None:
    """Return what is documented of a workload under that name."""
    return next((claim for claim in about.claims if claim.metric == metric), None)

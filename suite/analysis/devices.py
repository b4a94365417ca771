"""Steps on several GPUs: a workload's pools by devices and batch, and the ratios between them."""

from dataclasses import dataclass

from suite.results.pooled.machine_evidence import Evidence, over, rate_over
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate

COUNTS = (1, 2, 4, 8)  # of GPUs
# Relative difference of first losses. Kernels for another batch size round differently, which a deep network amplifies;
# a wrong mask, another batch or statistics of part of the batch move the loss by far more.
AGREEING = 1e-3

Cells = dict[tuple[int, int], Pool]  # by devices and batch


@dataclass(frozen=True, kw_only=True)
class Side:
    """A step on several GPUs against that on one."""

    devices: int
    batch: int
    item: Pool | None
    base: Pool | None
    speed: Pooled | None = None  # work per time, relative to one GPU
    adding: Pooled | None = None  # the step's time over that of one GPU with the same share of the batch
    away: float | None = None  # relative difference of the first losses to one GPU's with the same batch
    why: str = ""  # why there is no speed

    @property
    def efficiency(self) -> Estimate | None:
        """The speed relative to ideal scaling, 1 at best; None without a speed."""
        return self.speed and self.speed.estimate.times(1 / self.devices)


def cells_by_workload(evidence: Evidence) -> dict[str, Cells]:
    """Return the pools of each workload that was timed on several GPUs, by name."""
    return {
        group[0].case.workload: {(pool.case.devices, pool.case.batch): pool for pool in group}
        for group in evidence.sides(asked)
        if any(pool.case.devices > 1 for pool in group)
    }


def asked(record: Record) -> bool:
    """Return whether a record is of a step on one or several GPUs."""
    return record.backend == "gpu" and record.headline_step("batch", "devices")


def headline(cells: Cells) -> int:
    """Return the headline batch of the workload."""
    return next(iter(cells.values())).newest.description.batch


def counts(cells: Cells) -> tuple[int, ...]:
    """Return the device counts above one that the machine has."""
    there = max(max(len(pool.newest.machine.gpus), devices) for (devices, _), pool in cells.items())
    return tuple(count for count in COUNTS if 1 < count <= there)


def strong(cells: Cells) -> tuple[Side, ...]:
    """Return strong scaling: the headline batch on one GPU, and split over each number of them."""
    batch = headline(cells)
    return tuple(side(cells, devices, batch, batch) for devices in (1, *counts(cells)))


def weak(cells: Cells) -> tuple[Side, ...]:
    """Return weak scaling: the headline batch on one GPU, and one such batch per GPU."""
    batch = headline(cells)
    return tuple(side(cells, devices, devices * batch, batch) for devices in (1, *counts(cells)))


def second(cells: Cells) -> tuple[Side, ...]:
    """Return two GPUs against one at each batch measured on both."""
    sizes = sorted(batch for devices, batch in cells if devices == 2 and (1, batch) in cells)
    return tuple(side(cells, 2, batch, batch) for batch in sizes)


def side(cells: Cells, devices: int, batch: int, base_batch: int) -> Side:
    """Return a step on several devices against one GPU with the base batch."""
    item, base, same = (cells.get(key) for key in ((devices, batch), (1, base_batch), (1, batch)))
    away = losses_apart(item, same) if devices > 1 and item is not None and same is not None else None
    why = speed_caveat(devices, batch, item, base, away)
    if devices == 1 or why or item is None or base is None:
        return Side(devices=devices, batch=batch, item=item, base=base, away=away, why=why)
    part = cells.get((1, batch // devices))
    return Side(
        devices=devices,
        batch=batch,
        item=item,
        base=base,
        speed=rate_over(item, base),
        adding=over(item, part) if part is not None else None,
        away=away,
    )


def speed_caveat(devices: int, batch: int, item: Pool | None, base: Pool | None, away: float | None) -> str:
    """Return why a step on several GPUs has no speed; '' if it has one."""
    if batch % devices:
        return f"a batch of {batch} does not divide over {devices} devices"
    if item is None:
        return "not measured"
    if base is None:
        return "one GPU was not measured beside it"
    if away is not None and away > AGREEING:
        return f"not the same training: its first loss is {away:.1e} from that of one GPU, allowed are {AGREEING:g}"
    return ""


def losses_apart(one: Pool, other: Pool) -> float | None:
    """Return the largest relative difference of first losses, over rounds of one campaign with equal inputs.

    None if there are no such rounds.
    """
    one_runs, other_runs = (
        {
            (record.campaign, run.round, run.seed, run.input_digest): run
            for record in pool.records
            for run in record.runs
        }
        for pool in (one, other)
    )
    pairs = [(one_runs[key].first_loss, other_runs[key].first_loss) for key in one_runs.keys() & other_runs.keys()]
    away = [abs(one - two) / abs(two) for one, two in pairs if one is not None and two]
    return max(away, default=None)

"""What several GPUs make of a step: one workload's pools by devices and batch, and the ratios between them."""

from dataclasses import dataclass

from suite.results.pooled.machine_evidence import Evidence, over, rate_over
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate

COUNTS = (1, 2, 4, 8)  # of GPUs
# Relative, of first losses. Kernels for another size of the batch round otherwise, which a deep network multiplies; a
# wrong mask, another batch or statistics of a part of the batch alone move the loss by far more.
AGREEING = 1e-3

Cells = dict[tuple[int, int], Pool]  # by devices and batch


@dataclass(frozen=True, kw_only=True)
class Side:
    """A step on several GPUs beside that on one."""

    devices: int
    batch: int
    item: Pool | None
    base: Pool | None
    speed: Pooled | None = None  # work in the same time, one GPU's being 1
    adding: Pooled | None = None  # the step's time over that of one GPU with its part of the batch
    away: float | None = None  # of the first losses, relative, from one GPU's with the same batch
    why: str = ""  # there is no speed

    @property
    def efficiency(self) -> Estimate | None:
        """The speed as a share of as many times one GPU's as there are devices."""
        return self.speed and self.speed.estimate.times(1 / self.devices)


def found(evidence: Evidence) -> dict[str, Cells]:
    """Return what was timed of each workload that several GPUs took steps of, by name."""
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
    """Return the numbers of devices, above one, that the machine could be asked for."""
    there = max(max(len(pool.newest.machine.gpus), devices) for (devices, _), pool in cells.items())
    return tuple(count for count in COUNTS if 1 < count <= there)


def strong(cells: Cells) -> tuple[Side, ...]:
    """Return the headline batch on one GPU, and split over each number of them."""
    batch = headline(cells)
    return tuple(side(cells, devices, batch, batch) for devices in (1, *counts(cells)))


def weak(cells: Cells) -> tuple[Side, ...]:
    """Return the headline batch on one GPU, and on each number of them a batch as many times as large."""
    batch = headline(cells)
    return tuple(side(cells, devices, devices * batch, batch) for devices in (1, *counts(cells)))


def second(cells: Cells) -> tuple[Side, ...]:
    """Return two GPUs beside one at each batch that both were asked for."""
    sizes = sorted(batch for devices, batch in cells if devices == 2 and (1, batch) in cells)
    return tuple(side(cells, 2, batch, batch) for batch in sizes)


def side(cells: Cells, devices: int, batch: int, base_batch: int) -> Side:
    """Return a step on so many devices, set against one GPU with the batch of the base."""
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
    """Return why a step on several GPUs has no speed, before it is compared; '' where nothing is against it."""
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
    """Return the largest relative difference of first losses in rounds of one campaign with the same inputs.

    None if there is none.
    """
    mine, theirs = (
        {
            (record.campaign, run.round, run.seed, run.input_digest): run
            for record in pool.records
            for run in record.runs
        }
        for pool in (one, other)
    )
    pairs = [(mine[key].first_loss, theirs[key].first_loss) for key in mine.keys() & theirs.keys()]
    away = [abs(one - two) / abs(two) for one, two in pairs if one is not None and two]
    return max(away, default=None)

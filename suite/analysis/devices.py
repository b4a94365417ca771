"""What several GPUs make of a step: one workload's results by devices and batch, and the ratios between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from suite.analysis.steps import together
from suite.results.records.record import Record
from suite.results.single.summary import Summary, time_ratio
from suite.results.stats.statistics import Estimate

COUNTS = (1, 2, 4, 8)  # of GPUs
# Relative, of first losses. Kernels for another size of the batch round otherwise, which a deep network multiplies; a
# wrong mask, another batch or statistics of a part of the batch alone move the loss by far more.
AGREEING = 1e-3

Cells = dict[tuple[int, int], Summary]  # by devices and batch


@dataclass(frozen=True, kw_only=True)
class Side:
    """A step on several GPUs beside that on one."""

    devices: int
    batch: int
    item: Summary | None
    base: Summary | None
    speed: Estimate | None = None  # work in the same time, one GPU's being 1
    adding: Estimate | None = None  # the step's time over that of one GPU with its part of the batch
    away: float | None = None  # of the first losses, relative, from one GPU's with the same batch
    why: str = ""  # there is no speed

    @property
    def efficiency(self) -> Estimate | None:
        """The speed as a share of as many times one GPU's as there are devices."""
        return self.speed.times(1 / self.devices) if self.speed else None

    @property
    def results(self) -> tuple[Summary, ...]:
        """Both results, those that there are."""
        return tuple(item for item in (self.item, self.base) if item is not None)

    @property
    def usable(self) -> bool:
        """Whether an answer may count with its speed."""
        return self.speed is not None and all(item is not None and item.complete for item in (self.item, self.base))


def found(records: Sequence[Record]) -> dict[str, Cells]:
    """Return what was timed of each workload in its newest campaign of this experiment, by name."""
    return {
        group[0].record.workload: {(i.record.case.devices, i.record.case.batch): i for i in group}
        for group in together(records, _fits)
        if any(item.record.case.devices > 1 for item in group)
    }


def _fits(record: Record) -> bool:
    # Another experiment's newer campaign has batches too, but one GPU alone.
    return record.experiment == "scaling" and record.backend == "gpu" and record.headline_step("batch", "devices")


def headline(cells: Cells) -> int:
    """Return the headline batch of the workload."""
    return next(iter(cells.values())).record.description.batch


def counts(cells: Cells) -> tuple[int, ...]:
    """Return the numbers of devices, above one, that the machine could be asked for."""
    there = max(max(len(item.record.machine.gpus), devices) for (devices, _), item in cells.items())
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
    between, part = time_ratio(base, item), cells.get((1, batch // devices))
    return Side(
        devices=devices,
        batch=batch,
        item=item,
        base=base,
        speed=between.times(batch / base_batch) if between else None,
        adding=time_ratio(item, part) if part is not None and part.complete else None,
        away=away,
        why="" if between else "; ".join((*item.reasons, *base.reasons)) or "no round in common with one GPU",
    )


def speed_caveat(devices: int, batch: int, item: Summary | None, base: Summary | None, away: float | None) -> str:
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


def losses_apart(one: Summary, other: Summary) -> float | None:
    """Return the largest relative difference of first losses of rounds with the same inputs; None if there is none."""
    theirs = {run.round: run for run in other.record.runs}
    pairs = [
        (run.first_loss, twin.first_loss)
        for run in one.record.runs
        if (twin := theirs.get(run.round)) and (run.seed, run.input_digest) == (twin.seed, twin.input_digest)
    ]
    away = [abs(mine - its) / abs(its) for mine, its in pairs if mine is not None and its]
    return max(away, default=None)

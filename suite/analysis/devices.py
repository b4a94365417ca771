"""Steps on several GPUs: a workload's pools by devices and batch, the ratios between them, and sentences on them."""

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.analysis.steps import from_size, said_of_pooled, share, share_words, words
from suite.results.pooled.machine_evidence import Evidence, over, rate_over
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.stats.fit import crossing
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


def said(cells: Cells, shared: Sequence[Side], own: Sequence[Side], pairs: Sequence[Side]) -> str:
    """Return a workload's gains: its batch split over GPUs, a batch for each GPU, and a second GPU by batch."""
    largest = [_largest(sides) for sides in (shared, own)]
    first, *others = split(cells, largest[0]), each(largest[1]), pays(pairs, largest[0])
    text = " ".join((first, *(f"{one[0].upper()}{one[1:]}" for one in others)))
    speeds = {(one.devices, one.batch, one.base.case.batch): one.speed for one in (*largest, *pairs) if one.base}
    return text + said_of_pooled(speed for speed in speeds.values() if speed is not None)


def pays(pairs: Sequence[Side], shown: Side) -> str:
    """Return a clause on the batch from which a second GPU pays; `shown` is a speed that was already mentioned."""
    points = [(one.batch, one.speed.estimate) for one in pairs if one.speed is not None]
    if len(points) < 2:
        return "from which batch on a second GPU pays is not known, as fewer than two batches were measured."
    (smallest, first), (largest, last) = points[0], points[-1]
    span = f"of the batches from {units.count(smallest)} to {units.count(largest)}"
    at = crossing(points)
    if at.outcome in ("always", "never"):
        which, batch, speed = ("all", smallest, first) if at.outcome == "always" else ("none", largest, last)
        known = shown.speed is not None and (shown.devices, shown.batch) == (2, batch)
        example = "" if known else f": at {units.count(batch)} two are {words(speed)} as fast as one"
        return f"a second GPU pays at {which} {span}{example}."
    if at.outcome == "not separated":
        return f"from where on a second GPU pays is not separated from the noise, {span}."
    return f"a second GPU pays from a batch {from_size(at)}."


def split(cells: Cells, side: Side) -> str:
    """Return a clause on the gain from splitting the headline batch, and the share of its collectives."""
    batch, many = units.count(headline(cells)), units.count(side.devices)
    if side.speed is None:
        return f"what a batch of {batch} gains from {many} GPUs is not known: {side.why}."
    gain = f"a batch of {batch} split over {many} GPUs is {words(side.speed.estimate)} as fast as on one"
    return f"{gain}, {_efficiency(side)} of ideal{_added(side)}."


def each(side: Side) -> str:
    """Return a clause on the work of several GPUs with a headline batch each."""
    many = units.count(side.devices)
    if side.speed is None:
        return f"what {many} GPUs do with {many} times the batch is not known: {side.why}."
    work = f"with {many} times the batch {many} GPUs do {words(side.speed.estimate)} the work of one"
    return f"{work}, {_efficiency(side)} of ideal."


def _largest(sides: Sequence[Side]) -> Side:
    """Return the side with the most GPUs that has a speed, else with the most GPUs."""
    return next((side for side in reversed(sides) if side.speed is not None), sides[-1])


def _added(side: Side) -> str:
    """Return a clause on the share of the step that collectives take; '' if unknown."""
    if side.adding is None:
        return ""
    value, low, high = share(side.adding.estimate)
    if (value if high is None else high) <= 0:
        return "; its collectives cost nothing"
    if low is not None and low <= 0:
        return "; whether its collectives cost anything is not separated from the noise"
    return f"; its collectives take at most {share_words(side.adding.estimate)} of the step"


def _efficiency(side: Side) -> str:
    return units.percent(side.efficiency.value if side.efficiency else None)

"""What answers about serving have in common: a network's newest campaign, way by way, and clusters derived of it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from suite.results.record import Record
from suite.results.selection import campaign_recency
from suite.results.speedup import SpeedUp, speedups
from suite.results.statistics import Estimate
from suite.results.summary import Summary, better, summary
from suite.workload import Scope

EXPERIMENT = "serving"
BATCHES = (1, 8, 32, 128)

Way = tuple[Scope, int]  # what is timed, and how many pictures a step or a request has

REQUESTS: Way = ("serve", 1)


def plain_requests(record: Record) -> bool:
    """Return whether a record is of requests that JAX answers in the headline setting."""
    return record.usual("batch") and (record.case.scope, record.case.batch) == REQUESTS


def campaigns(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return each network's records of its current campaign of this experiment, by name."""
    found: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        fits = plain_requests(record) or record.headline_step("batch")
        if fits and record.experiment == EXPERIMENT and not record.description.trained:
            found[record.workload][record.campaign].append(record)
    ordered = sorted(found, key=lambda name: _flop(found[name]))
    return {name: max(found[name].values(), key=campaign_recency) for name in ordered}


def _flop(groups: dict[str, list[Record]]) -> int:
    return next(iter(groups.values()))[0].description.flop_per_example


def ways(group: Sequence[Record]) -> tuple[Way, ...]:
    """Return the ways that were measured, requests first, then steps by their batch."""
    there: set[Way] = {(record.case.scope, record.case.batch) for record in group}
    return tuple(sorted(there, key=lambda way: (way != REQUESTS, way[1])))


def side(group: Sequence[Record], way: Way, backend: str) -> Summary | None:
    """Return a backend's result of a way, with the allocator that serves it better; None if it was not measured."""
    items = [summary(r) for r in group if (r.case.scope, r.case.batch) == way and r.backend == backend]
    return better(items) or next(iter(items), None)


def gains(group: Sequence[Record]) -> dict[Way, SpeedUp]:
    """Return the GPU's speed-up in each way that both sides have, in their order."""
    found = {(item.gpu.record.case.scope, item.gpu.record.case.batch): item for item in speedups(group)}
    return {way: found[way] for way in ways(group) if way in found}


def cluster(gain: Estimate, gpus: int, machines: int) -> Estimate:
    """Return what so many GPUs do over what the CPUs of so many machines do, if both scale perfectly: derived."""
    return gain.times(gpus / machines)

"""Found again: whether a second campaign, an hour apart on a machine of the same description, confirms a ratio."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from suite.results.record import Machine, Record
from suite.results.statistics import Estimate

APART = timedelta(hours=1)  # from the end of one campaign to the start of the other


def found_again(record: Record, ratio: Estimate, others: Iterable[tuple[Record, Estimate]]) -> bool:
    """Return whether one of the others' ratios, of campaigns long enough before or after, lies within the interval.

    Each ratio comes with a record of its campaign. Of two equally good campaigns, one's ratio lies within the other's
    95 % interval in about 83 of 100 cases: both are uncertain.
    """
    low, high = ratio.low, ratio.high
    if low is None or high is None:
        return False
    return any(low <= other.value <= high and repeats(record, again) for again, other in others)


def repeats(record: Record, other: Record) -> bool:
    """Return whether two records are of campaigns an hour or more apart, on machines of the same description."""
    if record.campaign == other.campaign or description(record.machine) != description(other.machine):
        return False
    first, second = sorted((_times(record), _times(other)))
    return second[0] - first[1] >= APART


def description(machine: Machine) -> tuple:
    """Return what two machines must share to be alike: name, processors and GPUs, whatever their software."""
    gpus = tuple((g.name, g.memory_bytes, g.compute_capability, g.power_limit_watts) for g in machine.gpus)
    return machine.name, machine.cpu_model, machine.cores, machine.cpu_quota_cores, machine.virtual, gpus


def _times(record: Record) -> tuple[datetime, datetime]:
    """Return when a record's first and last process started; it has at least one."""
    started = [datetime.fromisoformat(run.started) for run in record.runs]
    return min(started), max(started)

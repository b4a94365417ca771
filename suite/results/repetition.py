"""Found again: whether another campaign, an hour apart on a machine of the same description, confirms a ratio."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from suite.results.record import Machine, Record
from suite.results.statistics import Estimate

APART = timedelta(hours=1)  # between the last process that one campaign started and the first of the other


def found_again(record: Record, ratio: Estimate, others: Iterable[tuple[Record, Estimate]]) -> bool:
    """Return whether the other campaign that is nearest in time, but long enough before or after, confirms a ratio.

    Each of the others' ratios comes with a record of its campaign; the nearest one's must lie within the interval. Of
    two equally good campaigns, one's ratio lies within the other's 95 % interval in about 83 of 100 cases: both are
    uncertain.
    """
    low, high = ratio.low, ratio.high
    if low is None or high is None:
        return False
    again = [(between(record, other), found) for other, found in others if repeats(record, other)]
    nearest = min((gap for gap, _ in again), default=None)
    decide = [low <= found.value <= high for gap, found in again if gap == nearest]
    return bool(decide) and all(decide)


def repeats(record: Record, other: Record) -> bool:
    """Return whether two records are of campaigns an hour or more apart, on machines of the same description."""
    if record.campaign == other.campaign or description(record.machine) != description(other.machine):
        return False
    return between(record, other) >= APART


def between(record: Record, other: Record) -> timedelta:
    """Return the time between the starts of one record's last process and of the other's first."""
    first, second = sorted((_times(record), _times(other)))
    return second[0] - first[1]


def description(machine: Machine) -> tuple:
    """Return what two machines must share to be alike: name, processors, memory and GPUs, whatever their software.

    Memory counts in steps of half a power of two: a host's own part of it is not always the same.
    """
    memory = round(2 * math.log2(machine.memory_bytes)) if machine.memory_bytes else None
    gpus = tuple((g.name, g.memory_bytes, g.compute_capability, g.power_limit_watts) for g in machine.gpus)
    return machine.name, machine.cpu_model, machine.cores, memory, machine.cpu_quota_cores, machine.virtual, gpus


def _times(record: Record) -> tuple[datetime, datetime]:
    """Return when a record's first and last process started; it has at least one."""
    started = [datetime.fromisoformat(run.started) for run in record.runs]
    return min(started), max(started)

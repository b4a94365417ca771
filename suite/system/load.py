"""How busy the machine is with other work: CPU time by all processes against CPU time of this one."""

import time
from contextlib import suppress
from dataclasses import dataclass

import psutil

from suite.system.counters import cpu_time, granted


@dataclass(frozen=True)
class CpuLoad:
    """Counters at one moment, in seconds since some start."""

    at: float
    all_cores: float  # CPU time of every process on every granted core
    own: float  # of it, by this process and those that it started


def cpu_load() -> CpuLoad:
    """Return the counters now."""
    return CpuLoad(at=time.monotonic(), all_cores=cpu_time().busy, own=time.process_time() + children_seconds())


def children_seconds() -> float:
    """Return the CPU time of the processes that this one has started and that are still there."""
    seconds = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            used = child.cpu_times()
            seconds += used.user + used.system
    return seconds


def by_others(before: CpuLoad, after: CpuLoad) -> float:
    """Return how many cores other processes kept busy between two readings, never below 0."""
    elapsed = after.at - before.at
    if elapsed <= 0:
        return 0.0
    return max(0.0, ((after.all_cores - before.all_cores) - (after.own - before.own)) / elapsed)


def others_now(seconds: float) -> float:
    """Return how many cores other processes keep busy, watched for that long."""
    before = cpu_load()
    time.sleep(seconds)
    return by_others(before, cpu_load())


def granted_cores() -> int:
    """Return how many cores this process may run on."""
    return len(granted())

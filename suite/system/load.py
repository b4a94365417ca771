"""The load of other processes: CPU time of all processes minus that of this one."""

import time
from contextlib import suppress
from dataclasses import dataclass

import psutil

from suite.system.counters import cpu_time, granted


@dataclass(frozen=True)
class CpuLoad:
    """CPU counters at one moment, in seconds; only differences are meaningful."""

    at: float
    all_cores: float  # CPU time of every process on every granted core
    own: float  # of it, used by this process and its children


def cpu_load() -> CpuLoad:
    """Return the counters now."""
    return CpuLoad(at=time.monotonic(), all_cores=cpu_time().busy, own=time.process_time() + children_seconds())


def children_seconds() -> float:
    """Return the CPU time, in seconds, of this process's living children."""
    seconds = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            used = child.cpu_times()
            seconds += used.user + used.system
    return seconds


def by_others(before: CpuLoad, after: CpuLoad) -> float:
    """Return the cores that other processes kept busy between two readings, at least 0."""
    elapsed = after.at - before.at
    if elapsed <= 0:
        return 0.0
    return max(0.0, ((after.all_cores - before.all_cores) - (after.own - before.own)) / elapsed)


def others_now(seconds: float) -> float:
    """Return the cores that other processes keep busy, measured over this many seconds."""
    before = cpu_load()
    time.sleep(seconds)
    return by_others(before, cpu_load())


def granted_cores() -> int:
    """Return how many cores this process may run on."""
    return len(granted())

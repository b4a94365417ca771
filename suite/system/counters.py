"""System counters: CPU time, load by others, steal, throttled periods of the control group, energy of the packages."""

import os
import re
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from suite.system.processor import text

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_POWERCAP = Path("/sys/class/powercap")
_ONLINE = Path("/sys/devices/system/cpu/online")  # such as 0,2-3
_PACKAGE = re.compile(r"intel-rapl:\d+")  # AMD's packages too; a second number means a part of a package
_LOOK_EVERY = 60  # readings between two searches for the worker's children, which scan all processes


@dataclass(frozen=True)
class CpuTime:
    """CPU time over the granted cores since boot, in seconds."""

    capacity: float
    busy: float
    steal: float | None


def granted() -> frozenset[int]:
    """Return the numbers of the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def cpu_time() -> CpuTime:
    """Return the granted cores' total time, busy time, and the time stolen by other virtual machines.

    Other cores, such as those of another job on a shared node, are ignored.
    """
    numbers = granted()
    cores = [] if every_core(numbers) else [_of_core(core) for number, core in _numbered() if number in numbers]
    cores = cores or [_of_core(psutil.cpu_times())]
    steals = [core.steal for core in cores if core.steal is not None]
    return CpuTime(
        capacity=sum(core.capacity for core in cores),
        busy=sum(core.busy for core in cores),
        steal=sum(steals) if steals else None,
    )


def every_core(cores: Collection[int]) -> bool:
    """Return whether these are all online cores."""
    return len(cores) == os.cpu_count()


def _numbered() -> list[tuple[int, Any]]:
    """Return each core's number and times; [] if the system does not say which cores are online."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text(_ONLINE) or "")
    online = [number for first, last in ranges for number in range(int(first), int(last or first) + 1)]
    cores = psutil.cpu_times(percpu=True)  # of the online cores, in the order of their numbers
    return list(zip(online, cores, strict=True)) if len(online) == len(cores) else []


def _of_core(times: Any) -> CpuTime:
    steal = getattr(times, "steal", None)
    # Linux counts guests in user and nice too.
    capacity = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    idle = times.idle + getattr(times, "iowait", 0.0) + (steal or 0.0)
    return CpuTime(capacity=capacity, busy=capacity - idle, steal=steal)


class Tree:
    """The CPU time of a process and its children, ended ones included."""

    def __init__(self) -> None:
        self._root: psutil.Process | None = None
        self._all: list[psutil.Process] = []
        self._until_look = 0

    def follow(self, pid: int) -> None:
        """Watch another process from now on; a missing one has no time."""
        try:
            self._root = psutil.Process(pid)
        except (psutil.Error, ValueError, OverflowError):
            self._root = None
        self._all, self._until_look = [], 0

    @property
    def pids(self) -> frozenset[int]:
        """The ids of the watched processes."""
        return frozenset(process.pid for process in self._all)

    def seconds(self) -> float | None:
        """Return the tree's CPU time in seconds; None if its root has ended or is not readable."""
        if self._root is None:
            return None
        try:
            if self._until_look == 0:
                self._all = [self._root, *self._root.children(recursive=True)]
                self._until_look = _LOOK_EVERY
            self._until_look -= 1
            total = self._of(self._root)
        except psutil.Error:
            return None
        for process in self._all[1:]:
            try:
                total += self._of(process)
            except psutil.Error:  # it ended; its parent's counter takes over its time
                self._until_look = 0
        return total

    @staticmethod
    def _of(process: psutil.Process) -> float:
        times = process.cpu_times()
        return times.user + times.system + times.children_user + times.children_system


def control_groups(groups: Path = _CGROUPS, own: Path = _OWN_GROUPS, controller: str = "cpu") -> tuple[Path, ...]:
    """Return the folders, possibly missing, of this process's control group of a controller and its parents."""
    folders = []
    for line in (text(own) or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            roots = [groups, groups / "unified"]
        elif controller in controllers.split(","):
            roots = [groups / controllers, groups / controller]
        else:
            continue
        for root in roots:
            inner = Path(path.lstrip("/"))
            folders += [root / inner, *(root / parent for parent in inner.parents)]
    return tuple(dict.fromkeys(folder.resolve() for folder in folders))


def cpu_stats(groups: Path = _CGROUPS, own: Path = _OWN_GROUPS) -> tuple[Path, ...]:
    """Return the files with the throttled periods of this process's control group and its parents."""
    files = (folder / "cpu.stat" for folder in control_groups(groups, own))
    return tuple(file for file in files if throttled([file]) is not None)


def throttled(files: Sequence[Path]) -> int | None:
    """Return the number of throttled periods of the control groups; None if no file has the counter."""
    counts = [int(n[1]) for file in files if (n := re.search(r"^nr_throttled (\d{1,18})$", text(file) or "", re.M))]
    return sum(counts) if counts else None


class Packages:
    """The energy counters of the CPU packages, corrected for wrap-around.

    Source: Linux, Documentation/power/powercap/powercap.rst.
    """

    def __init__(self, folder: Path = _POWERCAP, ours: bool = True) -> None:
        """Open the counters below a folder; none if the packages are not `ours` alone."""
        try:
            zones = sorted(p for p in folder.iterdir() if ours and _PACKAGE.fullmatch(p.name))
        except OSError:
            zones = []
        self._zones = [zone for zone in zones if (text(zone / "name") or "").startswith("package")]
        self._last: list[int | None] = [_whole(zone / "energy_uj") for zone in self._zones]
        self._ranges = [_whole(zone / "max_energy_range_uj") for zone in self._zones]
        self._microjoules = 0
        self._alive = bool(self._zones) and None not in self._last

    def joules(self) -> float | None:
        """Return the energy of all packages since this object was made, in joules; None once a counter has failed."""
        for index, zone in enumerate(self._zones if self._alive else ()):
            now, before, wraps_at = _whole(zone / "energy_uj"), self._last[index], self._ranges[index]
            if now is None or before is None or (now < before and wraps_at is None):
                self._alive = False
                break
            self._microjoules += now - before + (0 if now >= before or wraps_at is None else wraps_at)
            self._last[index] = now
        return self._microjoules / 1e6 if self._alive else None


def packages() -> Packages:
    """Return the counters of the CPU packages; empty if this process lacks some cores, whose work they include."""
    return Packages(_POWERCAP, ours=every_core(granted()))


def _whole(path: Path) -> int | None:
    words = text(path) or ""
    return int(words) if re.fullmatch(r"\d{1,20}", words) else None


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

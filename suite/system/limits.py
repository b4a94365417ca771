"""What this process and its children may use: memory, processes, open files and processor time, and what limits it."""

import math
import os
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from suite.system import counters
from suite.system.processor import text

_MANY = 8192  # processes of a user that no campaign comes near


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit of memory, and what sets it."""

    of_bytes: int
    what: str
    least_bytes: int = 2**29  # with less nothing can be measured: the smallest worker takes 0.4 GB, its parent 0.1 GB


@dataclass(frozen=True, kw_only=True)
class Count:
    """How much of something else processes may still use, and what limits it."""

    name: str
    left: float
    what: str
    least: int  # with less nothing can be measured
    enough: int  # for every case
    unit: str = ""


def counts(groups: Sequence[Path] | None = None) -> tuple[Count, ...]:
    """Return what limits processes and threads, open files and processor time; `groups` are of the controller pids."""
    cores = counters.granted_cores()
    folders = counters.control_groups(controller="pids") if groups is None else groups
    in_groups = min(map(_pids_left, folders), default=math.inf)
    # The smallest worker has 13 threads on two cores.
    of_processes = partial(Count, name="processes", least=10 + 2 * cores, enough=200 + 20 * cores)
    every = (
        of_processes(left=in_groups, what="pids.max of the control group"),
        of_processes(left=_processes_left(), what="ulimit -u"),
        Count(name="open files", left=_soft(resource.RLIMIT_NOFILE), what="ulimit -n", least=64, enough=256),
        Count(
            name="processor time", left=_soft(resource.RLIMIT_CPU), what="ulimit -t", least=20, enough=3600, unit=" s"
        ),
    )
    return tuple(count for count in every if count.left != math.inf)


def _soft(kind: int) -> float:
    soft, _ = resource.getrlimit(kind)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def _pids_left(folder: Path) -> float:
    most, now = ((text(folder / f"pids.{name}") or "").strip() for name in ("max", "current"))
    return int(most) - int(now) if most.isdigit() and now.isdigit() else math.inf


def _processes_left() -> float:
    """Return how many more threads this user may start; root may start any number."""
    most = _soft(resource.RLIMIT_NPROC)
    if os.getuid() == 0 or most > _MANY:  # counting them takes a while
        return math.inf
    own = (each.info for each in psutil.process_iter(["uids", "num_threads"]))
    return most - sum(info["num_threads"] or 0 for info in own if info["uids"] and info["uids"].real == os.getuid())


def memory_limits(groups: Sequence[Path] | None = None) -> tuple[Limit, ...]:
    """Return the host's memory and every smaller limit, the smallest first; `groups` are folders of control groups."""
    host, *shared = _shared(groups)
    limits = [limit for limit in (*shared, *_of_processes()) if limit.of_bytes < host.of_bytes]
    return tuple(sorted((*limits, host), key=lambda limit: limit.of_bytes))


def usable_bytes(groups: Sequence[Path] | None = None) -> int:
    """Return the memory that all processes together may use: the host's, or a control group's if that is less."""
    return min(limit.of_bytes for limit in _shared(groups))


def _shared(groups: Sequence[Path] | None) -> tuple[Limit, ...]:
    """Return the host's memory first, then the limits of control groups."""
    folders = counters.control_groups(controller="memory") if groups is None else groups
    return Limit(of_bytes=psutil.virtual_memory().total, what="the host's memory"), *_of_groups(folders)


def _of_groups(folders: Sequence[Path]) -> Iterator[Limit]:
    """Yield the limits of control groups: memory.max in version 2, memory.limit_in_bytes in version 1."""
    for folder in folders:
        for name in ("memory.max", "memory.limit_in_bytes"):
            value = (text(folder / name) or "").strip()
            if value.isdigit():  # 'max' in version 2 and a number beyond any memory in version 1: no limit
                yield Limit(of_bytes=int(value), what=f"the limit of the control group ({name})")


def _of_processes() -> Iterator[Limit]:
    for kind, option in ((resource.RLIMIT_AS, "ulimit -v"), (resource.RLIMIT_DATA, "ulimit -d")):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            # A worker reserves more addresses than it uses: with 1 GB the smallest ends by SIGSEGV, with 2 GB it runs.
            yield Limit(of_bytes=soft, what=f"the limit of each process ({option})", least_bytes=2**30)

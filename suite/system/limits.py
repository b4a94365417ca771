"""The memory that this process and its children may use: the host's, a control group's or a process limit's."""

import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from suite.system import counters
from suite.system.processor import text


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit of memory, and what sets it."""

    of_bytes: int
    what: str
    least_bytes: int = 2**29  # with less nothing can be measured: the smallest worker takes 0.4 GB, its parent 0.1 GB


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

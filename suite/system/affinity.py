"""Which hardware threads a process may run on: fewer than all are one of each core before the second of any."""

import os
from collections.abc import Callable, Iterable

from suite.system.processor import siblings_of


def pin(threads: int | None) -> None:
    """Restrict this process to that many hardware threads; only affinity limits XLA's pool on the CPU."""
    if threads is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, one_of_each_core_first(os.sched_getaffinity(0))[:threads])


def one_of_each_core_first(granted: Iterable[int], siblings: Callable[[int], str] = siblings_of) -> tuple[int, ...]:
    """Return the granted hardware threads: the first of each core, then the second ones, each in ascending order.

    `siblings` gives the text that names the hardware threads of one's core; '' where the system does not tell, and
    then each is a core of its own.
    """
    seen: dict[str, int] = {}
    turns = list[tuple[int, int]]()
    for thread in sorted(granted):
        core = siblings(thread) or str(thread)
        turns.append((seen.get(core, 0), thread))
        seen[core] = seen.get(core, 0) + 1
    return tuple(thread for _, thread in sorted(turns))

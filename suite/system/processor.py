"""The kind of processor, and the hardware threads that a process may use."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from suite.system import cpu_names

CPUINFO = Path("/proc/cpuinfo")
TOPOLOGY = Path("/sys/devices/system/cpu")


def described(cpuinfo: Path = CPUINFO, topology: Path = TOPOLOGY) -> dict[str, Any]:
    """Return the fields of a machine that identify its kind of CPU; unknown ones are omitted."""
    facts = said(cpuinfo)
    family, number = facts.get("cpu family"), facts.get("model")
    if "CPU implementer" in facts:
        family, number = facts.get("CPU architecture"), facts.get("CPU part")
    fields = {
        "cpu_vendor": cpu_names.vendor(facts),
        "cpu_family": cpu_names.integer(family),
        "cpu_number": cpu_names.integer(number),
        "threads_per_core": threads_per_core(topology),
    }
    return {name: value for name, value in fields.items() if value is not None}


def said(cpuinfo: Path = CPUINFO) -> dict[str, str]:
    """Return the system's fields of its first processor; {} if it reports none."""
    return cpu_names.fields(text(cpuinfo) or "")


def threads_per_core(topology: Path = TOPOLOGY) -> int | None:
    """Return how many hardware threads share the first granted core; None if unknown."""
    granted = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    spans = [part.split("-") for part in siblings_of(granted[0], topology).split(",")]
    with suppress(ValueError):
        return sum(int(span[-1]) - int(span[0]) + 1 for span in spans) or None
    return None


def siblings_of(thread: int, topology: Path = TOPOLOGY) -> str:
    """Return the system's list of the hardware threads that share a core with this one; '' if unknown."""
    return text(topology / f"cpu{thread}" / "topology" / "thread_siblings_list") or ""


def pin(threads: int | None) -> None:
    """Restrict this process to this many hardware threads: only affinity limits XLA's thread pool on the CPU."""
    if threads is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, one_of_each_core_first(os.sched_getaffinity(0))[:threads])


def one_of_each_core_first(granted: Iterable[int], siblings: Callable[[int], str] = siblings_of) -> tuple[int, ...]:
    """Return the granted hardware threads: the first of each core, then the second ones, each in ascending order.

    `siblings` returns the list of a core's hardware threads as text; if it is '', each thread counts as a core.
    """
    seen: dict[str, int] = {}
    turns = list[tuple[int, int]]()
    for thread in sorted(granted):
        core = siblings(thread) or str(thread)
        turns.append((seen.get(core, 0), thread))
        seen[core] = seen.get(core, 0) + 1
    return tuple(thread for _, thread in sorted(turns))


def text(path: Path) -> str | None:
    """Return a small system file's text; None if it is missing or not readable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None

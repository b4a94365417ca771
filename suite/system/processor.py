"""The kind of processor, and the hardware threads that a process may use."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")
TOPOLOGY = Path("/sys/devices/system/cpu")

# ARM processors report only numbers. These names are lscpu's, for servers and small computers.
_IMPLEMENTERS = {
    0x41: "ARM",
    0x43: "Cavium",
    0x46: "FUJITSU",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x50: "APM",
    0x51: "Qualcomm",
    0x53: "Samsung",
    0x61: "Apple",
    0x6D: "Microsoft",
    0xC0: "Ampere",
}
_PARTS = {
    (0x41, 0xD03): "Cortex-A53",
    (0x41, 0xD05): "Cortex-A55",
    (0x41, 0xD07): "Cortex-A57",
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD42): "Cortex-A78AE",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4A): "Neoverse-E1",
    (0x41, 0xD4F): "Neoverse-V2",
    (0x41, 0xD83): "Neoverse-V3AE",
    (0x41, 0xD84): "Neoverse-V3",
    (0x41, 0xD8E): "Neoverse-N3",
    (0x43, 0x0AF): "ThunderX2-99xx",
    (0x46, 0x001): "A64FX",
    (0x48, 0xD01): "TaiShan-v110",
    (0x4E, 0x004): "Carmel",
    (0xC0, 0xAC3): "Ampere-1",
    (0xC0, 0xAC4): "Ampere-1a",
}
_NAMES = "model name|vendor_id|cpu family|model|CPU implementer|CPU architecture|CPU part"


def described(cpuinfo: Path = CPUINFO, topology: Path = TOPOLOGY) -> dict[str, Any]:
    """Return the fields of a machine that identify its kind of CPU; unknown ones are omitted."""
    facts = said(cpuinfo)
    vendor, family, number = facts.get("vendor_id"), facts.get("cpu family"), facts.get("model")
    if "CPU implementer" in facts:
        implementer = _whole(facts["CPU implementer"])
        vendor = _IMPLEMENTERS.get(implementer, facts["CPU implementer"]) if implementer is not None else None
        family, number = facts.get("CPU architecture"), facts.get("CPU part")
    fields = {
        "cpu_vendor": vendor,
        "cpu_family": _whole(family),
        "cpu_number": _whole(number),
        "threads_per_core": threads_per_core(topology),
    }
    return {name: value for name, value in fields.items() if value is not None}


def said(cpuinfo: Path = CPUINFO) -> dict[str, str]:
    """Return the system's fields of its first processor; {} if it reports none."""
    facts: dict[str, str] = {}
    for name, value in re.findall(rf"^({_NAMES})[ \t]*:[ \t]*(\S.*)$", text(cpuinfo) or "", re.MULTILINE):
        facts.setdefault(name, " ".join(value.split()))
    return facts


def arm_name(facts: dict[str, str]) -> str:
    """Return an ARM processor's implementer and part in lscpu's names; '' for other processors."""
    implementer, part = (_whole(facts.get(name)) for name in ("CPU implementer", "CPU part"))
    if implementer is None or part is None:
        return ""
    maker = _IMPLEMENTERS.get(implementer, f"implementer {implementer:#04x}")
    return f"{maker} {_PARTS.get((implementer, part), f'part {part:#05x}')}"


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


def _whole(word: str | None) -> int | None:
    """Return the value of a decimal or hexadecimal number, such as 8 or 0xd0c; None for anything else."""
    with suppress(ValueError, TypeError):
        return int(word or "", 0)
    return None

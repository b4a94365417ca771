"""Why the system killed a process: memory ran out, or its limit of processor time was reached."""

import re
import resource
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.system import counters
from suite.system.processor import text

_HOST = Path("/proc/vmstat")
_FILES = ("memory.events", "memory.oom_control")  # of control groups, versions 2 and 1

_SLACK_SECONDS = 0.5  # the kernel's limit counts up to 0.3 s more than its report of a process


def kills(groups: Sequence[Path] | None = None, host: Path = _HOST) -> int | None:
    """Return how many processes the system has killed since boot because memory ran out; None if it does not count.

    The count is that of this process's own control group: the groups around it have other jobs too. The host's counts
    where the group has none. `groups` are the folders of the group and its parents.
    """
    folders = counters.control_groups(controller="memory") if groups is None else groups
    for file in (*(folder / name for folder in folders for name in _FILES), host):
        if count := re.search(r"^oom_kill (\d{1,18})$", text(file) or "", re.MULTILINE):
            return int(count[1])
    return None


@dataclass(frozen=True, kw_only=True)
class Before:
    """What was counted before a process was started."""

    kills: int | None
    cpu_seconds: float  # of all processes that this one started and that have ended


def before() -> Before:
    """Return what is counted now."""
    return Before(kills=kills(), cpu_seconds=_cpu_seconds())


def cause(killed_by: signal.Signals, since: Before) -> str:
    """Return why a process that has ended was killed by a signal; '' if the system does not tell."""
    now = kills() if killed_by == signal.SIGKILL else None
    if since.kills is not None and now is not None and now > since.kills:
        return "as memory ran out"
    limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
    reached = limit != resource.RLIM_INFINITY and _cpu_seconds() - since.cpu_seconds >= limit - _SLACK_SECONDS
    if killed_by == signal.SIGXCPU or (killed_by == signal.SIGKILL and reached):  # SIGKILL is that of the hard limit
        return "as its processor time reached the limit (ulimit -t)"
    return ""


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime

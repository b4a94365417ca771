"""Whether the system killed a process because memory ran out, by the counters of the control group or the host."""

import re
from collections.abc import Sequence
from pathlib import Path

from suite.system import counters
from suite.system.processor import text

_HOST = Path("/proc/vmstat")
_FILES = ("memory.events", "memory.oom_control")  # of control groups, versions 2 and 1


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


def with_cause(ending: str, before: int | None) -> str:
    """Return how a process ended, in words, with the cause if memory ran out since there were `before` kills."""
    after = kills() if "SIGKILL" in ending else None
    ran_out = before is not None and after is not None and after > before
    return f"{ending}, as memory ran out" if ran_out else ending

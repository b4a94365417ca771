"""Which machine this is: a word that stays the same until it is started anew, and that means nothing elsewhere.

For a campaign's journal, to tell whether measuring goes on where it began. It is never put into a record.
"""

import hashlib
import platform
import uuid
from pathlib import Path

import psutil

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MACHINE = Path("/etc/machine-id")


def place(campaign: str) -> str:
    """Return the word for this machine since its start; each campaign has its own, so that they cannot be joined."""
    known = [_BOOT.read_text(), _MACHINE.read_text() if _MACHINE.exists() else ""] if _BOOT.exists() else []
    known = known or [str(uuid.getnode()), str(round(psutil.boot_time(), -1))]
    return hashlib.sha256("\n".join([campaign, platform.node(), *known]).encode()).hexdigest()[:16]

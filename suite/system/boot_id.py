"""Anonymous identifiers of this host.

The kernel draws a new boot identifier at each boot, shared by all containers of a host. Two hashes are made from it:
`host` goes into each run of a record, to count the hosts behind a number; `place` stays in the campaign's journal, to
detect that measuring resumes elsewhere. Neither can be inverted: the identifier is 122 random bits and is published
nowhere.

Limits: a sandbox or virtual machine with its own kernel (gVisor, Firecracker) counts as a host; a rebooted host counts
as another; a cloned image resumed from memory repeats the identifier, so `suite.results.records.identity` also compares
the machine's description.
"""

import hashlib
import platform
import re
import uuid
from pathlib import Path

import psutil

from suite.system.processor import text

BOOT = Path("/proc/sys/kernel/random/boot_id")
HIDDEN = (
    "note: this system shows no boot identifier, so records name no host: all such results of one kind of machine "
    "count as one host"
)
_MACHINE = Path("/etc/machine-id")
_SALT = "reference suite, host of a record, 1"  # keeps the hash different from other projects' hashes of the same boot
_LENGTH = 16
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def host(boot: Path = BOOT) -> str:
    """Return this boot's hash, the same in all containers of the host; '' if the system shows no boot identifier.

    It excludes the machine's identifier and name, which differ between containers of one host.
    """
    identifier = (text(boot) or "").lower()
    if not _UUID.fullmatch(identifier) or not set(identifier) - set("0-"):
        return ""
    return hashlib.sha256(f"{_SALT}\n{identifier}".encode()).hexdigest()[:_LENGTH]


def place(campaign: str) -> str:
    """Return this machine's hash since its boot; it differs between campaigns, so that they cannot be linked."""
    boot = text(BOOT)
    known = [boot, text(_MACHINE) or ""] if boot else [str(uuid.getnode()), str(round(psutil.boot_time(), -1))]
    return hashlib.sha256("\n".join([campaign, platform.node(), *known]).encode()).hexdigest()[:_LENGTH]

"""Which host this is, in words that say nothing else about it.

The kernel draws a new identifier whenever it boots, and all containers of a host share it. From it two words are made:
`host` goes into each run of a record, to count the hosts behind a number; `place` stays in the campaign's journal, to
tell whether measuring goes on where it began. Neither can be turned back into what it was made of: the identifier is
122 random bits, and is published nowhere.

What no process can know: a sandbox or virtual machine with a kernel of its own (gVisor, Firecracker) is a host of its
own, however many share the hardware; a host that was started anew counts as another; a cloned image that was resumed
from memory repeats the identifier, so `suite.results.records.identity` compares the machine's description too.
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
    "note: this system shows no identifier of its boot, so records say no host: in evidence over several hosts, all "
    "such results of one kind of machine count as one host"
)
_MACHINE = Path("/etc/machine-id")
_SALT = "reference suite, host of a record, 1"  # so that another project's hash of the same boot is another word
_LENGTH = 16
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def host(boot: Path = BOOT) -> str:
    """Return the word for this host since it was started, the same in all its containers; '' if it shows no boot.

    Neither the machine's identifier nor its name are part of it: containers of one host have their own.
    """
    identifier = (text(boot) or "").lower()
    if not _UUID.fullmatch(identifier) or not set(identifier) - set("0-"):
        return ""
    return hashlib.sha256(f"{_SALT}\n{identifier}".encode()).hexdigest()[:_LENGTH]


def place(campaign: str) -> str:
    """Return the word for this machine since its start; each campaign has its own, so that they cannot be joined."""
    boot = text(BOOT)
    known = [boot, text(_MACHINE) or ""] if boot else [str(uuid.getnode()), str(round(psutil.boot_time(), -1))]
    return hashlib.sha256("\n".join([campaign, platform.node(), *known]).encode()).hexdigest()[:_LENGTH]

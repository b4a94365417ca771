"""A child's tie to its parent: whatever ends the parent, the child and what it started end too."""

import ctypes
import os
import signal
import stat
import sys
import threading
from contextlib import suppress

_PR_SET_PDEATHSIG = 1  # of Linux' prctl


def exit_when_parent_exits() -> None:
    """End this process and its group once the parent no longer holds the other end of standard input, a pipe.

    On Linux the kernel ends this process too, even where it is stopped or does not let Python run.
    """
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return  # somebody started it by hand
    threading.Thread(target=_wait, daemon=True).start()
    set_pdeathsig()


def set_pdeathsig() -> None:
    """Have Linux' kernel end this process with its parent; nothing elsewhere."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait() -> None:
    sys.stdin.buffer.read()
    if os.getpgid(0) == os.getpid():  # else the group is not ours to end
        os.killpg(0, signal.SIGKILL)
    os._exit(1)

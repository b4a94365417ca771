"""Ends a child and its process group when its parent ends, for whatever reason."""

import ctypes
import os
import signal
import stat
import sys
import threading
from contextlib import suppress

_PR_SET_PDEATHSIG = 1  # of Linux' prctl


def exit_when_parent_exits() -> None:
    """Exit, with the process group, when the parent closes standard input, a pipe.

    On Linux the kernel also kills this process, even if it is stopped or blocked outside Python.
    """
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return  # started by hand
    threading.Thread(target=_wait, daemon=True).start()
    set_pdeathsig()


def set_pdeathsig() -> None:
    """Make Linux kill this process when its parent ends; does nothing elsewhere."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait() -> None:
    sys.stdin.buffer.read()
    if os.getpgid(0) == os.getpid():  # else the group is not ours to end
        os.killpg(0, signal.SIGKILL)
    os._exit(1)

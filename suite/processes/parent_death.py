"""Ends a child and its process group when its parent ends, for whatever reason."""

import ctypes
import os
import signal
import stat
import subprocess
import sys
import threading
from contextlib import suppress

_PR_SET_PDEATHSIG = 1  # of Linux' prctl
# Once standard input closes, end the group, 0: first by SIGTERM, so that Python's tracker of semaphores, which
# ignores it, can free what the others leave.
_WATCH = 'trap "" TERM; while read -r line; do :; done; kill -TERM 0; sleep 0.5; kill -KILL 0'


def exit_when_parent_exits() -> None:
    """Exit, with the process group, when the parent closes standard input, a pipe.

    On Linux the kernel also kills this process, even if it is stopped or blocked outside Python.
    """
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return  # started by hand
    threading.Thread(target=_wait, daemon=True).start()
    set_pdeathsig()


def end_group_with_parent() -> None:
    """End the processes that this one starts too when the parent closes standard input, even if this one is gone.

    The kernel kills this process alone, and so soon that it cannot end its own children, such as an input pipeline's.
    A shell in the group does.
    """
    if stat.S_ISFIFO(os.fstat(0).st_mode) and os.getpgid(0) == os.getpid():
        subprocess.Popen(["/bin/sh", "-c", _WATCH], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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

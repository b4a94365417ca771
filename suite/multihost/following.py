"""The other hosts' side of a campaign over several: a process for each that the first host begins."""

import signal
import sys
import threading
from collections.abc import Callable

from suite import units
from suite.multihost import hosts
from suite.processes import children


def follow(address: str, patience_seconds: float, say: Callable[[str], object]) -> int:
    """Take part in one process after another of the host at an address; return in how many.

    That is until it has no more to do. What begins is said. Raises RuntimeError if one ends with an error, if that host
    had no more to do when this one came, or if none answers in time: so ends, too, who leads and is interrupted.
    """
    count = 0
    while True:
        say(f"waiting for '{address}'")
        arguments = (address, str(patience_seconds))
        env = children.environment(None)
        with children.child("suite.multihost.follower", *arguments, python=sys.executable, env=env) as child:
            if (line := child.line(threading.TIMEOUT_MAX)) is not None:  # what libraries print comes after it
                say(line.decode(errors="replace").rstrip())
            code, ended, said = child.code(), child.ended(), child.last_error()
        if count and code == hosts.SHUT_DOWN:
            return count
        if code == hosts.SHUT_DOWN:
            raise RuntimeError(f"'{address}' has ended without this host; run it anew, and this beside it")
        if code == hosts.LEFT:
            say(said)
            continue
        if code == hosts.NOBODY:
            words = units.pluralize(count, "process", "processes")
            raise RuntimeError(f"{said}{f'; it had led {words}' if count else ''}")
        if code == -signal.SIGABRT:  # how JAX ends a process whose first host is gone
            raise RuntimeError(f"'{address}' went away in the middle of a process, or this one cannot go on: {ended}")
        if code:
            raise RuntimeError(f"following '{address}': {ended}")
        count += 1

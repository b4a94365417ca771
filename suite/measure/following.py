"""The other hosts' side of a campaign over several: a process for each that the first host begins."""

import sys
import threading
from collections.abc import Callable

from suite.measure import children, hosts


def follow(address: str, patience_seconds: float, say: Callable[[str], object]) -> int:
    """Take part in one process after another of the host at an address; return in how many.

    That is until it has no more to do, or none comes in time. What begins is said. Raises RuntimeError if one ends
    with an error, or if that host had no more to do when this one came.
    """
    count = 0
    while True:
        say(f"waiting for '{address}'")
        arguments = (address, str(patience_seconds))
        env = children.environment(None)
        with children.child("suite.measure.follower", *arguments, python=sys.executable, env=env) as child:
            if (line := child.line(threading.TIMEOUT_MAX)) is not None:  # what libraries print comes after it
                say(line.decode(errors="replace").rstrip())
            code, ended, said = child.code(), child.ended(), child.last_error()
        if count and code in (hosts.NOBODY, hosts.DISMISSED):
            return count
        if code == hosts.DISMISSED:
            raise RuntimeError(f"'{address}' has ended without this host; run it anew, and this beside it")
        if code:
            raise RuntimeError(said if code == hosts.NOBODY else f"following '{address}': {ended}")
        count += 1

"""The hosts of a campaign but the first: each runs one process after another, which the first host begins.

`suite join` calls `follow`, whose processes are `python -m suite.multihost.follower`.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable

from suite import units
from suite.multihost import hosts
from suite.multihost.messages import Begin
from suite.processes import children, parent_death


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


def main() -> None:
    """Follow the host whose address is the first argument, for as many seconds as the second; print what begins."""
    parent_death.exit_when_parent_exits()
    try:
        more = hosts.follow(sys.argv[1], float(sys.argv[2]), lambda begin: print(_words(begin), flush=True))
        code = 0 if more else hosts.SHUT_DOWN
    except RuntimeError as error:
        print(error, file=sys.stderr, flush=True)
        code = {hosts.NobodyError: hosts.NOBODY, hosts.LeftError: hosts.LEFT}.get(type(error), 1)
    os._exit(code)


def _words(begin: Begin) -> str:
    """Return what this host begins to take part in, and as which of how many."""
    case = begin.case
    return f"taking part in {case.workload} {case.backend} {case.scope}, as host {begin.index + 1} of {case.hosts}"


if __name__ == "__main__":
    main()

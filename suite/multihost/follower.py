"""The following hosts of a campaign: each runs one process after another, as the first host starts them.

`suite join` calls `follow`, which starts `python -m suite.multihost.follower`.
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
    """Follow the host at an address through its processes until it has no more; return their number.

    Each start is passed to `say`. Raises RuntimeError if a process fails, if that host had no more work when this one
    came, or if it does not answer in time, as after an interrupt.
    """
    count = 0
    while True:
        say(f"waiting for '{address}'")
        arguments = (address, str(patience_seconds))
        env = children.environment(None)
        with children.child("suite.multihost.follower", *arguments, python=sys.executable, env=env) as child:
            if (line := child.line(threading.TIMEOUT_MAX)) is not None:  # libraries print after it
                say(line.decode(errors="replace").rstrip())
            code, ended, last_error = child.code(), child.ended(), child.last_error()
        if count and code == hosts.SHUT_DOWN:
            return count
        if code == hosts.SHUT_DOWN:
            raise RuntimeError(f"'{address}' ended without this host; run both again")
        if code == hosts.LEFT:
            say(last_error)
            continue
        if code == hosts.NOBODY:
            words = units.pluralize(count, "process", "processes")
            raise RuntimeError(f"{last_error}{f'; it had led {words}' if count else ''}")
        if code == -signal.SIGABRT:  # JAX aborts a process whose first host is gone
            raise RuntimeError(f"'{address}' was lost during a process, or this host failed: {ended}")
        if code:
            raise RuntimeError(f"following '{address}': {ended}")
        count += 1


def main() -> None:
    """Follow the host at the address in argv[1], waiting argv[2] seconds; print what begins."""
    parent_death.exit_when_parent_exits()
    try:
        more = hosts.follow(sys.argv[1], float(sys.argv[2]), lambda begin: print(_words(begin), flush=True))
        code = 0 if more else hosts.SHUT_DOWN
    except RuntimeError as error:
        print(error, file=sys.stderr, flush=True)
        code = {hosts.NobodyError: hosts.NOBODY, hosts.LeftError: hosts.LEFT}.get(type(error), 1)
    os._exit(code)


def _words(begin: Begin) -> str:
    """Return the case that begins and this host's number, in words."""
    case = begin.case
    return f"taking part in {case.workload} {case.backend} {case.scope}, as host {begin.index + 1} of {case.hosts}"


if __name__ == "__main__":
    main()

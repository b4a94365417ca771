"""What runs on every host but the first: one process for each process there. `suite join` starts them in turn."""

import os
import sys

from suite.multihost import hosts
from suite.multihost.messages import Begin
from suite.processes import parent_death


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

"""The other hosts' side of a campaign over several: a process for each that the first host begins."""

import sys

from suite.measure import children, hosts


def follow(address: str, patience_seconds: float) -> int:
    """Take part in one process after another of the host at an address; return in how many, until none comes in time.

    Raises RuntimeError if one ends with an error.
    """
    count = 0
    while True:
        arguments = (address, str(patience_seconds))
        env = children.environment(None)
        with children.child("suite.measure.follower", *arguments, python=sys.executable, env=env) as child:
            code, ended, said = child.code(), child.ended(), child.last_error()
        if code == hosts.NOBODY and count:
            return count
        if code:
            raise RuntimeError(said if code == hosts.NOBODY else f"following '{address}': {ended}")
        count += 1

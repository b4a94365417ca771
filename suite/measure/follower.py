"""What runs on every host but the first: one process for each process there. `suite follow` starts them in turn."""

import os
import sys

from suite.measure import hosts, parent


def main() -> None:
    """Follow the host whose address is the first argument, for as many seconds as the second."""
    parent.end_with_it()
    try:
        hosts.follow(sys.argv[1], float(sys.argv[2]))
    except RuntimeError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(hosts.NOBODY if isinstance(error, hosts.NobodyError) else 1)
    os._exit(0)


if __name__ == "__main__":
    main()

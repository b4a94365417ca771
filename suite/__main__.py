"""The command line: python -m suite."""

import sys

if not sys.flags.safe_path:
    # The current folder, where a random.py or json.py of the user's would stand in for another module.
    sys.path[0] = __file__.replace("__main__.py", "child_path")

from suite.cli import main

main()

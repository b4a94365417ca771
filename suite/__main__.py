"""The command line: python -m suite."""

from suite.cli import main

main()

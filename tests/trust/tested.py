"""A process that runs tests against altered sources of one module: `python -m trust.tested MODULE TEST...`.

Reads one source a line from standard input, as JSON, and answers with a line: killed, timeout or survived. Each is
tried in a fork of a process that has the libraries but nothing of the suite.
"""

import importlib.abc
import importlib.machinery
import json
import os
import sys
import time

import click.testing  # noqa: F401 - here and below: imported once, for all forks
import hypothesis.strategies  # noqa: F401
import jsonschema  # noqa: F401
import msgspec  # noqa: F401
import numpy  # noqa: F401
import pytest
import scipy.special  # noqa: F401

LIMIT_SECONDS = 90.0  # a multiple of what the slowest tests take: who is ended counts as noticed
_OPTIONS = (
    *("-x", "-q", "--tb=no", "-m", "not slow and not hypothesis", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-k", "not (cover or table_of_equals or in_any_way or is_named or page)"),  # slow, and no sharper than the others
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # the plugins are imported already, as they should be
)


class Altered(importlib.abc.MetaPathFinder):
    """Gives one module another source than that of its file."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name, path, target=None):
        if name != self.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        code = compile(self.source, spec.origin, "exec")
        spec.loader.get_code = lambda _: code
        return spec


def tried(module: str, source: str, tests: list[str]) -> str:
    """Return whether the tests, in a fork, fail with that source of the module."""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.meta_path.insert(0, Altered(module, source))
        os._exit(pytest.main([*_OPTIONS, *tests]))
    end = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if status == 0 else "killed"
        time.sleep(0.005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "timeout"


def main() -> None:
    """Answer each source until there are no more."""
    module, *tests = sys.argv[1:]
    for line in sys.stdin:
        print(tried(module, json.loads(line), tests), flush=True)


if __name__ == "__main__":
    main()

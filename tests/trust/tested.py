"""A process that runs tests against mutants of one module: `python -m trust.tested MODULE TEST...`.

Reads a mutant a line from standard input, as JSON `[place, source]`, and answers with a line: killed, timeout or
survived. Its first line is the answer to the module as it is. Each is tried in a fork. Where the fault is in the code
of a function that no import has run, the fork is of a process that has collected the tests: it gives that function the
other code, and runs the tests that call it. All else is tried in a fork of a process that has the libraries but nothing
of the suite: it imports the altered module, and runs all the tests.
"""

import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import signal
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import TextIO

import click.testing  # noqa: F401 - here and below: imported once, for all forks
import hypothesis.strategies  # noqa: F401
import jsonschema  # noqa: F401
import msgspec  # noqa: F401
import numpy  # noqa: F401
import pytest
import scipy.special  # noqa: F401

from trust.mutation import plain

HEAVY = ("altair", "flax.nnx", "jax", "optax")  # imported once for all forks too, if the tests need them
LONGEST_SECONDS = 300  # of the tests of a module, which hang in a fork if an import of theirs has started threads
PATIENCE = 10.0  # so many times as long as the module as it is may a mutant take, and as many seconds more
_OPTIONS = (
    *("-x", "-q", "--tb=no", "-m", "not slow and not hypothesis", "-p", "no:cacheprovider", "-p", "no:xdist"),
    # What is slow, and no sharper than the others.
    *("-k", "not (cover or table_of_equals or in_any_way or is_named or page or shipped_are)"),
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


class Collected:
    """A plugin of pytest: answers mutants in the place of running the tests, which it has collected."""

    def __init__(self, module: str, path: Path, asked: TextIO, answers: TextIO) -> None:
        self.module, self.path, self.asked, self.answers = module, str(path), asked, answers
        self.codes = _codes(plain(path.read_text()), self.path)  # by the names of their functions
        self.collecting = called(self.path)
        self.imported = self.collecting.__enter__()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.collecting.__exit__(None, None, None)
        functions = self._functions()
        gc.freeze()  # what a fork collects is its own
        tests = self._as_it_is(session.items)
        heavy = " ".join(name for name in HEAVY if name in sys.modules)
        self._answer("killed" if tests is None else f"survived {sum(seconds for _, _, seconds in tests)} {heavy}")
        for line in self.asked:
            place, source = json.loads(line)
            name = next((name for name in self.codes if f"{place}.".startswith(f"{name}.")), "")
            code = _codes(source, self.path).get(name)
            if code is None or code == self.codes[name] or name in self.imported:
                self._answer("not here")
                continue
            chosen = sorted((test for test in tests if name in test[1]), key=lambda test: test[2])
            seconds = sum(seconds for _, _, seconds in chosen)
            passed = partial(_passed, functions[name], code, [item for item, _, _ in chosen])
            self._answer(tried(passed, seconds))
        return True

    def _functions(self) -> dict[str, list[FunctionType]]:
        """Return the module's functions, methods, and what decorators hide, by name."""
        found: dict[str, list[FunctionType]] = defaultdict(list)
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and function.__code__.co_filename == self.path:
                found[function.__code__.co_qualname].append(function)
        return found

    def _as_it_is(self, items: list[pytest.Item]) -> list[tuple[pytest.Item, set[str], float]] | None:
        """Return the tests with the functions that each calls and how long it takes; None if one fails."""
        reading, writing = os.pipe()

        def run() -> bool:
            signal.alarm(LONGEST_SECONDS)
            found = []
            for item, following in zip(items, [*items[1:], None], strict=True):
                start = time.monotonic()
                with called(self.path) as names:
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if item.session.testsfailed:
                    return False
                found.append([sorted(names), time.monotonic() - start])
            with os.fdopen(writing, "w") as file:
                json.dump(found, file)
            return True

        child = _forked(run)
        os.close(writing)
        with os.fdopen(reading) as file:
            text = file.read()
        if os.waitpid(child, 0)[1] or not items:
            return None
        return [(item, set(names), seconds) for item, (names, seconds) in zip(items, json.loads(text), strict=True)]

    def _answer(self, text: str) -> None:
        print(text, file=self.answers, flush=True)


@contextmanager
def called(path: str) -> Iterator[set[str]]:
    """Give the names of the functions of a file that are called meanwhile, as they come."""
    names: set[str] = set()
    watch, tool = sys.monitoring, sys.monitoring.PROFILER_ID

    def begins(code: CodeType, offset: int) -> object:
        if code.co_filename == path:
            names.add(code.co_qualname)
        return watch.DISABLE  # once is enough

    watch.use_tool_id(tool, "called")
    watch.register_callback(tool, watch.events.PY_START, begins)
    watch.set_events(tool, watch.events.PY_START)
    watch.restart_events()
    try:
        yield names
    finally:
        watch.set_events(tool, 0)
        watch.register_callback(tool, watch.events.PY_START, None)
        watch.free_tool_id(tool)


def _passed(functions: list[FunctionType], code: CodeType, items: list[pytest.Item]) -> bool:
    for function in functions:
        function.__code__ = code
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return False
    return True


def _codes(source: str, path: str) -> dict[str, CodeType]:
    """Return the code of each function and method of a module, by name; what is within another goes with that."""
    waiting, found = [compile(source, path, "exec")], {}
    while waiting:
        for code in waiting.pop().co_consts:
            if not isinstance(code, CodeType) or "<" in code.co_qualname:
                continue
            if code.co_flags & 2:  # a function, which has locals of its own, other than a class
                found[code.co_qualname] = code
            else:
                waiting.append(code)
    return found


def _forked(run: Callable[[], bool]) -> int:
    """Return the process that runs it in silence, and ends with 0 if it returns that all is well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of libraries, which hold nothing that the tests need
        child = os.fork()
    if child:
        return child
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os._exit(0 if run() else 1)
    finally:
        os._exit(2)


def tried(run: Callable[[], bool], seconds: float) -> str:
    """Return what becomes of it in a fork, given the seconds that it takes as it is."""
    child = _forked(run)
    end = time.monotonic() + PATIENCE * (1 + seconds)
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if status == 0 else "killed"
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "timeout"


def _imported_anew(module: str, source: str, tests: list[str]) -> bool:
    sys.meta_path.insert(0, Altered(module, source))
    return pytest.main([*_OPTIONS, *tests]) == 0


def main() -> None:
    """Answer each mutant until there are no more."""
    module, path, *tests = sys.argv[1:]
    (asked, asking), (answers, answering) = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(asking)
        plugin = Collected(module, Path(path), os.fdopen(asked), os.fdopen(answering, "w"))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os._exit(pytest.main([*_OPTIONS, *tests], plugins=[plugin]))
    os.close(answering)
    with os.fdopen(asking, "w") as collected, os.fdopen(answers) as said:
        first, *more = said.readline().split() or ["killed"]
        print(first, flush=True)
        seconds = float(more[0]) if more else 0.0
        for name in more[1:]:
            importlib.import_module(name)
        for line in sys.stdin:
            print(line, end="", file=collected, flush=True)
            answer = said.readline().strip()
            if answer == "not here":
                source = json.loads(line)[1]
                answer = tried(partial(_imported_anew, module, source, tests), seconds)
            print(answer, flush=True)


if __name__ == "__main__":
    main()

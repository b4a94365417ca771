"""Bugs planted for the kills, each of which has to be caught: `python -m trust.planted FOLDER`, which prints JSON.

FOLDER has the fake program. Each bug is tried with deaths within writes until it is caught, at most at every write.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from unittest import mock

from suite.driver import journal, runner
from suite.driver.journal import Journal
from suite.results.records import store
from trust import fake, kills
from trust.kills import Death, Killing, Series

_done = Journal.done


def _write_in_place(path: Path, content: bytes) -> None:
    """Write a file where it belongs, and not beside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)


@contextmanager
def _deaf_child() -> Iterator[None]:
    """Start the telemetry with a child that nobody hears of and that knows neither its parent nor our token."""
    program = Path(sys.executable)
    script = program.with_name("deaf")
    script.write_text(f'#!/bin/sh\nenv -i setsid sleep 60 <&- >&- 2>&- &\nexec "{program}" "$@"\n')
    script.chmod(0o755)
    with mock.patch.object(sys, "executable", str(script)), mock.patch.object(kills, "_ORPHAN_SECONDS", 1.0):
        yield


BUGS: dict[str, Callable[[], AbstractContextManager]] = {
    "a record written in place": lambda: mock.patch.object(store, "write_once", _write_in_place),
    "a run measured again after a resume": lambda: mock.patch.object(Journal, "done", lambda self: _done(self)[1:]),
    "a line glued to one that was cut": lambda: mock.patch.object(journal, "_cut_short", return_value=False),
    "drafts that nobody removes": lambda: mock.patch.object(Path, "glob", _glob_without_drafts),
    "a child that outlives its parent": _deaf_child,
    "a kept run beside the one of its sibling": lambda: mock.patch.object(runner, "_kept", return_value=set()),
}
_glob = Path.glob


def _glob_without_drafts(self: Path, pattern: str, **more) -> Iterator[Path]:
    """Find nothing where the suite looks for drafts; the check's own pattern is another."""
    return iter(()) if pattern == ".writing-*" else _glob(self, pattern, **more)


def main() -> None:
    """Print what was caught of each bug, and of none."""
    folder = Path(sys.argv[1])
    program = fake.program(folder / "interpreter") or fake.interpreter(folder / "interpreter")
    series = Series(folder=str(folder), seed=0, names=fake.NAMES[:1], options=("--rounds", "2"), telemetry=str(program))
    os.environ |= {"SUITE_COMMIT": "trust", "SUITE_JAX_PYTHON": str(program), "SUITE_DATA": str(folder / "data")}
    os.chdir(folder)
    kills.prepare(series)
    caught = {"nothing": tried(series, "nothing")}
    for bug, plant in BUGS.items():
        with plant():
            caught[bug] = tried(series, bug)
    print(json.dumps(caught))


def tried(series: Series, bug: str) -> list[str]:
    """Return what is noticed of campaigns that die within a write, from the last one on; of no bug only at a few."""
    killing, name = Killing(series), bug.replace(" ", "-")
    killing.campaign(name, iter(()))
    writes = killing.deaths.calls().count("write")
    deaths = [Death(call="write", nth=nth, torn=torn) for nth in range(writes, 0, -1) for torn in (0.4, 0.6)]
    for death in deaths[:8] if bug == "nothing" else deaths:
        if killing.tally.troubles:
            break
        killing.campaign(f"{name}-{death.nth}-{death.torn}", iter([death]))
    return killing.tally.troubles


if __name__ == "__main__":
    main()

"""A bench for each fault: a folder of its own and the command line run in it; and the list of the faults.

Most faults come through the whole command line with a fake worker, in a fork where the environment permits one; where
the worker or the interpreter itself matters, it is the real one.
"""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from suite.case import Case
from suite.driver import campaign, collect, runner
from suite.driver.journal import FILE_NAME, Journal
from suite.processes import children
from suite.results.evidence.trust import Finding
from suite.results.records import store
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.system.redact import anonymous
from trust import fake, forks, kills

ROOT = Path(__file__).parents[2]
SMALL = "dp_linear_mirrored"  # the smallest network
HERE = Machine(name="test, 1 core", cpu_model="Test", cores=1)
PATCHES = threading.RLock()  # they change this whole process, so one fault at a time may have them
A_RECORD, A_LINE, THE_RESULT = "a record with its reason, exit 1", "one line with what to do, exit 1", "the result"


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A whole run of the command line."""

    code: int
    said: str
    seconds: float
    records: tuple[Record, ...]

    @property
    def reasons(self) -> set[str]:
        """Why its records have no result."""
        return {record.reason for record in self.records}

    @property
    def good(self) -> bool:
        """Whether it ended well, with records that all have a result."""
        return self.code == 0 and bool(self.records) and self.reasons == {""}


class Bench:
    """A folder of its own for each fault, and the command line run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.current = folder
        self.out = folder / "out"
        self.default: tuple[str, ...] = ()
        self.env = {**os.environ, "TMPDIR": str(folder), kills.TOKEN: str(folder), "SUITE_COMMIT": "trust"}
        # Without bytecode each fresh Python would compile its imports for seconds.
        self.env |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
        folder.mkdir(parents=True)

    def faked(self, fault: str = "good", **offered: Any) -> "Bench":
        """Let a fake Python take the place of JAX's."""
        python = fake.interpreter(self.folder / "interpreter", **offered)
        self.env |= {"SUITE_JAX_PYTHON": str(python), "FAKE": fault}
        self.default = ("--all",)
        return self

    def offering(self, **fields: Any) -> "Bench":
        """Change what the fake Python says that it can run."""
        offer = self.folder / "interpreter" / "offer.json"
        offer.write_bytes(msgspec.json.encode(msgspec.json.decode(offer.read_bytes()) | fields))
        return self

    def answering(self, shell: str) -> "Bench":
        """Let the fake Python do this first when it is asked what it can run; `shell` is a script that may end it."""
        python = self.folder / "interpreter" / "python"
        first, _, rest = python.read_text().partition("\n")
        python.write_text(f'{first}\nif [ "$2" = suite.worker.probe ]; then\n{shell}\nfi\n{rest}')
        return self

    def working(self, shell: str) -> "Bench":
        """Let the fake Python do this first when it is started as a worker; `$count` counts from 1."""
        python = self.folder / "interpreter" / "python"
        first, _, rest = python.read_text().partition("\n")
        count = 'count=1; while ! mkdir "$(dirname "$0")/worker-$count" 2>/dev/null; do count=$((count + 1)); done'
        python.write_text(f'{first}\nif [ "$2" = suite.worker.main ]; then\n{count}\n{shell}\nfi\n{rest}')
        return self

    def start(
        self, *arguments: str, prefix: tuple[str, ...] = (), planted: tuple[Any, ...] = (), **options: Any
    ) -> "forks.Forked | subprocess.Popen":
        """Start the command line in a session of its own, in a fork if possible, with what is planted in it."""
        log = self.folder / "log"
        if not (prefix or options) and forks.permits(self.env):
            return forks.Forked({
                "arguments": arguments, "environment": self.env, "folder": str(self.current), "log": str(log),
                "planted": planted,
            })  # fmt: skip
        assert not planted, "nothing can be planted in a fresh Python"
        command = [*prefix, sys.executable, "-m", "suite", *arguments]
        with log.open("wb") as said:
            return subprocess.Popen(
                command, env=self.env, cwd=self.current, stdout=said, stderr=said, start_new_session=True, **options
            )

    def run(self, *arguments: str, **options: Any) -> Ran:
        """Run `suite run --profile smoke` with more arguments to its end."""
        every = () if arguments and not arguments[0].startswith("-") else self.default
        return self.ran("run", "--profile", "smoke", "--out", str(self.out), *every, *arguments, **options)

    def ran(self, *arguments: str, **options: Any) -> Ran:
        """Run the command line to its end."""
        start = time.monotonic()
        code = self.start(*arguments, **options).wait(300)
        return self.loaded(code, time.monotonic() - start)

    def loaded(self, code: int, seconds: float = 0.0) -> Ran:
        """Return a run that ended with this code, with its records."""
        records, problems = store.load([self.out])
        return Ran(code=code, said="; ".join((self.said(), *problems)), seconds=seconds, records=records)

    def said(self) -> str:
        """Return what the last command printed, in one line."""
        return " ".join((self.folder / "log").read_text(errors="replace").split())

    def journal(self) -> Journal:
        """Return the journal of the only campaign."""
        (path,) = self.out.glob(f"*/{FILE_NAME}")
        return Journal(path)

    def workers(self, module: str) -> list[int]:
        """Return the processes of this folder that run a module."""
        found = []
        for process in kills.alive(str(self.folder)):
            with contextlib.suppress(OSError):
                if module.encode() in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0"):
                    found.append(process)
        return found

    def wait_for_worker(self, after: float = 0.0, module: str = "suite.worker.main") -> int:
        """Return a child's process some seconds after it was started."""
        until = time.monotonic() + 60
        while not (found := self.workers(module)):
            if time.monotonic() > until:
                raise TimeoutError(f"no {module} was started")
            time.sleep(0.01)
        time.sleep(after)
        return found[0]

    def orphans(self) -> list[int]:
        """Return what is left of this folder's processes after some patience."""
        return [] if kills.gone(str(self.folder)) is not None else kills.alive(str(self.folder))


Outcome = tuple[bool, str]  # as it had to be, and what was found
Function = Callable[[Bench], Outcome]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is injected, what has to come of it, and which check sees it; those of the sample are quick."""

    what: str
    expected: str
    by: str
    sample: bool
    function: Function

    def finding(self, folder: Path) -> Finding:
        """Inject it in a folder, and return what became of it."""
        try:
            good, found = self.function(Bench(folder))
        except Exception as error:
            good, found = False, f"{type(error).__name__}: {error}"
        return Finding(what=self.what, expected=self.expected, found=anonymous(found)[:400], by=self.by, good=good)


FAULTS: list[Fault] = []


def fault(what: str, expected: str, by: str, sample: bool = False) -> Callable[[Function], Function]:
    """Add a fault."""

    def add(function: Function) -> Function:
        FAULTS.append(Fault(what=what, expected=expected, by=by, sample=sample, function=function))
        return function

    return add


def recorded(ran: Ran, words: str) -> Outcome:
    """Return whether a run ended with exit 1, as nothing has a result, and every record says the words."""
    good = ran.code == 1 and bool(ran.records) and all(words in reason for reason in ran.reasons)
    return good, f"exit {ran.code}; {'; '.join(sorted(ran.reasons)) or ran.said[-300:]}"


def refused(ran: Ran, *words: str) -> Outcome:
    """Return whether a run ended with exit 1, the words and no traceback."""
    good = ran.code == 1 and all(each in ran.said for each in words) and "Traceback" not in ran.said
    return good, f"exit {ran.code}; {ran.said.rpartition('Error: ')[2][:300]}"


def refused_with_nothing_left(place: Bench, ran: Ran, *words: str) -> Outcome:
    """Return whether a run was refused with the words, and left no folder of a campaign."""
    good, found = refused(ran, *words)
    left = sorted(path.name for path in place.out.glob("*"))
    return good and not left, f"{found}; left: {', '.join(left) or 'nothing'}"


def whole(ran: Ran, *words: str) -> Outcome:
    """Return whether a run gave all its results, and said these words."""
    good = ran.good and all(each in ran.said for each in words) and "Traceback" not in ran.said
    notes = f"; {'; '.join(words)}" if words else ""
    return good, f"exit {ran.code}; {len(ran.records)} records" + (
        notes if good else f"; {'; '.join(ran.reasons)}; {ran.said[-300:]}"
    )


def in_process(place: Bench, what: str, profile: Any, limits: dict[str, float] | None = None) -> tuple[Record, ...]:
    """Return the records of a campaign of one case, run here with the fake worker and without waiting for quiet."""
    place.faked(what)
    case = Case(workload=fake.NAMES[0], backend="cpu", scope="step", batch=8)
    header = campaign.planned([case], [fake.description(case.workload)], profile, HERE, datetime.now(UTC))
    journal = Journal(place.out / header.campaign / FILE_NAME)
    journal.append(header)
    run_here(place, journal, dict.fromkeys(collect.STAGE_TIMEOUT_SECONDS, 60.0) | (limits or {}))
    return campaign.records(journal.header(), journal.done())


def run_here(place: Bench, journal: Journal, limits: dict[str, float] = collect.STAGE_TIMEOUT_SECONDS) -> None:
    """Measure in this process what the journal lacks with the fake worker."""

    def start(unit: campaign.ProcessGroup) -> Any:
        return children.child("suite.worker.main", python=place.env["SUITE_JAX_PYTHON"], env=place.env)

    quiet = mock.patch.object(runner, "wait_until_quiet", return_value=0.0)
    with PATCHES, quiet, mock.patch.object(collect, "STAGE_TIMEOUT_SECONDS", limits):
        runner.run(journal.header(), journal, mock.Mock(), start)

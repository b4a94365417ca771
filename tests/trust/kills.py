"""Campaigns that are killed and resumed until they are done: `python -m trust.kills SERIES`.

SERIES is JSON. What comes of it is printed as one JSON object. Each run is the whole command line in a process forked
from this one, which has imported it before and inherits whatever outlives a run. Nothing else is spared: the parent
asks the fake for its offer, takes its locks, and starts its telemetry each time.
"""

import contextlib
import ctypes
import functools
import gc
import itertools
import json
import math
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec
import scipy.special  # noqa: F401 - imported once instead of in every fork, as are tables

from suite import cli
from suite.data import store as datasets
from suite.data.datasets import edition
from suite.data.edition import Size
from suite.driver import profiles
from suite.driver.journal import FILE_NAME, CompletedRun, Journal
from suite.report.parts import frameworks, tables  # noqa: F401
from suite.results.records import store
from suite.sessions import bench, resuming  # noqa: F401
from suite.system import software
from trust import fake
from trust.deaths import Deaths

TOKEN = "TRUST_TOKEN"  # in the environment of every process of ours
_ORPHAN_SECONDS, _RUN_SECONDS = 5.0, 300.0
_MOST = 8  # kills of one campaign, so that each is done some time
_PR_SET_CHILD_SUBREAPER = 36  # of Linux' prctl


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Campaigns of one kind, one after another."""

    folder: str
    seed: int
    number: int = 0  # of several with one seed
    of: int = 1
    names: tuple[str, ...]  # of the workloads
    options: tuple[str, ...]
    longest: float = 0.0  # seconds before a kill; 0: killed at a call
    kills: int | None = None  # wanted; None: as many as the seconds allow
    seconds: float | None = None
    faked: bool = True  # the worker
    telemetry: str = ""  # the Python in whose place the telemetry starts; '': this one


class Tally:
    """What the kills did."""

    def __init__(self) -> None:
        self.kills = self.each = self.campaigns = self.completed = self.before_a_plan = 0  # each: at a call in turn
        self.calls = self.left = 0  # of a campaign that is let be; calls whose turn did not come
        self.seconds = self.slowest_end = 0.0
        self.at: dict[str, int] = {}  # kills by the call they came at
        self.troubles: list[str] = []

    def check(
        self, journal: Journal, known: dict[tuple[str, int], CompletedRun]
    ) -> dict[tuple[str, int], CompletedRun]:
        """Return what the journal now holds; note what was lost, changed or came twice."""
        entries = [entry for entry in journal.entries() if isinstance(entry, CompletedRun)]
        found = {(entry.case.text(0), entry.run.round): entry for entry in entries}
        if len(found) != len(entries):
            self.troubles.append(f"{len(entries) - len(found)} samples twice")
        lost = [key for key, entry in known.items() if found.get(key) != entry]
        if lost:
            self.troubles.append(f"lost or changed: {lost}")
        return found


class Death(msgspec.Struct, frozen=True, kw_only=True):
    """When a run is killed: at the n-th call of a kind, or after some seconds; by default never."""

    call: str = ""
    nth: int = 1
    torn: float = 0.0  # share of the bytes that are on the disk, if the call is a write
    in_turn: bool = False  # not by chance
    seconds: float = 0.0


def started(arguments: list[str], log: Path, before: Callable[[], object] = lambda: None) -> int:
    """Fork, run the command line in the child and return its process."""
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        os.setsid()
        handle = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        before()
        cli.main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(code)


def ended(process: int, seconds: float) -> int | None:
    """Return the exit code of a process that ends in time, else None."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def alive(token: str) -> list[int]:
    """Return the processes, beside this one, that were started with the token and are not yet gone."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            ours = f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes().split(b"\0")
            if ours and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def gone(token: str) -> float | None:
    """Return after how many seconds no process of the token was left; None if one stays."""
    start = time.monotonic()
    while time.monotonic() < start + _ORPHAN_SECONDS:
        if not alive(token):
            return time.monotonic() - start
        time.sleep(0.005)
    return None


def inherit() -> None:
    """Become the parent of every process below this one whose parent ends. Raises LookupError if the system cannot."""
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise LookupError("this system gives no process what its children leave (PR_SET_CHILD_SUBREAPER)")


def childless(seconds: float = _ORPHAN_SECONDS) -> float | None:
    """Return after how many seconds this process had no child, of its own or inherited; None if one stays."""
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.0005)
        except ChildProcessError:
            return time.monotonic() - start
    return None


def children() -> list[int]:
    """Return this process's children, own and inherited, by the process table; none is reaped."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found


class Killing:
    """A series of campaigns, each killed and resumed until it is done."""

    def __init__(self, series: Series) -> None:
        self.series, self.tally, self.deaths = series, Tally(), Deaths()
        self.folder = Path(series.folder)
        self.calls: list[tuple[str, int]] = []  # of a campaign that is let be

    def go(self) -> Tally:
        """Kill until there are enough kills, the time is over or something was lost; return the tally.

        Each call has its turn, however long that takes.
        """
        series, tally = self.series, self.tally
        began = time.monotonic()
        until = began + (math.inf if series.seconds is None else series.seconds)
        every = [] if series.longest else self.every_call()
        for number in itertools.count():
            enough = tally.kills + tally.each >= (series.kills or math.inf)
            if enough or tally.troubles or (time.monotonic() > until and not every):
                tally.left, tally.seconds = len(every), time.monotonic() - began
                return tally
            dice = random.Random(f"{series.seed}/{series.number}/{number}")
            self.campaign(str(number), self.chain(dice, every.pop() if every else None))
            tally.troubles = [f"campaign {series.number}/{number}: {trouble}" for trouble in tally.troubles]
        raise AssertionError

    def every_call(self) -> list[Death]:
        """Let a campaign be, and return a death at each of its calls: those of this series, in random order."""
        self.campaign("whole", iter(()))
        self.calls = self.deaths.numbered()
        self.tally.calls = len(self.calls)
        ways = {"write": (0.0, 0.3, 0.7)}
        each = [(*call, torn) for call in self.calls for torn in ways.get(call[0], (0.0,))]
        mine = each[self.series.number :: self.series.of]
        every = [Death(call=call, nth=nth, torn=torn, in_turn=True) for call, nth, torn in mine]
        random.Random(self.series.seed).shuffle(every)
        return every

    def chain(self, dice: random.Random, first: Death | None) -> Iterator[Death]:
        """Yield the deaths of a campaign: the one whose turn it is, then random ones."""
        if first is not None:
            yield first
        for _ in range(_MOST):
            if self.series.longest:
                yield Death(seconds=dice.uniform(0, self.series.longest))
            else:
                among = len(self.calls) // dice.choice((1, 2, 4))  # a resumed run seldom comes to the later ones
                call, nth = self.calls[dice.randrange(among)]
                yield Death(call=call, nth=nth, torn=dice.choice((0.0, dice.random())))

    def campaign(self, name: str, deaths: Iterator[Death]) -> None:
        """Start a campaign, kill it and resume it until it is done, and check what it left."""
        folder, tally, known = self.folder / name, self.tally, {}
        out = folder / "out"
        out.mkdir(parents=True)
        asked = ["run", *self.series.names, "--backend", "cpu", *self.series.options, "--out", str(out)]
        while True:
            code = self.run(asked, folder, next(deaths, Death()))
            journals = list(out.glob(f"*/{FILE_NAME}"))
            if tally.troubles:
                break
            if not journals:
                tally.before_a_plan += 1
                for begun in out.glob("*/"):
                    shutil.rmtree(begun)
                continue
            known = tally.check(Journal(journals[0]), known)
            if code == 0 or resuming.has_ended(Journal(journals[0])):
                finish(out, known, tally)
                break
            asked = ["run", "--resume", "--out", str(out)]
        tally.campaigns += 1
        if not tally.troubles:
            shutil.rmtree(folder)

    def run(self, asked: list[str], folder: Path, death: Death) -> int:
        """Run the command line to its end or death, and return its exit code; note whoever outlives it."""
        tally, log = self.tally, folder / "log"
        self.deaths.forget()
        process = started(asked, log, before=functools.partial(self.prepared, folder, death))
        code = ended(process, death.seconds or _RUN_SECONDS)
        if code is None:
            os.kill(process, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        seconds = childless()
        if seconds is None:
            left = children()
            tally.troubles.append(f"orphans: {[said(process) for process in left]}")
            for orphan in left:
                os.kill(orphan, signal.SIGKILL)
            childless()
        elif code == -signal.SIGKILL:
            tally.slowest_end = max(tally.slowest_end, seconds)
            tally.kills += not death.in_turn
            tally.each += death.in_turn
            at = (self.deaths.calls() or ["some time"])[-1] + (" torn" if self.deaths.torn else "")
            tally.at[at] = tally.at.get(at, 0) + 1
        if code not in (0, -signal.SIGKILL) or (code and not (death.call or death.seconds)):
            tally.troubles.append(f"exit code {code}: {log.read_text()[-300:]}")
        return code

    def prepared(self, folder: Path, death: Death) -> None:
        """Give the forked process temporary files of its own, as another user's, and its death."""
        os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
        if not self.series.longest:
            self.deaths.arm(death.call, death.nth, death.torn)


def pretend_data() -> None:
    """Let the data set that the fake's workloads name be there: nobody reads it, and making it takes seconds."""
    for size in get_args(Size):
        datasets.path(fake.DATASET, edition=edition(fake.DATASET, size)).mkdir(parents=True, exist_ok=True)


def warm_up(series: Series) -> None:
    """Run a campaign in this process: what a run imports, compiles and reads of the machine, every fork then has."""
    home = Path(series.folder) / "warm"
    home.mkdir()
    before = os.dup(1), os.dup(2)
    with (home / "log").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    with contextlib.suppress(SystemExit):
        cli.main(["run", *series.names, "--backend", "cpu", "--rounds", "1", "--out", str(home / "out")])
    for number, kept in enumerate(before, 1):
        os.dup2(kept, number)
        os.close(kept)


def said(process: int) -> str:
    """Return what a process was started as."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[-80:]
    except OSError:
        return "gone"


def finish(folder: Path, known: dict[tuple[str, int], CompletedRun], tally: Tally) -> None:
    """Check that the records are whole and hold what the journal held."""
    records, problems = store.load([folder])
    tally.troubles += problems
    runs = {(record.case.text(0), run.round): run for record in records for run in record.runs}
    if {key: entry.run for key, entry in known.items()} != runs:
        tally.troubles.append("the records differ from the journal")
    for record in records:
        if len(record.runs) != record.rounds or record.reason:
            tally.troubles.append(f"{record.name}: {len(record.runs)} of {record.rounds} rounds, {record.reason!r}")
    placed = {path.stat().st_ino for path in folder.glob("*/*.json")}
    if any(draft.stat().st_ino not in placed for draft in folder.glob("*/.writing-*")):
        tally.troubles.append("drafts are left over")  # but for a second name of the last record, which nothing reads
    tally.completed += len(runs)


def prepare(series: Series) -> None:
    """Have this process ready for many forks."""
    inherit()
    profiles.EFFORTS["quick"] = replace(profiles.EFFORTS["quick"], quiet_seconds=0)
    software.code = functools.cache(software.code)  # the files stay as they are while this lasts
    software.code()
    sys.executable = series.telemetry or sys.executable
    if series.faked:
        pretend_data()
        warm_up(series)
    gc.freeze()  # a fork copies no page for its collector's sake


def main() -> None:
    """Print what the kills did."""
    series = msgspec.json.decode(sys.argv[1], type=Series)
    prepare(series)
    print(json.dumps(vars(Killing(series).go())))


if __name__ == "__main__":
    main()

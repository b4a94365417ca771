"""Campaigns that are killed at random points and resumed until they are done: `python -m trust.kills`.

Arguments: a folder, a seed, how many kills, the longest wait before a kill in seconds, the workloads. It prints one
JSON object. Each run is the whole command line in a process forked from this one, which has imported it before.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import scipy.special  # noqa: F401 - imported once instead of in every fork, as are tables

from suite import cli
from suite.driver import profiles
from suite.driver.journal import FILE_NAME, CompletedRun, Journal
from suite.report.parts import frameworks, tables  # noqa: F401
from suite.results.records import store
from suite.sessions import resuming

TOKEN = "TRUST_TOKEN"  # in the environment of every process of ours
_ORPHAN_SECONDS, _RUN_SECONDS = 5.0, 300.0
_MOST = 8  # kills of one campaign, so that each is done some time


def started(arguments: list[str], log: Path) -> int:
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
        time.sleep(0.002)
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


def gone(token: str, besides: frozenset[int] = frozenset()) -> float | None:
    """Return after how many seconds no process of the token was left; None if one stays."""
    start = time.monotonic()
    while time.monotonic() < start + _ORPHAN_SECONDS:
        if not set(alive(token)) - besides:
            return time.monotonic() - start
        time.sleep(0.005)
    return None


class Tally:
    """What the kills did."""

    def __init__(self) -> None:
        self.kills = self.campaigns = self.completed = self.before_a_plan = 0
        self.slowest_end = 0.0
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


def campaign(folder: Path, names: list[str], profile: str, dice: random.Random, longest: float, tally: Tally) -> None:
    """Start a campaign, kill it and resume it until it is done, and check what it left."""
    token, known = os.environ[TOKEN], {}
    parents = frozenset(alive(token))
    asked = ["run", *names, "--profile", profile, "--backend", "cpu", "--out", str(folder)]
    kills = 0
    while True:
        process = started(asked, folder.with_suffix(".log"))
        patience = dice.uniform(0, longest) if kills < _MOST else _RUN_SECONDS
        code = ended(process, patience)
        if code is None:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            kills += 1
        seconds = gone(token, parents)
        if seconds is None:
            tally.troubles.append(f"orphans: {sorted(set(alive(token)) - parents)}")
            break
        if code is None:
            tally.slowest_end = max(tally.slowest_end, seconds)
        journals = list(folder.glob(f"*/{FILE_NAME}"))
        if code not in (None, 0):
            tally.troubles.append(f"exit code {code}: {folder.with_suffix('.log').read_text()[-300:]}")
            break
        if not journals:
            tally.before_a_plan += 1
            for begun in folder.glob("*/"):
                shutil.rmtree(begun)
            continue
        known = tally.check(Journal(journals[0]), known)
        if code == 0 or resuming.has_ended(Journal(journals[0])):
            finish(folder, known, tally)
            break
        asked = ["run", "--resume", "--out", str(folder)]
    tally.kills += kills
    tally.campaigns += 1


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
    if list(folder.glob("*/.writing-*")):
        tally.troubles.append("drafts are left over")
    tally.completed += len(runs)


def main() -> None:
    """Print what the kills did."""
    folder, seed, wanted, longest, profile, names = Path(sys.argv[1]), *sys.argv[2:6], sys.argv[6:]
    profiles.EFFORTS["quick"] = replace(profiles.EFFORTS["quick"], quiet_seconds=0)
    dice, tally = random.Random(int(seed)), Tally()
    while tally.kills < int(wanted) and not tally.troubles:
        campaign(folder / f"{tally.campaigns}", names, profile, dice, float(longest), tally)
    print(json.dumps(vars(tally)))


if __name__ == "__main__":
    main()

"""A campaign's journal: an append-only file of its plan and completed runs, each line with its own checksum.

It stays on its machine: it identifies the machine, and records never do.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from suite.case import Case
from suite.results.records import files
from suite.results.records.machine import Machine, Software
from suite.results.records.record import Profile
from suite.results.records.run import Run
from suite.results.records.store import write_once
from suite.workload import Description, Plain

FILE_NAME = "journal.jsonl"
PLAN_VERSION = 1  # 0: planned rounds, up to `most_rounds` if an interval is wide; 1: passes until a budget is spent


class Header(Plain, frozen=True, kw_only=True, tag="campaign"):
    """The campaign's plan, which a resumed campaign follows."""

    campaign: str
    created: str
    profile: Profile
    rounds: int
    seed: int
    machine: Machine
    commit: str
    cases: tuple[Case, ...]
    descriptions: tuple[Description, ...]
    experiment: str = ""
    energy: bool = True  # whether it is measured where counters exist
    case_rounds: tuple[int, ...] = ()  # rounds of each case; empty: `rounds` for all
    version: int = 0  # PLAN_VERSION of the suite that made the plan
    within: float | None = None  # half-width that ends the added rounds; None: planned rounds only
    budget_seconds: float | None = None  # wall time of the command; None: no limit
    is_reference: bool = msgspec.field(name="cpu_first", default=False)  # a reference round; stored by its former name
    known_hosts: tuple[int, ...] = ()  # of each case of a reference round, the hosts of its kind that are published
    most_rounds: int = 0  # of plans of version 0, if an interval is too wide
    code: str = ""  # digest of the suite's modules; '' in older plans
    settings: dict[str, str] | None = None  # of all processes, from the environment; None in older plans
    # Each implementation's Python and packages, name to version, when the campaign began; empty in older plans.
    software: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)

    def rounds_of(self, case: Case) -> int:
        """Return how many rounds the case has."""
        return self.case_rounds[self.cases.index(case)] if self.case_rounds else self.rounds

    def rounds_by_case(self) -> dict[Case, int]:
        """Return how many rounds each case has."""
        return dict(zip(self.cases, self.case_rounds or (self.rounds,) * len(self.cases), strict=True))

    @property
    def adaptive(self) -> bool:
        """Whether rounds are added until the intervals are narrow enough."""
        return self.within is not None

    def with_rounds(self, case_rounds: tuple[int, ...]) -> "Header":
        """Return the plan with these rounds of the cases."""
        return msgspec.structs.replace(self, rounds=max(case_rounds), case_rounds=case_rounds)


class CompletedRun(Plain, frozen=True, kw_only=True, tag="run"):
    """One process's run of one case."""

    case: Case
    software: Software
    run: Run
    seconds: float = 0.0  # of its process from start to end, without the energy window; 0: unknown


class Session(Plain, frozen=True, kw_only=True, tag="session"):
    """Measuring starts or resumes in a place; the entries after it were measured there."""

    place: str  # the same for one machine until it restarts, see suite/system/boot_id.py


class Rounds(Plain, frozen=True, kw_only=True, tag="rounds"):
    """From here on the plan has these rounds of the cases."""

    case_rounds: tuple[int, ...]


class Closed(Plain, frozen=True, kw_only=True, tag="closed"):
    """The campaign has ended; cases that lack rounds stay incomplete."""


Entry = Header | Session | Rounds | CompletedRun | Closed

_ROUNDS = b'{"type":"rounds"'  # prefix that finds these few entries without decoding the many others


class Journal:
    """A campaign's journal on disk; an entry survives this process once `append` has returned."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, *entries: Entry) -> None:
        """Append entries together and wait until they are on disk.

        Raises RuntimeError if they cannot be written.
        """
        bodies = map(msgspec.json.encode, entries)
        lines = b"".join(b"%08x %s\n" % (zlib.crc32(body), body) for body in bodies)
        if not self.path.exists():  # written atomically: without its plan a journal is useless
            write_once(self.path, lines)
            return
        try:
            with self.path.open("ab+") as file:
                file.write(b"\n" if _cut_short(file) else b"")
                file.write(lines)
                files.sync(file)
        except OSError as error:
            refused = files.refusal(self.path, error)
            raise RuntimeError(f"{refused}, then run --resume: completed runs are kept") from error

    def entries(self) -> Iterator[Entry]:
        """Yield every entry whose checksum is right; lines cut short by a crash are skipped.

        Raises ValueError for an intact entry of another version.
        """
        return map(self._entry, self._bodies())

    def _bodies(self) -> Iterator[bytes]:
        if not self.path.exists():
            return
        try:
            content = files.content(self.path)
        except OSError as error:
            raise ValueError(
                f"cannot read '{self.path}': {error.strerror or error}; move it away to continue"
            ) from None
        for line in content.split(b"\n"):
            check, _, body = line.rstrip(b"\r").partition(b" ")  # git or an editor may have changed the line ends
            if body and check == b"%08x" % zlib.crc32(body):
                yield body

    def _entry(self, body: bytes) -> Entry:
        try:
            return msgspec.json.decode(body, type=Entry)
        except msgspec.DecodeError as error:
            raise ValueError(
                f"'{self.path}' was written by another version of the suite ({error}); resume with that version, or "
                "start a new run"
            ) from None

    def header(self) -> Header:
        """Return the campaign's plan with its current rounds.

        Raises ValueError if the journal does not begin with one.
        """
        bodies = self._bodies()
        plan = self._plan(next(bodies, None))
        for body in bodies:
            if body.startswith(_ROUNDS):
                plan = plan.with_rounds(msgspec.json.decode(body, type=Rounds).case_rounds)
        return plan

    def planned(self) -> Header:
        """Return the campaign's original plan.

        Raises ValueError if the journal does not begin with one.
        """
        return self._plan(next(self._bodies(), None))

    def _plan(self, body: bytes | None) -> Header:
        plan = self._entry(body) if body else None
        if not isinstance(plan, Header):
            raise ValueError(f"'{self.path}' does not begin with a campaign's plan; remove it and start a new run")
        return plan

    def done(self) -> tuple[CompletedRun, ...]:
        """Return the completed runs in order, one for each case and round.

        A round that was cut by a change of place is dropped: its pairs are measured again in the new place.
        """
        runs: dict[tuple[Case, int], CompletedRun] = {}
        plan: Header | None = None
        place = None
        for entry in self.entries():
            match entry:
                case Header():
                    plan = entry
                case Rounds() if plan is not None:
                    plan = plan.with_rounds(entry.case_rounds)
                case Session():
                    if place != entry.place and plan is not None:
                        runs = _whole_rounds(runs, plan.rounds_by_case())
                    place = entry.place
                case CompletedRun():
                    runs.setdefault((entry.case, entry.run.round), entry)
        rounds = plan.rounds_by_case() if plan else {}
        return tuple(entry for (case, number), entry in runs.items() if number < rounds.get(case, number + 1))

    def closed(self) -> bool:
        """Return whether the campaign was ended before it had all its rounds."""
        return any(isinstance(entry, Closed) for entry in self.entries())

    def place(self) -> str | None:
        """Return the latest place of measuring; None before it began."""
        return next((e.place for e in reversed(tuple(self.entries())) if isinstance(e, Session)), None)


def _cut_short(file: BinaryIO) -> bool:
    """Return whether the last line lacks its line break, which would corrupt the next one."""
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def _whole_rounds(
    done: dict[tuple[Case, int], CompletedRun], wanted: dict[Case, int]
) -> dict[tuple[Case, int], CompletedRun]:
    """Return the runs of complete rounds: those in which all of a workload's cases were measured.

    `wanted` gives each case's rounds. A failed case is not retried.
    """
    failed = {case: number for (case, number), entry in done.items() if entry.run.reason}
    cut = {
        (case.workload, number)
        for case, rounds in wanted.items()
        for number in range(rounds)
        if (case, number) not in done and failed.get(case, number) >= number
    }
    return {(case, number): entry for (case, number), entry in done.items() if (case.workload, number) not in cut}


def journals(folder: Path) -> tuple[Journal, ...]:
    """Return the journals of all campaigns below a folder, last written first."""
    paths = (path for path in folder.glob(f"*/{FILE_NAME}") if path.is_file())
    return tuple(map(Journal, sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)))

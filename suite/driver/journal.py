"""What a campaign has completed so far: an append-only file whose every line carries its own checksum.

It stays where it was made: what tells one machine from another is in it, and never in a record.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from suite.case import Case
from suite.results.records.machine import Machine, Software
from suite.results.records.record import Profile
from suite.results.records.run import Run
from suite.results.records.store import write_once
from suite.workload import Description, Plain

FILE_NAME = "journal.jsonl"
PLAN_VERSION = 1  # 0: planned rounds, up to `most_rounds` where an interval is wide; 1: passes until a budget is spent


class Header(Plain, frozen=True, kw_only=True, tag="campaign"):
    """The campaign as it was planned; a resumed one goes by this."""

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
    energy: bool = True  # whether it is counted where it can be
    case_rounds: tuple[int, ...] = ()  # how many of the rounds have each of the cases; empty: all of them
    version: int = 0  # PLAN_VERSION of the suite that made the plan
    within: float | None = None  # rounds are added until every number is known so well; None: planned rounds alone
    budget_seconds: float | None = None  # wall time of the command that measures; None: as long as it takes
    cpu_first: bool = False  # a round has all of the CPU first, then JAX on the GPU, then its baselines there
    most_rounds: int = 0  # of plans of version 0, where an interval is too wide
    code: str = ""  # digest of the suite's modules; '': older, not noted
    settings: dict[str, str] | None = None  # that all processes have from the environment; None: older, not noted

    def rounds_of(self, case: Case) -> int:
        """Return how many of the campaign's rounds have the case."""
        return self.case_rounds[self.cases.index(case)] if self.case_rounds else self.rounds

    def rounds_by_case(self) -> dict[Case, int]:
        """Return how many of the campaign's rounds have each case."""
        return dict(zip(self.cases, self.case_rounds or (self.rounds,) * len(self.cases), strict=True))

    @property
    def adaptive(self) -> bool:
        """Whether rounds are added where a number is too uncertain."""
        return self.within is not None

    def with_rounds(self, case_rounds: tuple[int, ...]) -> "Header":
        """Return the plan with so many rounds of each of the cases."""
        return msgspec.structs.replace(self, rounds=max(case_rounds), case_rounds=case_rounds)


class CompletedRun(Plain, frozen=True, kw_only=True, tag="run"):
    """One process's contribution to one case."""

    case: Case
    software: Software
    run: Run
    seconds: float = 0.0  # that its process took from start to end, without counting energy; 0: not noted


class Session(Plain, frozen=True, kw_only=True, tag="session"):
    """Measuring begins, or goes on; what follows was measured there."""

    place: str  # the same for the same machine since it was started, see suite/system/boot_id.py


class Rounds(Plain, frozen=True, kw_only=True, tag="rounds"):
    """From here on the plan has so many rounds of each of the cases."""

    case_rounds: tuple[int, ...]


class Closed(Plain, frozen=True, kw_only=True, tag="closed"):
    """Nothing more is measured: what lacks rounds stays so."""


Entry = Header | Session | Rounds | CompletedRun | Closed

_ROUNDS = b'{"type":"rounds"'  # how such an entry begins: a long journal has few, and many others


class Journal:
    """A campaign's journal on disk; what `append` returned from survives the death of this process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, *entries: Entry) -> None:
        """Add entries in one piece and wait until they are on the disk.

        Raises RuntimeError if the disk or folder refuses.
        """
        bodies = map(msgspec.json.encode, entries)
        lines = b"".join(b"%08x %s\n" % (zlib.crc32(body), body) for body in bodies)
        if not self.path.exists():  # whole or not at all: without its plan a journal says nothing
            write_once(self.path, lines)
            return
        try:
            with self.path.open("ab+") as file:
                file.write(b"\n" if _cut_short(file) else b"")
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            remedy = "what was completed before is kept: free some space, then run --resume"
            raise RuntimeError(f"cannot write '{self.path}': {error.strerror or error}; {remedy}") from error

    def entries(self) -> Iterator[Entry]:
        """Yield every entry whose checksum holds; a line cut short by a crash is passed over.

        Raises ValueError for an entry that is whole and not of this version.
        """
        return map(self._entry, self._bodies())

    def _bodies(self) -> Iterator[bytes]:
        if not self.path.exists():
            return
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise ValueError(f"cannot read '{self.path}': {error.strerror or error}; move it away to go on") from None
        for line in content.split(b"\n"):
            check, _, body = line.partition(b" ")
            if body and check == b"%08x" % zlib.crc32(body):
                yield body

    def _entry(self, body: bytes) -> Entry:
        try:
            return msgspec.json.decode(body, type=Entry)
        except msgspec.DecodeError as error:
            raise ValueError(
                f"'{self.path}' was written by another version of the suite ({error}); go on with that one, "
                "or start anew"
            ) from None

    def header(self) -> Header:
        """Return the campaign's plan, with the rounds that it has by now.

        Raises ValueError if the journal does not begin with one.
        """
        bodies = self._bodies()
        plan = self._plan(next(bodies, None))
        for body in bodies:
            if body.startswith(_ROUNDS):
                plan = plan.with_rounds(msgspec.json.decode(body, type=Rounds).case_rounds)
        return plan

    def planned(self) -> Header:
        """Return the campaign's plan as it was made.

        Raises ValueError if the journal does not begin with one.
        """
        return self._plan(next(self._bodies(), None))

    def _plan(self, body: bytes | None) -> Header:
        plan = self._entry(body) if body else None
        if not isinstance(plan, Header):
            raise ValueError(f"'{self.path}' does not begin with a campaign's plan; remove it and start anew")
        return plan

    def done(self) -> tuple[CompletedRun, ...]:
        """Return the completed runs in order, one for each case and round.

        Where measuring went on in another place, the round that was cut is left out: its pairs are measured anew there.
        """
        found: dict[tuple[Case, int], CompletedRun] = {}
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
                        found = _whole_rounds(found, plan.rounds_by_case())
                    place = entry.place
                case CompletedRun():
                    found.setdefault((entry.case, entry.run.round), entry)
        rounds = plan.rounds_by_case() if plan else {}
        return tuple(entry for (case, number), entry in found.items() if number < rounds.get(case, number + 1))

    def closed(self) -> bool:
        """Return whether the campaign was ended before it had all its runs."""
        return any(isinstance(entry, Closed) for entry in self.entries())

    def place(self) -> str | None:
        """Return where measuring went on last; None before it began."""
        return next((e.place for e in reversed(tuple(self.entries())) if isinstance(e, Session)), None)


def _cut_short(file: BinaryIO) -> bool:
    """Return whether the last line lacks its end, which would spoil the next one."""
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def _whole_rounds(
    done: dict[tuple[Case, int], CompletedRun], wanted: dict[Case, int]
) -> dict[tuple[Case, int], CompletedRun]:
    """Return what belongs to rounds in which every case that they have of its workload was measured.

    `wanted` says how many rounds have each case. One that failed is not tried again.
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
    """Return the journals of all campaigns below a folder, the one written last first."""
    there = (path for path in folder.glob(f"*/{FILE_NAME}") if path.is_file())
    found = sorted(there, key=lambda path: path.stat().st_mtime, reverse=True)
    return tuple(map(Journal, found))

"""What a campaign has completed so far: an append-only file whose every line carries its own checksum."""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from suite.results.record import Machine, Profile, Run, Software
from suite.workload import Case, Description, Plain

FILE_NAME = "journal.jsonl"


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


class Done(Plain, frozen=True, kw_only=True, tag="run"):
    """One process's contribution to one case."""

    case: Case
    software: Software
    run: Run


Entry = Header | Done


class Journal:
    """A campaign's journal on disk; what `append` returned from survives the death of this process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, entry: Entry) -> None:
        """Add an entry and wait until it is on the disk.

        Raises RuntimeError if the disk or folder refuses.
        """
        body = msgspec.json.encode(entry)
        line = b"%08x %s\n" % (zlib.crc32(body), body)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RuntimeError(
                f"cannot write '{self.path}': {error.strerror or error}; "
                "free some space or choose another folder with --out, then add --resume"
            ) from error

    def entries(self) -> Iterator[Entry]:
        """Yield every entry whose checksum holds; a line cut short by a crash is passed over."""
        if not self.path.exists():
            return
        for line in self.path.read_bytes().split(b"\n"):
            check, _, body = line.partition(b" ")
            if body and check == b"%08x" % zlib.crc32(body):
                yield msgspec.json.decode(body, type=Entry)

    def header(self) -> Header:
        """Return the campaign's plan.

        Raises ValueError if the journal does not begin with one.
        """
        first: Any = next(self.entries(), None)
        if not isinstance(first, Header):
            raise ValueError(f"'{self.path}' does not begin with a campaign's plan; remove it and start anew")
        return first

    def done(self) -> tuple[Done, ...]:
        """Return the completed runs in order."""
        return tuple(entry for entry in self.entries() if isinstance(entry, Done))


def newest(folder: Path) -> Journal | None:
    """Return the journal of the newest campaign below a folder; None if there is none."""
    found = sorted(folder.glob(f"*/{FILE_NAME}"), key=lambda path: path.stat().st_mtime)
    return Journal(found[-1]) if found else None

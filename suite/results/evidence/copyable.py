"""Findings of the steps session: the time of a copyable step over that of the suite's own.

One line per workload and backend.
"""

import hashlib
from operator import attrgetter
from pathlib import Path

from suite.case import Backend
from suite.results.evidence import json_files
from suite.workload import Plain

FILE = "steps.jsonl"  # in the site's folder of evidence
FOLDER = "steps"  # of the copyable files, in the site's sources
_WRITER = "the session of steps"


class Compared(Plain, frozen=True, kw_only=True):
    """Both steps of a workload, timed in turn in separate processes."""

    schema: str = "steps/1"
    workload: str
    backend: Backend
    made: str  # the date
    commit: str
    file: str  # digest of the copied file; the page skips results of another
    machine: str
    cores: int
    packages: dict[str, str]
    rounds: int  # one process of each side
    copied_seconds: float  # of a step, median over processes
    suite_seconds: float
    ratio: float  # copied over the suite's, geometric mean over rounds
    low: float | None  # of its 95 % interval
    high: float | None


def digest(path: Path) -> str:
    """Return the digest of a copyable file, 16 hex characters."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def write(compared: Compared, folder: Path) -> Path:
    """Write a finding into the folder of evidence; return its file. Raises ValueError if that is invalid."""
    return json_files.write_line(compared, folder / FILE, attrgetter("workload", "backend"), _WRITER)


def read(folder: Path) -> tuple[Compared, ...]:
    """Return the findings on the current copyable files, which are beside the site's folder of evidence.

    Raises ValueError naming an invalid file.
    """
    every = json_files.read_lines(folder / FILE, Compared, _WRITER)
    now = {path.stem: digest(path) for path in (folder.parent / FOLDER).glob("*.py")}
    return tuple(one for one in every if one.file == now.get(one.workload))

"""Findings of the steps session: the time of a copyable step over that of the suite's own.

One line per workload and backend.
"""

import hashlib
from pathlib import Path

from suite.case import Backend
from suite.results.evidence.evidence_file import EvidenceFile

FOLDER = "steps"  # of the copyable files, in the site's sources


class Compared(EvidenceFile, frozen=True, kw_only=True):
    """Both steps of a workload, timed in turn in separate processes."""

    PLACE = "steps.jsonl"
    LINE_BY = ("workload", "backend")
    WRITER = "the session of steps"

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
    """Return the digest of a copyable file, 16 hex characters; the same with lines that end in LF or CRLF."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]


def read(folder: Path) -> tuple[Compared, ...]:
    """Return the findings on the current copyable files, which are beside the site's folder of evidence.

    Raises ValueError naming an invalid file.
    """
    every = Compared.read_all(folder)
    now = {path.stem: digest(path) for path in (folder.parent / FOLDER).glob("*.py")}
    return tuple(one for one in every if one.file == now.get(one.workload))

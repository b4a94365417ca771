"""What the session of steps found: the time of a step that one can copy over that of the suite's own.

A file for each workload and backend.
"""

import hashlib
from pathlib import Path

from suite.case import Backend
from suite.results.evidence import json_files
from suite.workload import Plain

FOLDER = "steps"  # in the site's folder of evidence, and in its sources


class Compared(Plain, frozen=True, kw_only=True):
    """Both steps of a workload, timed in turn, each in processes of its own."""

    schema: str = "steps/1"
    workload: str
    backend: Backend
    made: str  # the date
    commit: str
    file: str  # the digest of the copied file; of another one nothing is shown
    machine: str
    cores: int
    packages: dict[str, str]
    rounds: int  # a process of each side
    copied_seconds: float  # of a step, median over processes
    suite_seconds: float
    ratio: float  # copied over the suite's, geometric mean over rounds
    low: float | None  # of its 95 % interval
    high: float | None


def digest(path: Path) -> str:
    """Return the digest of a file that one can copy."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def write(compared: Compared, folder: Path) -> Path:
    """Write what was found of a workload on a backend into the folder of evidence and return its file."""
    return json_files.write(compared, folder / FOLDER / f"{compared.workload}.{compared.backend}.json")


def read(folder: Path) -> tuple[Compared, ...]:
    """Return what was found of the files as they are now, beside the site's folder of evidence.

    Raises ValueError naming a file of evidence that is no such file.
    """
    every = json_files.read_all(folder / FOLDER, Compared, "the session of steps")
    now = {path.stem: digest(path) for path in (folder.parent / FOLDER).glob("*.py")}
    return tuple(one for one in every if one.file == now.get(one.workload))

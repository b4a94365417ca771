"""What the session of steps found: the time of a step that one can copy over that of the suite's own.

A file for each workload and backend.
"""

from pathlib import Path

from suite.case import Backend
from suite.results.evidence import json_files
from suite.workload import Plain

FOLDER = "steps"  # in the site's folder of evidence


class Compared(Plain, frozen=True, kw_only=True):
    """Both steps of a workload, timed in turn, each in processes of its own."""

    schema: str = "steps/1"
    workload: str
    backend: Backend
    made: str  # the date
    commit: str
    machine: str
    cores: int
    packages: dict[str, str]
    rounds: int  # a process of each side
    copied_seconds: float  # of a step, median over processes
    suite_seconds: float
    ratio: float  # copied over the suite's, geometric mean over rounds
    low: float | None  # of its 95 % interval
    high: float | None


def write(found: Compared, folder: Path) -> Path:
    """Write what was found of a workload on a backend into the folder of evidence and return its file."""
    return json_files.write(found, folder / FOLDER / f"{found.workload}.{found.backend}.json")


def read(folder: Path) -> tuple[Compared, ...]:
    """Return what was found last, by workload and backend. Raises ValueError naming the file that is no such file."""
    return json_files.read_all(folder / FOLDER, Compared, "the session of steps")

"""What the learning session found: does a network learn, and does it fail where it is broken?

A file for each network and backend.
"""

from pathlib import Path

from suite.results.evidence import json_files
from suite.workload import Plain

FOLDER = "learning"  # in the site's folder of evidence


class Trained(Plain, frozen=True, kw_only=True):
    """A network, trained from each seed on an embedded set and judged by examples that it never saw."""

    data: str
    batch: int
    steps: int
    examples: int  # of the validation
    accuracies: tuple[float, ...]  # by seed
    bound: float  # that each has to reach
    broken: dict[str, float]  # what was broken to the accuracy that was left, from the first seed

    @property
    def spread(self) -> float:
        """The best accuracy less the worst."""
        return max(self.accuracies) - min(self.accuracies)

    @property
    def good(self) -> bool:
        """Whether every seed reaches the bound, and nothing broken does."""
        return min(self.accuracies) >= self.bound and max(self.broken.values(), default=0.0) < self.bound


class LossCheck(Plain, frozen=True, kw_only=True):
    """Something else that had to happen to a network's loss; `found` says why it was not tried where `good` is None."""

    expected: str
    found: str
    good: bool | None


class LearningCheck(Plain, frozen=True, kw_only=True):
    """All that was tried with one network, as far as it is tried with it."""

    schema: str = "learning/1"
    network: str
    made: str  # the date
    commit: str
    machine: str
    cores: int
    backend: str
    seconds: float
    seeds: tuple[int, ...]
    trained: Trained | None
    checks: tuple[LossCheck, ...]

    @property
    def good(self) -> bool:
        """Whether all that was tried is as it has to be."""
        return (self.trained is None or self.trained.good) and all(check.good is not False for check in self.checks)


def write(check: LearningCheck, folder: Path) -> Path:
    """Write what was found of a network on a backend into the folder of evidence and return its file."""
    return json_files.write(check, folder / FOLDER / f"{check.network}.{check.backend}.json")


def read(folder: Path) -> tuple[LearningCheck, ...]:
    """Return what was found last, by network and backend. Raises ValueError naming the file that is no such file."""
    return json_files.read_all(folder / FOLDER, LearningCheck, "the learning session")

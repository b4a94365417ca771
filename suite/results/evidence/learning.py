"""Findings of the learning session: each network learns, and fails if it is broken.

One line per network and backend.
"""

from suite.results.evidence.evidence_file import EvidenceFile
from suite.workload import Plain


class Trained(Plain, frozen=True, kw_only=True):
    """A network trained from each seed on an embedded set, judged on held-out examples."""

    data: str
    batch: int
    steps: int
    examples: int  # of the validation
    accuracies: tuple[float, ...]  # by seed
    bound: float  # accuracy that each must reach
    broken: dict[str, float]  # broken part to remaining accuracy, first seed

    @property
    def spread(self) -> float:
        """The best accuracy minus the worst."""
        return max(self.accuracies) - min(self.accuracies)

    @property
    def good(self) -> bool:
        """Whether every seed reaches the bound, and no broken network does."""
        return min(self.accuracies) >= self.bound and max(self.broken.values(), default=0.0) < self.bound


class LossCheck(Plain, frozen=True, kw_only=True):
    """A check of a network's loss; if `good` is None, `found` says why the check was skipped."""

    expected: str
    found: str
    good: bool | None


class LearningCheck(EvidenceFile, frozen=True, kw_only=True):
    """All checks of one network."""

    PLACE = "learning.jsonl"
    LINE_BY = ("network", "backend")
    WRITER = "the learning session"

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
        """Whether no check failed."""
        return (self.trained is None or self.trained.good) and all(check.good is not False for check in self.checks)

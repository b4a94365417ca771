"""What the learning session found: do the networks learn, and do broken ones fail where they pass?"""

from pathlib import Path

import msgspec

from suite.workload import Plain

FILE = "learning.json"  # in the site's folder of evidence


class Trained(Plain, frozen=True, kw_only=True):
    """One network, trained from each seed on an embedded set and judged by examples that it never saw."""

    network: str
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


class Check(Plain, frozen=True, kw_only=True):
    """Something else that had to happen to a network's loss; `found` says why it was not tried where `good` is None."""

    network: str
    expected: str
    found: str
    good: bool | None


class Learning(Plain, frozen=True, kw_only=True):
    """One run of the learning session."""

    schema: str = "learning/1"
    made: str  # the date
    commit: str
    machine: str
    cores: int
    backend: str
    seconds: float
    seeds: tuple[int, ...]
    trained: tuple[Trained, ...]
    checks: tuple[Check, ...]

    @property
    def good(self) -> bool:
        """Whether all that was tried is as it has to be."""
        return all(one.good for one in self.trained) and all(check.good is not False for check in self.checks)


def write(found: Learning, folder: Path) -> Path:
    """Write what was found into the folder of evidence and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FILE
    file.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    return file


def read(folder: Path) -> Learning | None:
    """Return what was found last; None if nothing is there.

    Raises ValueError naming the file if it is no such file.
    """
    file = folder / FILE
    if not file.exists():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=Learning)
    except msgspec.DecodeError as error:
        raise ValueError(f"'{file}' is not what the learning session writes: {error}") from error

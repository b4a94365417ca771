"""What the boosting session found: how well boosted trees of JAX and of XGBoost tell rows apart, and planted bugs."""

from pathlib import Path

from suite.results.evidence import json_files
from suite.workload import Plain

FILE = "trees.json"  # in the site's folder of evidence


class Forest(Plain, frozen=True, kw_only=True):
    """The trees of either side grown on one table: their AUC on rows that no tree has seen, from 0 to 1."""

    table: str
    columns: int
    rows: int  # grown on
    tested: int  # rows
    jax: float
    xgboost: float

    @property
    def difference(self) -> float:
        """JAX's AUC less XGBoost's."""
        return self.jax - self.xgboost


class Planted(Plain, frozen=True, kw_only=True):
    """A bug planted in the trees of JAX, and how far XGBoost's AUC is from theirs on the table that shows it best."""

    bug: str
    table: str
    rows: int
    difference: float  # as of a forest


class Trees(Plain, frozen=True, kw_only=True):
    """One run of the boosting session."""

    schema: str = "trees/1"
    made: str  # the date
    commit: str
    machine: str
    cores: int
    packages: dict[str, str]
    bound: float  # of a difference in AUC
    forests: tuple[Forest, ...]
    planted: tuple[Planted, ...]

    def seen(self, difference: float) -> bool:
        """Return whether trees that are so far from XGBoost's are told from as good ones."""
        return abs(difference) > self.bound

    @property
    def good(self) -> bool:
        """Whether the trees are as good as XGBoost's on each table, and those with a bug are not."""
        return not any(self.seen(forest.difference) for forest in self.forests) and all(
            self.seen(bug.difference) for bug in self.planted
        )


def write(trees: Trees, folder: Path) -> Path:
    """Write what was found into the folder and return the file."""
    return json_files.write(trees, folder / FILE)


def read(folder: Path) -> Trees | None:
    """Return what was found last; None if nothing is there. Raises ValueError naming the file if it is no such file."""
    return json_files.read(folder / FILE, Trees, "the boosting session")

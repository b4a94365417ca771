"""Findings of the boosting session: AUC of boosted trees of JAX and of XGBoost, and planted bugs."""

from pathlib import Path

from suite.results.evidence import json_files
from suite.workload import Plain

FILE = "trees.json"  # in the site's folder of evidence


class Forest(Plain, frozen=True, kw_only=True):
    """Trees of both implementations on one table: their AUC on held-out rows, from 0 to 1."""

    table: str
    columns: int
    rows: int  # grown on
    tested: int  # rows
    jax: float
    xgboost: float

    @property
    def difference(self) -> float:
        """JAX's AUC minus XGBoost's."""
        return self.jax - self.xgboost


class Planted(Plain, frozen=True, kw_only=True):
    """A bug planted in the trees of JAX, with the AUC difference on the table that shows it best."""

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
        """Return whether an AUC difference exceeds the bound."""
        return abs(difference) > self.bound

    @property
    def good(self) -> bool:
        """Whether the trees match XGBoost's on each table, and those with a bug do not."""
        return not any(self.seen(forest.difference) for forest in self.forests) and all(
            self.seen(bug.difference) for bug in self.planted
        )


def write(trees: Trees, folder: Path) -> Path:
    """Write the findings into the folder; return the file."""
    return json_files.write(trees, folder / FILE)


def read(folder: Path) -> Trees | None:
    """Return the latest findings; None if there are none. Raises ValueError naming the file if it is invalid."""
    return json_files.read(folder / FILE, Trees, "the boosting session")

"""Findings of the parity session: JAX against an independent implementation of each network, and planted bugs."""

from suite.results.evidence.evidence_file import EvidenceFile
from suite.workload import Plain


class Network(Plain, frozen=True, kw_only=True):
    """Errors of JAX against another implementation of one network, by check; a NaN is written as null."""

    name: str
    against: str  # "PyTorch 2.13.0"
    examples: int  # in a batch
    errors: dict[str, float | None]  # only the network's checks: inference has no gradients
    stored: float | None  # distance of the stored reference from a fresh one, relative to the bounds; None if not made
    agrees: bool


class Caught(Plain, frozen=True, kw_only=True):
    """A planted bug, and the check that caught it; None if none did."""

    bug: str
    network: str
    check: str | None


class Parity(EvidenceFile, frozen=True, kw_only=True):
    """One run of the parity session."""

    PLACE = "parity.json"
    WRITER = "the parity session"

    schema: str = "parity/1"
    made: str  # the date
    commit: str
    machine: str
    packages: dict[str, str]
    bounds: dict[str, float]
    networks: tuple[Network, ...]
    bugs: tuple[Caught, ...]


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


class Trees(EvidenceFile, frozen=True, kw_only=True):
    """One run of the boosting session."""

    PLACE = "trees.json"
    WRITER = "the boosting session"

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

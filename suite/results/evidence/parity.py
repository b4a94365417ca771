"""Findings of the parity session: JAX against an independent implementation of each network, and planted bugs."""

from pathlib import Path

from suite.results.evidence import json_files
from suite.workload import Plain

FILE = "parity.json"  # in the site's folder of evidence


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


class Parity(Plain, frozen=True, kw_only=True):
    """One run of the parity session."""

    schema: str = "parity/1"
    made: str  # the date
    commit: str
    machine: str
    packages: dict[str, str]
    bounds: dict[str, float]
    networks: tuple[Network, ...]
    bugs: tuple[Caught, ...]


def write(parity: Parity, folder: Path) -> Path:
    """Write the findings into the folder; return the file."""
    return json_files.write(parity, folder / FILE)


def read(folder: Path) -> Parity | None:
    """Return the latest findings; None if there are none. Raises ValueError naming the file if it is invalid."""
    return json_files.read(folder / FILE, Parity, "the parity session")

"""What two implementations of one network are compared by, and how far they may differ.

Gradients are compared with the larger of their own norm and a thousandth of the norm of all, because the true gradient
of a bias in front of a batch norm is zero.
"""

import math
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import numpy as np

STORED = Path(__file__).parent / "stored"
PROJECTIONS = 4
BOUNDS = {
    "parameters": 0.0,  # names and shapes
    "inputs": 0.0,  # weights and batches, by their digest
    "logits": 1e-10,
    "loss": 1e-12,
    "gradients": 1e-9,
    "steps": 1e-8,
    "statistics": 1e-9,
    "float32": 2e-6,
}


class Fingerprint(msgspec.Struct, frozen=True):
    """An array by its norm and its products with a few random arrays of unit variance.

    The root mean square of the differences of the products estimates the norm of the arrays' difference.
    """

    norm: float
    projections: tuple[float, ...]

    def distance(self, other: "Fingerprint") -> float:
        """Return the norm of the difference of the two arrays, estimated."""
        differences = np.subtract(self.projections, other.projections)
        return max(abs(self.norm - other.norm), math.sqrt(np.mean(differences**2)))


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """What one implementation computes; an inference has no gradients, steps and statistics."""

    parameters: dict[str, tuple[int, ...]]  # shapes by path, statistics among them
    inputs: str
    logits: Fingerprint
    loss: float
    gradients: dict[str, Fingerprint]
    steps: tuple[float, ...]  # the loss of each
    statistics: dict[str, Fingerprint]  # after the steps
    float32: Fingerprint  # the logits once more


def fingerprint(array: np.ndarray, path: str = "") -> Fingerprint:
    """Return an array's fingerprint; the random arrays are those of its path."""
    flat = np.asarray(array, np.float64).ravel()
    rng = np.random.default_rng(zlib.crc32(path.encode()))
    products = (float(flat @ (math.sqrt(3) * (2 * rng.random(flat.size) - 1))) for _ in range(PROJECTIONS))
    return Fingerprint(float(np.linalg.norm(flat)), tuple(products))


def fingerprints(arrays: dict[str, np.ndarray]) -> dict[str, Fingerprint]:
    """Return the fingerprints of arrays by their paths."""
    return {path: fingerprint(array, path) for path, array in sorted(arrays.items())}


def errors(mine: Numbers, reference: Numbers) -> Iterator[tuple[str, float]]:
    """Yield each check with its error, to be held against its bound; `mine` may compute what it is asked for."""
    yield "parameters", float(mine.parameters != reference.parameters)
    yield "inputs", float(mine.inputs != reference.inputs)
    yield "logits", relative(mine.logits, reference.logits)
    yield "loss", abs(mine.loss - reference.loss) / abs(reference.loss)
    total = math.hypot(*(leaf.norm for leaf in reference.gradients.values()))
    yield "gradients", worst(mine.gradients, reference.gradients, least=1e-3 * total)
    yield "steps", float(np.max(np.abs(np.subtract(mine.steps, reference.steps)), initial=0.0))
    yield "statistics", worst(mine.statistics, reference.statistics)
    yield "float32", relative(mine.float32, reference.float32)


def difference(mine: Numbers, reference: Numbers) -> str | None:
    """Return the first check whose error is beyond its bound, None if there is none; a NaN is beyond any."""
    return next((check for check, error in errors(mine, reference) if not error <= BOUNDS[check]), None)


def relative(mine: Fingerprint, reference: Fingerprint, least: float = 0.0) -> float:
    """Return the distance over the reference's norm, which counts as at least `least`."""
    return mine.distance(reference) / max(reference.norm, least)


def worst(mine: dict[str, Fingerprint], reference: dict[str, Fingerprint], least: float = 0.0) -> float:
    """Return the largest relative distance of all leaves, NaN if any is."""
    each: Iterable[float] = (relative(mine[path], leaf, least) for path, leaf in reference.items())
    return float(np.max(list(each), initial=0.0))


def stored(name: str) -> Numbers:
    """Return the reference of a network.

    Raises LookupError if there is none.
    """
    file = STORED / f"{name}.json"
    if not file.exists():
        raise LookupError(f"no reference for '{name}'; make it with python tests/parity/references.py {name}")
    return msgspec.json.decode(file.read_bytes(), type=Numbers)


def store(name: str, numbers: Numbers) -> None:
    """Write the reference of a network beside the others."""
    STORED.mkdir(exist_ok=True)
    (STORED / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(numbers), indent=1) + b"\n")

"""What two implementations of one network are compared by, and how far they may differ.

An implementation's numbers are whole arrays; a stored reference keeps a fingerprint of each, a few numbers instead of
millions. Gradients are compared with the larger of their own norm and a thousandth of the norm of all, because the true
gradient of a bias in front of a batch norm is zero.
"""

import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np

STORED = Path(__file__).parent / "stored"
PROJECTIONS = 2
DIGITS = 14  # that are stored
BOUNDS = {
    "parameters": 0.0,  # names and shapes
    "inputs": 0.0,  # weights and batches, by their digest
    "logits": 1e-10,
    "loss": 1e-12,
    "gradients": 1e-9,
    "steps": 1e-8,  # each loss, absolute
    "statistics": 1e-9,
    "float32": 2e-6,  # logits in float32 against the reference in float64
}


class Fingerprint(msgspec.Struct, frozen=True, array_like=True):
    """An array by its norm and its products with a few random arrays of unit variance.

    The root mean square of the differences of the products estimates the norm of the arrays' difference.
    """

    norm: float
    projections: tuple[float, ...]


Array = np.ndarray | Fingerprint


class Numbers(Protocol):
    """What an implementation computes; each is asked for in the order of the checks, so that it may be computed then.

    An inference has no gradients, steps and statistics.
    """

    @property
    def parameters(self) -> Mapping[str, tuple[int, ...]]:
        """Shapes by path, statistics among them."""
        ...

    @property
    def inputs(self) -> str:
        """The digest of all weights and batches."""
        ...

    @property
    def logits(self) -> Array:
        """What the network returns for the first batch."""
        ...

    @property
    def loss(self) -> float:
        """The loss of the first batch."""
        ...

    @property
    def gradients(self) -> Mapping[str, Array]:
        """The gradient of every parameter, by path."""
        ...

    @property
    def steps(self) -> tuple[float, ...]:
        """The losses of ten steps of the optimizer, batches in turn."""
        ...

    @property
    def statistics(self) -> Mapping[str, Array]:
        """The moving statistics after the steps, by path."""
        ...


class Computed(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers as whole arrays."""

    parameters: dict[str, tuple[int, ...]]
    inputs: str
    logits: np.ndarray
    loss: float
    gradients: dict[str, np.ndarray]
    steps: tuple[float, ...]
    statistics: dict[str, np.ndarray]


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers as they are stored."""

    source: str  # which implementation they are of
    parameters: dict[str, tuple[int, ...]]
    inputs: str
    logits: Fingerprint
    loss: float
    gradients: dict[str, Fingerprint] = {}
    steps: tuple[float, ...] = ()
    statistics: dict[str, Fingerprint] = {}


def errors(mine: Computed | Numbers, reference: Numbers) -> Iterator[tuple[str, float]]:
    """Yield each check with its error, to be held against its bound.

    `mine` consists of whole arrays; float32 is left out where it has no such logits.
    """
    yield "parameters", float(mine.parameters != reference.parameters)
    yield "inputs", float(mine.inputs != reference.inputs)
    yield "logits", relative("logits", mine.logits, reference.logits)
    yield "loss", abs(mine.loss - reference.loss) / abs(reference.loss)
    total = math.hypot(*map(norm, reference.gradients.values()))
    yield "gradients", worst(mine.gradients, reference.gradients, least=1e-3 * total)
    yield "steps", float(np.max(np.abs(np.subtract(mine.steps, reference.steps)), initial=0.0))
    yield "statistics", worst(mine.statistics, reference.statistics)
    if hasattr(mine, "float32"):
        yield "float32", relative("logits", mine.float32, reference.logits)


def difference(mine: Computed | Numbers, reference: Numbers) -> str | None:
    """Return the first check whose error is beyond its bound, None if there is none; a NaN is beyond any."""
    return next((check for check, error in errors(mine, reference) if not error <= BOUNDS[check]), None)


def worst(mine: Mapping[str, Array], reference: Mapping[str, Array], least: float = 0.0) -> float:
    """Return the largest relative distance of all leaves; infinite if they have different paths, NaN if any is."""
    if mine.keys() != reference.keys():
        return math.inf
    return float(np.max([relative(path, mine[path], leaf, least) for path, leaf in reference.items()], initial=0.0))


def relative(path: str, mine: Array, reference: Array, least: float = 0.0) -> float:
    """Return the distance of two arrays over the reference's norm, which counts as at least `least`."""
    away, size = distance(path, mine, reference), max(norm(reference), least)
    return away / size if size else math.inf if away else 0.0


def distance(path: str, mine: Array, reference: Array) -> float:
    """Return the norm of the difference of two arrays, estimated where the reference is a fingerprint."""
    if isinstance(reference, np.ndarray):
        return float(np.linalg.norm(mine - reference)) if mine.shape == reference.shape else math.inf
    found = mine if isinstance(mine, Fingerprint) else fingerprint(path, mine)
    differences = np.subtract(found.projections, reference.projections)
    return float(np.max([abs(found.norm - reference.norm), math.sqrt(np.mean(differences**2))]))


def norm(array: Array) -> float:
    """Return the root of the sum of squares."""
    return array.norm if isinstance(array, Fingerprint) else float(np.linalg.norm(array))


def fingerprint(path: str, array: np.ndarray) -> Fingerprint:
    """Return an array's fingerprint; the random arrays are those of its path."""
    flat = np.asarray(array, np.float64).ravel()
    rng = np.random.default_rng(zlib.crc32(path.encode()))
    products = (float(flat @ (math.sqrt(3) * (2 * rng.random(flat.size) - 1))) for _ in range(PROJECTIONS))
    return Fingerprint(written(float(np.linalg.norm(flat))), tuple(map(written, products)))


def fingerprints(arrays: Mapping[str, np.ndarray]) -> dict[str, Fingerprint]:
    """Return the fingerprints of arrays by their paths."""
    return {path: fingerprint(path, array) for path, array in sorted(arrays.items())}


def written(value: float) -> float:
    """Return the value with as many digits as are stored."""
    return float(f"{value:.{DIGITS}g}")


def stored(name: str) -> Reference:
    """Return the reference of a network.

    Raises LookupError if there is none.
    """
    file = STORED / f"{name}.json"
    if not file.exists():
        raise LookupError(f"no reference for '{name}'; make it with nox -s parity -- {name}, which says how it differs")
    return msgspec.json.decode(file.read_bytes(), type=Reference)


def store(name: str, numbers: Computed, source: str) -> None:
    """Write the reference of a network beside the others; `source` is the implementation that computed it."""
    reference = Reference(
        source=source,
        parameters=numbers.parameters,
        inputs=numbers.inputs,
        logits=fingerprint("logits", numbers.logits),
        loss=numbers.loss,
        gradients=fingerprints(numbers.gradients),
        steps=numbers.steps,
        statistics=fingerprints(numbers.statistics),
    )
    STORED.mkdir(exist_ok=True)
    (STORED / f"{name}.json").write_bytes(msgspec.json.encode(reference) + b"\n")

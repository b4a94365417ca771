"""What two implementations of one network are compared by, and how far they may differ.

An implementation's numbers are whole arrays; a stored reference keeps a fingerprint of each, a few numbers instead of
millions. Gradients are compared with the larger of their own norm and a thousandth of the norm of all, because the true
gradient of a bias in front of a batch norm is zero.
"""

import math
import zlib
from collections.abc import Iterator, Mapping

import msgspec
import numpy as np
import reference

PROJECTIONS = 2
DIGITS = 13  # that are stored
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


class Computed(msgspec.Struct, frozen=True, kw_only=True):
    """What an implementation computes, as whole arrays; an inference has no gradients, steps and statistics."""

    parameters: dict[str, tuple[int, ...]]  # shapes by path, statistics among them
    inputs: str  # the digest of all weights and batches
    logits: np.ndarray  # of the first batch
    loss: float  # of the first batch
    gradients: dict[str, np.ndarray] = {}  # by path
    steps: tuple[float, ...] = ()  # the losses of ten steps, batches in turn
    statistics: dict[str, np.ndarray] = {}  # the moving ones after the steps


class Leaf(msgspec.Struct, frozen=True, array_like=True):
    """A parameter or statistic as it is stored."""

    shape: tuple[int, ...]
    numbers: Fingerprint | None = None


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """The same as it is stored."""

    source: str  # which implementation they are of
    inputs: str
    logits: Fingerprint
    loss: float
    steps: tuple[float, ...]
    trained: dict[str, Leaf]  # with gradients
    others: dict[str, Leaf]  # with moved statistics, where there was a training

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Shapes by path, statistics among them."""
        return {path: leaf.shape for path, leaf in sorted((self.trained | self.others).items())}

    @property
    def gradients(self) -> dict[str, Fingerprint]:
        """Gradients by path."""
        return {path: leaf.numbers for path, leaf in self.trained.items() if leaf.numbers}

    @property
    def statistics(self) -> dict[str, Fingerprint]:
        """The moving statistics after the steps by path."""
        return {path: leaf.numbers for path, leaf in self.others.items() if leaf.numbers}


def errors(mine: Computed, reference: Computed | Reference) -> Iterator[tuple[str, float]]:
    """Yield each check with its error, to be held against its bound.

    `mine` may compute what it is asked for check by check. What there is not is left out: gradients of an inference,
    logits of PyTorch in float32.
    """
    yield "parameters", float(mine.parameters != reference.parameters)
    yield "inputs", float(mine.inputs != reference.inputs)
    yield "logits", relative("logits", mine.logits, reference.logits)
    yield "loss", abs(mine.loss - reference.loss) / abs(reference.loss)
    if mine.gradients or reference.gradients:
        total = math.hypot(*map(norm, reference.gradients.values()))
        yield "gradients", worst(mine.gradients, reference.gradients, least=1e-3 * total)
    if mine.steps or reference.steps:
        yield "steps", apart(mine.steps, reference.steps)
    if mine.statistics or reference.statistics:
        yield "statistics", worst(mine.statistics, reference.statistics)
    if hasattr(mine, "float32"):
        yield "float32", relative("logits", mine.float32, reference.logits)


def difference(mine: Computed, reference: Computed | Reference) -> str | None:
    """Return the first check whose error is beyond its bound, None if there is none; a NaN is beyond any."""
    return next((check for check, error in errors(mine, reference) if not error <= BOUNDS[check]), None)


def apart(mine: tuple[float, ...], reference: tuple[float, ...]) -> float:
    """Return the largest absolute difference; infinite if there are more of the ones than of the others."""
    if len(mine) != len(reference):
        return math.inf
    return float(np.max(np.abs(np.subtract(mine, reference)), initial=0.0))


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
    return Fingerprint(float(np.linalg.norm(flat)), tuple(products))


def written(fingerprint: Fingerprint) -> Fingerprint:
    """Return the fingerprint with as many digits as are stored."""
    norm, *products = (float(f"{value:.{DIGITS}g}") for value in (fingerprint.norm, *fingerprint.projections))
    return Fingerprint(norm, tuple(products))


def stored(name: str) -> Reference:
    """Return the reference of a network.

    Raises LookupError if there is none.
    """
    parts = reference.of(name)
    if "computed" not in parts:
        raise LookupError(f"nothing of PyTorch in the reference of '{name}'; nox -s parity -- --store {name} adds it")
    return msgspec.convert(parts["computed"], type=Reference)


def store(name: str, computed: Computed, source: str) -> None:
    """Write what was computed to the reference of a network; `source` is the implementation that did."""
    arrays = computed.gradients | computed.statistics
    numbers = {path: written(fingerprint(path, array)) for path, array in arrays.items()}
    leaves = {path: Leaf(shape, numbers.get(path)) for path, shape in computed.parameters.items()}
    found = Reference(
        source=source,
        inputs=computed.inputs,
        logits=written(fingerprint("logits", computed.logits)),
        loss=computed.loss,
        steps=computed.steps,
        trained={path: leaf for path, leaf in leaves.items() if path in computed.gradients},
        others={path: leaf for path, leaf in leaves.items() if path not in computed.gradients},
    )
    reference.store(name, computed=msgspec.to_builtins(found))

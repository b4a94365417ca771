"""The input sets of a timed step: drawn once, in memory, the same for the same seed."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from suite.data import datasets, store
from suite.data.edition import Edition
from suite.data.prepare import Preparation
from suite.workload import Data

Batch = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator, int], Batch]
_DISTINCT = 4096  # distinct examples drawn for a whole set


def batches(
    dataset: str,
    preparation: Preparation,
    batch: int,
    sets: int,
    seed: int,
    data: Data = "embedded",
    edition: Edition | None = None,
) -> list[Batch]:
    """Return `sets` sets of `batch` training examples, not augmented, C-contiguous; prepare missing data.

    No example repeats, unless the split is smaller than all sets together: then all are drawn with replacement. Edition
    None is the small one.
    """
    edition = edition or datasets.edition(dataset, "small")
    store.prepare(dataset, data, edition)
    train = store.split(dataset, "train", data, edition)
    wanted, fitted = batch * sets, preparation.fitted(train)
    order = np.random.default_rng(seed).choice(len(train), wanted, replace=wanted > len(train))
    return [fitted.batch(train.take(order[start : start + batch])) for start in range(0, wanted, batch)]


def whole(dataset: str, preparation: Preparation, split: str, examples: int, data: Data = "embedded") -> Batch:
    """Return `examples` examples of a split in memory, not augmented; a smaller split is repeated.

    A stand-in is the small one.
    """
    edition = datasets.edition(dataset, "small")
    store.prepare(dataset, data, edition)
    fitted = preparation.fitted(store.split(dataset, "train", data, edition))
    there = store.split(dataset, split, data, edition)
    records = there.take(range(min(examples, len(there))))
    return repeated(fitted.batch(records), examples)


def count(batch: Mapping[str, Any]) -> int:
    """Return how many examples a batch has."""
    return len(next(iter(batch.values())))


def repeated(batch: Batch, examples: int) -> Batch:
    """Return the batch's examples repeated up to `examples`."""
    rows = np.arange(examples) % count(batch)
    return {name: array[rows] for name, array in batch.items()}


def drawn(draw: Draw, batch: int, sets: int, seed: int) -> list[Batch]:
    """Return `sets` sets of `batch` random examples of the documented form, C-contiguous."""
    rng = np.random.default_rng(seed)
    return [contiguous(draw(rng, batch)) for _ in range(sets)]


def drawn_whole(draw: Draw, examples: Sequence[int], seed: int) -> list[Batch]:
    """Return sets of so many random examples each; after the first few thousand they repeat."""
    rng = np.random.default_rng(seed)
    return [repeated(contiguous(draw(rng, min(wanted, _DISTINCT))), wanted) for wanted in examples]


def contiguous(batch: Batch) -> Batch:
    """Return the batch with C-contiguous arrays."""
    return {name: np.ascontiguousarray(array) for name, array in batch.items()}


def examples_differ(batches: Sequence[Batch]) -> bool:
    """Return whether the examples of all sets differ, in each array that has several numbers an example."""
    inputs = [name for name, array in batches[0].items() if array[0].size > 1]
    return all(any((batch[name] != batches[0][name][0]).any() for batch in batches) for name in inputs)


def digest(batches: Sequence[Batch]) -> str:
    """Return the sha256 of the names, dtypes, shapes and bytes of all arrays, in the order of sets and names."""
    total = hashlib.sha256()
    for batch in batches:
        for name, array in sorted(batch.items()):
            total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()

"""The input sets that a step is timed on: drawn once, in memory, the same for the same seed."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from suite.data import store
from suite.data.edition import DEFAULT, Edition
from suite.workload import Data

Batch = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator, int], Batch]
Preprocess = Callable[[np.ndarray, np.ndarray], Batch]  # images uint8[N,H,W,C] and labels int64[N] to arrays


def batches(
    dataset: str,
    preprocess: Preprocess,
    batch: int,
    sets: int,
    seed: int,
    data: Data = "embedded",
    edition: Edition = DEFAULT,
) -> list[Batch]:
    """Return `sets` preprocessed sets of `batch` training examples, C-contiguous; embedded data is written if missing.

    No example comes twice, unless the split is smaller than all sets together: then all are drawn with replacement.
    """
    store.prepare(dataset, data, edition)
    train = store.split(dataset, "train", data, edition)
    wanted = batch * sets
    order = np.random.default_rng(seed).choice(len(train), wanted, replace=wanted > len(train))
    images, labels = train.take(order)
    parts = (slice(start, start + batch) for start in range(0, wanted, batch))
    return [contiguous(preprocess(images[part], labels[part])) for part in parts]


def whole(
    dataset: str,
    preprocess: Preprocess,
    split: str,
    examples: int,
    data: Data = "embedded",
    edition: Edition = DEFAULT,
) -> Batch:
    """Return so many preprocessed examples of a split in memory; a smaller split is repeated to that length."""
    store.prepare(dataset, data, edition)
    there = store.split(dataset, split, data, edition)
    images, labels = there.take(range(min(examples, len(there))))
    return repeated(contiguous(preprocess(images, labels)), examples)


def repeated(batch: Batch, examples: int) -> Batch:
    """Return the batch's examples again and again, so many in all."""
    rows = np.arange(examples) % len(next(iter(batch.values())))
    return {name: array[rows] for name, array in batch.items()}


def drawn(draw: Draw, batch: int, sets: int, seed: int) -> list[Batch]:
    """Return `sets` sets of `batch` random examples of the documented form, C-contiguous."""
    rng = np.random.default_rng(seed)
    return [contiguous(draw(rng, batch)) for _ in range(sets)]


def drawn_whole(draw: Draw, examples: Sequence[int], seed: int, distinct: int = 4096) -> list[Batch]:
    """Return sets of so many random examples each; those beyond `distinct` repeat the first."""
    rng = np.random.default_rng(seed)
    return [repeated(contiguous(draw(rng, min(count, distinct))), count) for count in examples]


def contiguous(batch: Batch) -> Batch:
    """Return the batch with arrays whose bytes lie in the order of their axes."""
    return {name: np.ascontiguousarray(array) for name, array in batch.items()}


def digest(batches: Sequence[Batch]) -> str:
    """Return the sha256 over the names, dtypes, shapes and bytes of all arrays, in the order of sets and names."""
    total = hashlib.sha256()
    for batch in batches:
        for name, array in sorted(batch.items()):
            total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()

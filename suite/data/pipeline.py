"""The input pipeline: grain reads, decodes, augments and batches from storage while the device computes.

A batch depends only on the seed and its own number, so order and content are the same for any number of workers,
threads or processes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from suite.case import Loader
from suite.data.prepare import Preparation
from suite.data.store import Split

Batch = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Settings of the input pipeline."""

    batch: int
    seed: int
    workers: int  # threads, or processes with one thread each
    loader: Loader = "threads"
    queue: int = 10  # prefetched batches at most; each worker process has its own queue
    augmented: bool = True
    in_memory: bool = False  # keep the stored records, still encoded, in memory


class Records:
    """A split's records, read from storage a batch at a time or kept in memory."""

    def __init__(self, split: Split, in_memory: bool) -> None:
        self._split, self._kept = split, split.take(range(len(split))) if in_memory else None

    def __len__(self) -> int:
        return len(self._split)

    def take(self, indices: Iterable[int]) -> list[dict[str, Any]]:
        """Return these records. Raises RuntimeError if they are damaged."""
        return self._split.take(indices) if self._kept is None else [self._kept[index] for index in indices]


def batches(train: Split, preparation: Preparation, plan: Plan) -> Iterator[Batch]:
    """Return endless batches, the split's examples in a new order each epoch.

    A batch may hold examples of two epochs. Raises RuntimeError with the worker's message if a worker fails.
    """
    from absl import flags

    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()  # grain reads one of them where it starts processes
    import cv2
    import grain

    cv2.setNumThreads(0)  # the workers are the parallelism
    records, fitted = Records(train, plan.in_memory), preparation.fitted(train)
    numbers = grain.MapDataset.range(len(records)).seed(plan.seed).shuffle().repeat()
    groups = numbers.batch(plan.batch, drop_remainder=True)  # of indices, so that a worker makes a whole batch
    prepare = partial(_prepared, fitted, records)
    grouped = groups.random_map(prepare) if plan.augmented else groups.map(prepare)
    threads = plan.workers if plan.loader == "threads" else 1
    reading = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=max(plan.queue, threads))
    stream: Any = grouped.to_iter_dataset(reading)
    if plan.loader == "processes":
        stream = stream.mp_prefetch(grain.MultiprocessingOptions(plan.workers, per_worker_buffer_size=plan.queue))
    return _guarded(iter(stream))


def _guarded(stream: Iterator[Batch]) -> Iterator[Batch]:
    while True:
        try:
            yield next(stream)
        except Exception as error:  # anything that a worker raised
            words = " ".join(str(error).split())[:200]
            raise RuntimeError(f"the input pipeline failed: {type(error).__name__}: {words}") from error


def _prepared(
    preparation: Preparation, records: Records, group: np.ndarray, random: np.random.Generator | None = None
) -> Batch:
    return preparation.batch(records.take(group), random)

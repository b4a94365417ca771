"""The input pipeline with PyTorch's DataLoader instead of grain: same records, same preparation."""

from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np
import torch
from torch.utils import data

from suite.data.pipeline import Batch, Plan, Records
from suite.data.prepare import Preparation
from suite.data.store import Split


class Examples(data.Dataset):
    """Prepared batches; each is augmented by a random stream of its own, from the seed and its first example."""

    def __init__(self, records: Records, preparation: Preparation, plan: Plan) -> None:
        self._records, self._preparation, self._plan = records, preparation, plan

    def __len__(self) -> int:
        return len(self._records)

    def __getitems__(self, places: Sequence[tuple[int, int]]) -> Batch:
        """Return a whole batch; PyTorch calls this if a data set has it."""
        random = np.random.default_rng((self._plan.seed, *places[0])) if self._plan.augmented else None
        return self._preparation.batch(self._records.take(index for _, index in places), random)


class Order(data.Sampler[tuple[int, int]]):
    """Endless (epoch, example number), in a new order each epoch."""

    def __init__(self, examples: int, seed: int) -> None:
        self._examples, self._seed = examples, seed

    def __iter__(self) -> Iterator[tuple[int, int]]:
        epoch = 0
        while True:
            for index in np.random.default_rng((self._seed, epoch)).permutation(self._examples):
                yield epoch, int(index)
            epoch += 1


def batches(train: Split, preparation: Preparation, plan: Plan) -> Iterator[Batch]:
    """Return endless batches. PyTorch has worker processes only, with one thread each."""
    cv2.setNumThreads(0)
    records = Records(train, plan.in_memory)
    loader: Any = data.DataLoader(
        Examples(records, preparation.fitted(train), plan),
        batch_size=plan.batch,
        sampler=Order(len(records), plan.seed),
        num_workers=plan.workers,
        prefetch_factor=max(1, plan.queue // plan.workers),
        collate_fn=_as_it_is,
        worker_init_fn=_alone,
        multiprocessing_context="spawn",  # a forked reader of ArrayRecord hangs
        drop_last=True,
    )
    return iter(loader)


def _as_it_is(batch: Batch) -> Batch:
    return batch


def _alone(_: int) -> None:
    cv2.setNumThreads(0)
    torch.set_num_threads(1)

"""Whole epochs in JAX: gather each batch on the host, copy it and train on it, as `fit` does with arrays in memory."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from suite.programs.jax import lowered_digest
from suite.programs.jax.program import JaxProgram
from suite.worker_api.program import Batch


class JaxRun(JaxProgram):
    """A workload's epochs, driven as `suite.worker.whole_run.Trainable` describes.

    A smaller last batch has a program of its own.
    """

    def compile_rest(self, train: Batch, test: Batch | None) -> None:
        """Compile for the smaller last batch and for the batches of validation."""
        for batch in self._of_each_size(train):
            self._programs(batch)
        for batch in self._of_each_size(test) if test is not None else ():
            self._evaluations(batch)

    def train(self, examples: Batch, order: np.ndarray) -> None:
        """Take a step with each batch of the examples in that order; block until the state is ready."""
        for batch in self._gathered(examples, order):
            self._state, self._out = self._programs(batch)(self._state, batch)
        jax.block_until_ready((self._state, self._out))

    def evaluate(self, examples: Batch) -> None:
        """Compute each batch's loss, without dropout or training; block until all are ready."""
        order = np.arange(len(next(iter(examples.values()))))
        jax.block_until_ready([self._evaluations(b)(self._state, b) for b in self._gathered(examples, order)])

    def initialise(self, seed: int) -> None:
        """Build the model on the device."""
        super().initialise(seed)
        self._made: dict[tuple[str, int], Any] = {}
        self._rest: list[jax.stages.Lowered] = []

    def lowered_texts(self) -> tuple[str, ...]:
        """Return the text of each lowered program: the step, the other sizes and the validation."""
        return *super().lowered_texts(), *map(lowered_digest.text_of, self._rest)

    def prepare(self, examples: Batch) -> None:
        """Put a batch on the device, for its shapes."""
        self.put([{name: array[: self._case.batch] for name, array in examples.items()}])

    def _of_each_size(self, examples: Batch) -> Iterator[Batch]:
        """Yield a batch, and the last one if it is smaller."""
        count, size = len(next(iter(examples.values()))), self._case.batch
        sizes = (min(count, size), count % size if count > size else 0)
        return (batch for rows in sizes if rows for batch in self._gathered(examples, np.arange(rows)))

    def _gathered(self, examples: Batch, order: np.ndarray) -> Iterator[Batch]:
        size = self._case.batch
        for rows in (order[start : start + size] for start in range(0, len(order), size)):
            yield self._host_batch({name: array[rows] for name, array in examples.items()})

    def _programs(self, batch: Batch) -> Any:
        rows = len(next(iter(batch.values())))
        return self._compiled if rows == self._case.batch else self._made_for("train", rows, batch)

    def _evaluations(self, batch: Batch) -> Any:
        return self._made_for("evaluate", len(next(iter(batch.values()))), batch)

    def _made_for(self, what: str, rows: int, batch: Batch) -> Any:
        if (what, rows) not in self._made:
            step = self._step if what == "train" else self.evaluation()
            lowered = self.trace(step, batch, donate=what == "train").lower()
            self._rest.append(lowered)
            self._made[what, rows] = lowered.compile(self._options())
        return self._made[what, rows]

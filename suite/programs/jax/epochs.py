"""Whole epochs in JAX: each batch gathered on the host, as `fit` does with arrays in memory, or data on the device."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from suite.data.batches import count
from suite.programs.jax import lowered_digest
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.step import Step
from suite.worker_api.program import Batch


class JaxRun(JaxProgram):
    """A workload's epochs, driven as `suite.worker.whole_run.Trainable` describes.

    A smaller last batch has a program of its own.
    """

    def compile_rest(self, train: Batch, test: Batch | None) -> None:
        """Compile for the smaller last batch and for the batches of validation."""
        for batch in self._of_each_size(train):
            self._program("train", batch)
        for batch in self._of_each_size(test) if test is not None else ():
            self._program("evaluate", batch)

    def train(self, examples: Batch, order: np.ndarray) -> None:
        """Take a step with each batch of the examples in that order; block until the state is ready."""
        for batch in self._gathered(examples, order):
            self._state, self._out = self._program("train", batch)(self._state, batch)
        jax.block_until_ready((self._state, self._out))

    def evaluate(self, examples: Batch) -> None:
        """Compute each batch's loss, without dropout or training; block until all are ready."""
        batches = self._gathered(examples, np.arange(count(examples)))
        jax.block_until_ready([self._program("evaluate", batch)(self._state, batch) for batch in batches])

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
        total, size = count(examples), self._case.batch
        sizes = (min(total, size), total % size if total > size else 0)
        return (batch for rows in sizes if rows for batch in self._gathered(examples, np.arange(rows)))

    def _gathered(self, examples: Batch, order: np.ndarray) -> Iterator[Batch]:
        size = self._case.batch
        for rows in (order[start : start + size] for start in range(0, len(order), size)):
            yield self._host_batch({name: array[rows] for name, array in examples.items()})

    def _program(self, what: str, batch: Batch) -> Any:
        """Return the program that trains on so many examples, or evaluates them; each is compiled once."""
        rows = count(batch)
        if what == "train" and rows == self._case.batch:
            return self._compiled
        if (what, rows) not in self._made:
            step = self._step if what == "train" else self.evaluation()
            lowered = self.trace(step, batch, donate=what == "train").lower()
            self._rest.append(lowered)
            self._made[what, rows] = lowered.compile(self._options())
        return self._made[what, rows]


class ResidentRun(JaxRun):
    """The variant `resident`: the data lie on the device, and an epoch is one call.

    A smaller last batch is copied from the host, as validation is.
    """

    def prepare(self, examples: Batch) -> None:
        """Copy an epoch's examples to the device, once for all epochs. Raises ValueError if they fill no batch."""
        super().prepare(examples)
        self._examples = jax.device_put(examples, self._shardings.state)
        self._steps_an_epoch = count(examples) // self._case.batch
        if not self._steps_an_epoch:
            raise ValueError(
                f"variant 'resident' needs a whole batch of {self._case.batch}, and there are {count(examples)} "
                "examples; choose a smaller --batch, or a profile with more examples"
            )

    def lower(self) -> None:
        """Trace an epoch."""
        order = jax.ShapeDtypeStruct((self._steps_an_epoch, self._case.batch), np.int32)
        with self._precision():
            whole = jax.jit(epoch(self._step), donate_argnums=0)
            self._traced = whole.trace(self._state, self._examples, order)
            self._lowered = self._traced.lower()

    def train(self, examples: Batch, order: np.ndarray) -> None:
        """Take an epoch in one call, then the smaller last batch; block until the state is ready."""
        full_batches = self._steps_an_epoch * self._case.batch
        rows = order[:full_batches].reshape(self._steps_an_epoch, -1).astype(np.int32)
        self._state, self._out = self._compiled(self._state, self._examples, rows)
        if len(order) > full_batches:
            super().train(examples, order[full_batches:])
        jax.block_until_ready((self._state, self._out))


def epoch(step: Step) -> Any:
    """Return take(state, examples, order) -> (state, last output); order int32[S,N] has the N indices of S steps."""

    def take(state: Any, examples: dict[str, jax.Array], order: jax.Array) -> tuple[Any, jax.Array]:
        def one(state: Any, rows: jax.Array) -> tuple[Any, jax.Array]:
            return step(state, {name: array[rows] for name, array in examples.items()})

        state, outputs = jax.lax.scan(one, state, order)
        return state, outputs[-1]

    return take

"""Whole epochs with the data on the device: one dispatch an epoch, with a loop over its steps."""

from typing import Any

import jax
import numpy as np

from suite.programs.jax.epochs import JaxRun
from suite.programs.jax.program import MATMUL_PRECISION
from suite.programs.jax.step import Step
from suite.worker_api.program import Batch


class ResidentRun(JaxRun):
    """The variant `resident` of a whole run. A smaller last batch is copied from the host, as validation is."""

    def prepare(self, examples: Batch) -> None:
        """Copy an epoch's examples to the device, once for all epochs. Raises ValueError if they fill no batch."""
        super().prepare(examples)
        self._examples = jax.device_put(examples, self._shardings.state)
        count = len(next(iter(examples.values())))
        self._steps_an_epoch = count // self._case.batch
        if not self._steps_an_epoch:
            raise ValueError(
                f"variant 'resident' needs a whole batch of {self._case.batch}, and there are {count} examples; "
                "choose a smaller --batch, or a profile with more examples"
            )

    def lower(self) -> None:
        """Trace an epoch."""
        order = jax.ShapeDtypeStruct((self._steps_an_epoch, self._case.batch), np.int32)
        with jax.default_matmul_precision(MATMUL_PRECISION[self._case.precision]):
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

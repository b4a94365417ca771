"""JAX's loop as tutorials write it: `nnx.jit` once per step, each batch a slice of arrays in the host's memory."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import jax

from suite.programs.jax.nnx_jit import NnxProgram
from suite.worker_api.program import Batch, joined


class NnxLoop(NnxProgram):
    """The variants `nnx-loop` and `nnx-loop-wait`, which reads the loss of each step with `float`.

    No batch stays on the device but the first, which tells shapes.
    """

    def put(self, batches: Sequence[Batch]) -> None:
        """Keep an epoch's examples in the host's memory."""
        self._host = batches[:1]
        self._batches = [jax.device_put(batches[0], self._shardings.batch)]
        self._endless = self._epochs(joined(batches), len(batches))

    def _epochs(self, examples: Batch, steps: int) -> Iterator[dict[str, Any]]:
        size = self._case.batch
        while True:
            for start in range(0, steps * size, size):
                yield {name: array[start : start + size] for name, array in examples.items()}

    def holds(self, batches: Sequence[Batch]) -> None:
        """Return None: the batches stay on the host."""

    def chain(self, steps: int) -> None:
        """Take dependent steps with the next batches, each copied to the device by its call."""
        batches = islice(self._endless, steps)
        if self._case.variant == "nnx-loop":
            self._dispatch(batches)
            return
        with self._precision():
            for batch in batches:
                self._dispatch([batch])
                float(self._out)

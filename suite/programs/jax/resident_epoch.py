"""An epoch in one call: its examples on the device, shuffled, and a scan over its steps."""

from collections.abc import Sequence
from functools import partial

import jax
import msgspec
import numpy as np

from suite.nn.compiler import gpu_options
from suite.programs.jax.epochs import epoch
from suite.programs.jax.jaxpr_cost import jaxpr_cost
from suite.programs.jax.program import JaxProgram
from suite.results.records.run import JaxprCost
from suite.worker_api.program import Batch, joined


class ResidentEpoch(JaxProgram):
    """The variant `resident-loop`, driven as `suite.worker_api.program.Program` describes."""

    _steps = 1

    def _cpu_devices(self) -> int:
        return 1

    @property
    def steps_per_call(self) -> int:
        """The steps of an epoch."""
        return self._steps

    def initialise(self, seed: int) -> None:
        """Put the whole state on the device; the order of the examples starts anew."""
        super().initialise(seed)
        self._random = np.random.default_rng(seed)

    def put(self, batches: Sequence[Batch]) -> None:
        """Copy an epoch's examples to the device."""
        self._steps, self._host = len(batches), batches
        self._batches = [jax.device_put(joined(batches), self._shardings.state)]
        if self._weights and self._compiled_seed not in (None, self._seed):  # weights are constants of the program
            self.lower()
            self.compile()

    def _arranged(self, batches: Sequence[Batch]) -> Sequence[Batch]:
        return [joined(batches)]

    def _order(self) -> np.ndarray:
        examples = self._steps * self._case.batch
        return self._random.permutation(examples).astype(np.int32).reshape(self._steps, -1)

    def lower(self) -> None:
        """Trace an epoch."""
        order = jax.ShapeDtypeStruct((self._steps, self._case.batch), np.int32)
        with self._precision():
            whole = jax.jit(epoch(partial(self._step, *self._weights)), donate_argnums=0)
            self._traced = whole.trace(self._state, self._batches[0], order)
            self._lowered = self._traced.lower()

    def _load_kernels(self) -> None:
        state = jax.device_get(self._state)
        whole = self._lowered.compile(gpu_options("xla"))
        jax.block_until_ready(whole(self._state, self._batches[0], np.zeros((self._steps, self._case.batch), np.int32)))
        self._state = jax.device_put(state, self._shardings.state)

    def chain(self, steps: int) -> None:
        """Dispatch epochs, each with its examples in a new order."""
        for _ in range(steps // self._steps):
            self._state, self._out = self._compiled(self._state, self._batches[0], self._order())

    def jaxpr_cost(self) -> JaxprCost:
        """Return what the compiled program's results need, per step."""
        whole = jaxpr_cost(self._traced.jaxpr, self._batches[0], 0, self._steps)
        return msgspec.structs.replace(whole, examples=whole.examples // self._steps)

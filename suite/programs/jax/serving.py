"""Single requests in JAX: the timed step's program, each call with its own picture and independent of the others."""

import jax
import numpy as np

from suite.programs.jax.program import JaxProgram


class JaxServing(JaxProgram):
    """An inference that answers requests, driven as `suite.worker.serving.Server` describes.

    Every request starts from the same state, which is not donated. So no request waits for another, and a CPU can work
    on several at a time. The chains of replays stay dependent.
    """

    def lower(self) -> None:
        """Trace the step; the state is not donated, since each request takes it again."""
        self._start = self._state
        self._traced = self.trace(self._step, self._batches[0], donate=False)
        self._lowered = self._traced.lower()

    def ask(self, index: int) -> jax.Array:
        """Dispatch a request with its picture copied from the host, and the copy of its answer back."""
        _, answer = self._compiled(self._start, self._host_batch(self._host[index]))
        answer.copy_to_host_async()
        return answer

    def answer(self, pending: jax.Array) -> float:
        """Return the answer once it is on the host."""
        return float(np.asarray(pending))

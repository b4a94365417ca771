"""Single requests in JAX: the timed step's program, each call with its own picture and independent of the others."""

import jax
import numpy as np

from suite.programs.jax.program import JaxProgram


class JaxServing(JaxProgram):
    """An inference that is asked and answers, driven as `suite.worker.serving.Server` describes.

    Every request starts from the same state, which is not given away: none waits for another's answer, so that a CPU
    may work on several at a time. Chains, which replays take, depend on each other as always.
    """

    def lower(self) -> None:
        """Trace the step; its state stays, since each request takes it again."""
        self._start = self._state
        self._traced = self.trace(self._step, self._batches[0], donate=False)
        self._lowered = self._traced.lower()

    def ask(self, index: int) -> jax.Array:
        """Dispatch a request with its picture's copy, and the copy of its answer back."""
        _, answer = self._compiled(self._start, self._host_batch(self._host[index]))
        answer.copy_to_host_async()
        return answer

    def answer(self, pending: jax.Array) -> float:
        """Return the answer when it is on the host."""
        return float(np.asarray(pending))

"""The timed step as tutorials write it: `nnx.Optimizer`, `nnx.value_and_grad`, and `nnx.jit` once per step.

Nothing is donated or compiled ahead of time, no compiler option is set, and a CPU is one device. Every call takes the
model apart and rebuilds it in Python. Initial values and numbers are those of `JaxProgram`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from suite.programs.jax import lowered_digest
from suite.programs.jax.jaxpr_cost import jaxpr_cost
from suite.programs.jax.packing import cast
from suite.programs.jax.program import MATMUL_PRECISION, JaxProgram, tree_digest, tree_nbytes
from suite.programs.jax.step import after
from suite.results.records.run import JaxprCost
from suite.worker_api.program import Batch


class NnxProgram(JaxProgram):
    """The variant `nnx-jit` of any workload, driven as `suite.worker_api.program.Program` describes."""

    def _cpu_devices(self) -> int:
        return 1

    def initialise(self, seed: int) -> None:
        """Build the model, and the optimizer if there is one, on the device."""
        graph, params, rest = self.values(seed)
        self._model = nnx.merge(graph, *jax.device_put((params, rest), self._shardings.state))
        if self._workload.optimizer is None:
            self._out, self._zero = jax.device_put((jnp.float32(0), jnp.float32(0)), self._shardings.state)
        else:
            self._optimizer = nnx.Optimizer(self._model, self._transformation, wrt=nnx.Param)
            nnx.update(self._optimizer, jax.device_put(nnx.state(self._optimizer), self._shardings.state))

    def put(self, batches: Sequence[Batch]) -> None:
        """Copy the input sets to the device."""
        self._host = batches
        self._batches = [jax.device_put(batch, self._shardings.batch) for batch in batches]

    def lower(self) -> None:
        """Write the step; the first call traces and compiles it."""
        loss = self._loss

        @nnx.jit
        def train(model: nnx.Module, optimizer: nnx.Optimizer, batch: dict[str, jax.Array]) -> jax.Array:
            value, gradients = nnx.value_and_grad(loss)(model, batch)
            optimizer.update(model, gradients)
            return value

        @nnx.jit
        def infer(model: nnx.Module, last: jax.Array, zero: jax.Array, batch: dict[str, jax.Array]) -> jax.Array:
            return loss(model, after(batch, last, zero))

        self._train, self._infer = train, infer

    def _loss(self, model: nnx.Module, batch: dict[str, jax.Array]) -> jax.Array:
        if self._case.precision != "bfloat16":
            return self._workload.loss(model, batch)
        graph, params, rest = nnx.split(model, nnx.Param, ...)
        narrow = nnx.merge(graph, cast(params, "bfloat16"), rest)
        value = self._workload.loss(narrow, cast(batch, "bfloat16"))
        nnx.update(model, nnx.state(narrow, nnx.Not(nnx.Param)))
        return value

    def compile(self) -> None:
        """Look at the compile cache only: the first call compiles."""
        self._hits_before = self._hits

    def cache_hits(self) -> int:
        """Return how many programs came from the compile cache."""
        return self._hits - self._hits_before

    def _dispatch(self, batches: Iterable[dict[str, jax.Array]]) -> None:
        with self._precision():
            for batch in batches:
                if self._workload.optimizer is None:
                    self._out = self._infer(self._model, self._out, self._zero, batch)
                else:
                    self._out = self._train(self._model, self._optimizer, batch)
                if self._shardings.in_turn:
                    self._out.block_until_ready()

    def block(self) -> None:
        """Block until the model, the optimizer and the loss are ready."""
        trained = self._workload.optimizer is not None
        state = (nnx.state(self._model), nnx.state(self._optimizer) if trained else ())
        jax.block_until_ready((self._batches, state, self._out))

    def state_digest(self) -> str:
        """Return a digest of parameters and statistics."""
        return tree_digest(nnx.state(self._model))

    def bytes_per_step(self) -> int:
        """Return the least bytes of a step: trained arrays read and written, a batch read; an inference only reads."""
        model, batch = tree_nbytes(nnx.state(self._model)), tree_nbytes(self._batches) // len(self._host)
        if self._workload.optimizer is None:
            return model + batch
        return 2 * (model + tree_nbytes(nnx.state(self._optimizer))) + batch

    def jaxpr_cost(self) -> JaxprCost:
        """Return what the step's results need, from a trace as a pure function."""
        with self._precision():
            return jaxpr_cost(self._pure().jaxpr, self._batches[0], 0, 1)

    def lowered_texts(self) -> tuple[str, ...]:
        """Return the step's text, lowered as a pure function."""
        with self._precision():
            return (lowered_digest.text_of(self._pure().lower()),)

    def _pure(self) -> jax.stages.Traced:
        """Return the step traced as a pure function of its variables, which stay unchanged."""
        trained = self._workload.optimizer is not None
        graph, *state = nnx.split((self._model, self._optimizer) if trained else self._model, ...)
        inputs = () if trained else (self._out, self._zero)

        def step(state: Any, inputs: tuple, batch: dict[str, jax.Array]) -> Any:
            parts = nnx.merge(graph, *state)
            value = self._train(*parts, batch) if trained else self._infer(parts, *inputs, batch)  # pyright: ignore[reportCallIssue]
            return nnx.state(parts), value

        return jax.jit(step).trace(state, inputs, self._batches[0])

    def settings(self) -> dict[str, Any]:
        """Return the precision in force."""
        return {"matmul_precision": MATMUL_PRECISION[self._case.precision]}

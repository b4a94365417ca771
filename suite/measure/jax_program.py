"""The timed step in JAX: ahead-of-time compiled, its state donated and filled without compiling anything."""

import platform
from collections.abc import Sequence
from typing import Any

import flax
import jax
import numpy as np
import optax
from flax import nnx
from jaxlib import version as jaxlib_version

from suite.measure.program import Batch
from suite.measure.step import inference_step, training_step
from suite.nn.compiler import options
from suite.nn.initial import filled, started
from suite.workload import Case, Precision, Workload

MATMUL_PRECISION: dict[Precision, str] = {
    "float32-highest": "highest",
    "tf32": "tensorfloat32",
    "bfloat16": "bfloat16",
}


class JaxProgram:
    """A workload's step on one device, driven as `suite.measure.program.Program` describes."""

    def __init__(self, workload: Workload, case: Case) -> None:
        self._workload, self._case = workload, case
        self._device, self._out = device(case.backend), None
        self._compilations = 0
        jax.monitoring.register_event_duration_secs_listener(self._count)

    def _count(self, event: str, duration_secs: float, **_: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            self._compilations += 1

    def initialise(self, seed: int) -> None:
        """Fill the abstract state from NumPy, so that no program is compiled for it, and put it on the device."""
        abstract = nnx.eval_shape(lambda: self._workload.model(nnx.Rngs(0)))
        self._graph, params, rest = nnx.split(abstract, nnx.Param, ...)
        params, rest = filled(params, seed), filled(rest, seed)
        precision = self._case.precision
        if self._workload.optimizer is None:
            extra = (np.zeros([], np.float32), np.zeros([], np.float32))
            self._step = inference_step(self._workload, self._graph, precision)
        else:
            optimizer = self._workload.optimizer()
            extra = started(optimizer, params)
            self._step = training_step(self._workload, self._graph, optimizer, precision)
        self._state = jax.device_put((params, rest, extra), self._device)

    def put(self, batches: Sequence[Batch]) -> None:
        """Copy the input sets to the device."""
        self._batches = [jax.device_put(batch, self._device) for batch in batches]

    def lower(self) -> None:
        """Trace the step for the shapes of the state and the first batch."""
        with jax.default_matmul_precision(MATMUL_PRECISION[self._case.precision]):
            self._lowered = jax.jit(self._step, donate_argnums=0).lower(self._state, self._batches[0])

    def compile(self) -> None:
        """Compile with the options that the backend and this jaxlib deserve."""
        self._compiled = self._lowered.compile(self._options())

    def _options(self) -> dict[str, str | bool]:
        return options(self._case.backend, self._workload.cpu_kernels)

    def chain(self, steps: int) -> None:
        """Dispatch dependent steps, rotating through the batches."""
        state, step, batches = self._state, self._compiled, self._batches
        for index in range(steps):
            state, self._out = step(state, batches[index % len(batches)])
        self._state = state

    def block(self) -> None:
        """Wait for the whole state, not the loss alone: right even if the step is split in two later."""
        jax.block_until_ready((self._batches, self._state, self._out))

    def loss(self) -> float:
        """Return the last step's loss."""
        assert self._out is not None
        return float(self._out)

    def compilations(self) -> int:
        """Return how many programs XLA has compiled since this object was made."""
        return self._compilations

    def device_memory_bytes(self) -> int | None:
        """Return the GPU's peak of memory in use; None on the CPU, which has no counter."""
        return (self._device.memory_stats() or {}).get("peak_bytes_in_use")

    def packages(self) -> dict[str, str]:
        """Return the versions of Python's and JAX's side."""
        return {
            "jax": jax.__version__,
            "jaxlib": jaxlib_version.__version__,
            "flax": flax.__version__,
            "optax": optax.__version__,
            "python": platform.python_version(),
        }

    def settings(self) -> dict[str, Any]:
        """Return the precision and the compiler options in force."""
        return {"matmul_precision": MATMUL_PRECISION[self._case.precision], **self._options()}


def device(backend: str) -> jax.Device:  # pyright: ignore[reportInvalidTypeForm]
    """Return the first device of the backend asked for.

    Raises RuntimeError if JAX does not see one; it never falls back to another.
    """
    try:
        found = jax.devices(backend)
    except (RuntimeError, AssertionError):  # a CPU-only jaxlib answers JAX_PLATFORMS=cuda with a bare AssertionError
        found = []
    if not found:
        raise RuntimeError(
            f"backend '{backend}' asked for, JAX sees none; "
            "install the gpu extra (cuda13 or cuda12) or run --backend cpu"
        )
    return found[0]

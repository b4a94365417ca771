"""The timed step in Keras on TensorFlow: one `tf.function` a step, on the CPU."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from suite.case import Case
from suite.controls_keras._base import Control
from suite.programs import source_digest
from suite.worker_api.program import Batch


class KerasProgram:
    """A control's step on the CPU, driven as `suite.worker_api.program.Program` describes.

    The step does what Keras' own `train_step` does, without metrics and without a Python loop, which would be timed
    too. It does not use XLA: XLA is JAX's compiler, and this side is independent.
    """

    def __init__(self, control: Control, case: Case) -> None:
        if case.backend != "cpu":
            raise RuntimeError(f"backend '{case.backend}' asked for, Keras runs on 'cpu' alone; leave keras out")
        if keras.backend.backend() != "tensorflow":
            raise RuntimeError(f"Keras runs on '{keras.backend.backend()}'; set KERAS_BACKEND to 'tensorflow'")
        self._control, self._case, self._out = control, case, None
        if case.threads is not None:
            tf.config.threading.set_intra_op_parallelism_threads(case.threads)

    @property
    def steps_per_call(self) -> int:
        """One."""
        return 1

    def initialise(self, seed: int) -> None:
        """Build the network with Keras' own initial values."""
        keras.utils.set_random_seed(seed)
        self._model = self._control.model()
        if self._control.optimizer is not None:
            self._optimizer = self._control.optimizer()
            self._optimizer.build(self._model.trainable_variables)

    def put(self, batches: Sequence[Batch]) -> None:
        """Make tensors of the input sets."""
        self._batches = [{name: tf.constant(array) for name, array in batch.items()} for batch in batches]

    def lower(self) -> None:
        """Trace the step for the shapes of the first batch."""
        write = self._infer if self._control.optimizer is None else self._train
        self._function = tf.function(write, autograph=False)
        self._function.get_concrete_function(self._batches[0])

    def _infer(self, batch: dict[str, Any]) -> Any:
        return self._control.loss(self._model, batch)

    def _train(self, batch: dict[str, Any]) -> Any:
        with tf.GradientTape() as tape:
            loss = self._control.loss(self._model, batch)
        variables = self._model.trainable_variables
        self._optimizer.apply(tape.gradient(loss, [variable.value for variable in variables]), variables)
        return loss

    def compile(self) -> None:
        """Do nothing: TensorFlow prepares its graph in the first step."""

    def chain(self, steps: int) -> None:
        """Run dependent steps, rotating through the batches; inferences run one after another anyway."""
        for index in range(steps):
            self._out = self._function(self._batches[index % len(self._batches)])

    def block(self) -> None:
        """Do nothing: on the CPU every call returns with its result."""

    def loss(self) -> float:
        """Return the last step's loss."""
        assert self._out is not None
        return float(self._out)

    def compilations(self) -> int:
        """Return how many times the step has been traced."""
        return self._function.experimental_get_tracing_count()

    def cache_hits(self) -> None:
        """Return None: no cache."""

    def jaxpr_cost(self) -> None:
        """Return None: unsupported."""

    def program_digest(self) -> str:
        """Return a digest of the source of the control and its driver: nothing is lowered ahead of time."""
        return source_digest.of_case(type(self), "suite.controls_keras", self._case)

    def state_digest(self) -> None:
        """Return None: unsupported."""

    def platform(self) -> None:
        """Return None: it runs on the CPU alone."""

    def device_memory_bytes(self) -> int | None:
        """Return None: the CPU has no counter."""
        return None

    def bytes_per_step(self) -> None:
        """Return None: JAX's side counts them."""

    def packages(self) -> dict[str, str]:
        """Return the versions of Keras and TensorFlow."""
        return {"keras": keras.version(), "tensorflow": tf.version.VERSION}

    def settings(self) -> dict[str, Any]:
        """Return the options in force that affect speed."""
        return {
            "tf_synchronous": tf.config.experimental.get_synchronous_execution(),
            "tf_intra_op_threads": tf.config.threading.get_intra_op_parallelism_threads() or "all cores",
        }

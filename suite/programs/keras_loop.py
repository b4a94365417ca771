"""Keras as people write it: `fit` or `train_on_batch` on arrays in the host's memory, `predict` for an inference."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from suite.case import Case
from suite.controls_keras._base import Control
from suite.programs import keras_backend, source_digest
from suite.variants import keras_backend as framework_of
from suite.variants import takes_epochs
from suite.worker_api.program import Batch, joined


class KerasLoop:
    """A control's loop on any framework, driven as `suite.worker_api.program.Program` describes.

    Keras decides what is compiled and copied, and how; its progress bar is off.
    """

    def __init__(self, control: Control, case: Case) -> None:
        if (name := framework_of(case.variant)) != keras_backend.NAME:
            raise RuntimeError(f"Keras runs on '{keras_backend.NAME}'; set KERAS_BACKEND to '{name}'")
        keras_backend.prepare(case)
        self._control, self._case, self._loss = control, case, 0.0
        self._way = case.variant.removesuffix(f"-{name}")
        self._steps = 1

    @property
    def steps_per_call(self) -> int:
        """An epoch's steps, if one call takes them; else one."""
        return self._steps if takes_epochs(self._case.variant) else 1

    def initialise(self, seed: int) -> None:
        """Build the network with Keras' own initial values, and compile it as Keras calls that."""
        keras.utils.set_random_seed(seed)
        self._model, self._next = self._control.model(), 0

    def put(self, batches: Sequence[Batch]) -> None:
        """Keep an epoch's examples as arrays in the host's memory."""
        self._steps, examples = len(batches), joined(batches)
        self._inputs = next(name for name in examples if name != "labels")
        self._x, self._y = examples[self._inputs], examples.get("labels")
        if self._control.optimizer is not None:
            loss = ControlLoss(self._control, self._model, self._inputs)
            self._model.compile(optimizer=self._control.optimizer(), loss=loss, metrics=["accuracy"])

    def lower(self) -> None:
        """Do nothing: Keras has no such stage."""

    def compile(self) -> None:
        """Do nothing: Keras compiles in the first call."""

    def chain(self, steps: int) -> None:
        """Take dependent steps: whole epochs in one call, or a call for each next batch."""
        epochs = steps // self._steps
        if self._way == "fit":
            taken = self._model.fit(self._x, self._y, batch_size=self._case.batch, epochs=epochs, verbose=0)
            self._loss = float(taken.history["loss"][-1])
        elif self._way == "predict":
            for _ in range(epochs):
                self._answered(self._model.predict(self._x, batch_size=self._case.batch, verbose=0))
        else:
            for _ in range(steps):
                rows = slice(self._next * self._case.batch, (self._next + 1) * self._case.batch)
                self._next = (self._next + 1) % self._steps
                self._one_batch(rows)

    def _one_batch(self, rows: slice) -> None:
        if self._way == "train-on-batch":
            assert self._y is not None
            self._loss = float(self._model.train_on_batch(self._x[rows], self._y[rows])[0])
        else:
            self._answered(self._model.predict_on_batch(self._x[rows]))

    def _answered(self, outputs: Any) -> None:
        self._loss = float(outputs[-1].mean())

    def block(self) -> None:
        """Block until the state is ready; Keras returns losses and answers as numbers."""
        trained = self._control.optimizer is not None
        keras_backend.settle([*self._model.variables, *(self._model.optimizer.variables if trained else ())])

    def loss(self) -> float:
        """Return the loss as Keras reports it: an epoch's mean or a batch's; of an inference the last answer's mean."""
        return self._loss

    def compilations(self) -> int:
        """Return 0: Keras does not tell."""
        return 0

    def cache_hits(self) -> None:
        """Return None: no cache of its own."""

    def jaxpr_cost(self) -> None:
        """Return None: unsupported."""

    def program_digest(self) -> str:
        """Return a digest of the source of the control and its driver: nothing is lowered ahead of time."""
        return source_digest.of_case(type(self), "suite.controls_keras", self._case)

    def state_digest(self) -> None:
        """Return None: unsupported."""

    def platform(self) -> str:
        """Return the backend of the device that holds the parameters."""
        return keras_backend.platform(self._model.variables[0])

    def device_memory_bytes(self) -> int | None:
        """Return None: Keras has no counter."""
        return None

    def bytes_per_step(self) -> None:
        """Return None: JAX's side counts them."""

    def packages(self) -> dict[str, str]:
        """Return the versions of Keras and of the framework under it."""
        return keras_backend.packages()

    def settings(self) -> dict[str, Any]:
        """Return the options in force that affect speed."""
        return {"keras_jit_compile": getattr(self._model, "jit_compile", None)}


class KerasRun(KerasLoop):
    """A whole run by `fit`, called once an epoch, as `suite.worker.whole_run.Trainable` describes."""

    def prepare(self, examples: Batch) -> None:
        """Keep an epoch's examples as arrays in the host's memory."""
        self.put([examples])

    def compile_rest(self, train: Batch, test: Batch | None) -> None:
        """Do nothing: Keras compiles in the first call of each kind."""

    def train(self, examples: Batch, order: np.ndarray) -> None:
        """Fit an epoch, in the order that Keras draws; return when it is done."""
        self.chain(1)
        self.block()

    def evaluate(self, examples: Batch) -> None:
        """Compute the loss and the accuracy without training."""
        self._model.evaluate(examples[self._inputs], examples["labels"], batch_size=self._case.batch, verbose=0)


class ControlLoss(keras.losses.Loss):
    """A control's loss as Keras asks for one: of labels and of outputs that the model has given already."""

    def __init__(self, control: Control, model: Any, inputs: str) -> None:
        super().__init__(name="loss")
        self._control, self._model, self._inputs = control, model, inputs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the mean loss of a batch."""
        return self._control.loss(_Answered(self._model, y_pred), {self._inputs: None, "labels": y_true})


class _Answered:
    """A model in all but its answer, which is known."""

    def __init__(self, model: Any, outputs: Any) -> None:
        self._model, self._outputs = model, outputs

    def __call__(self, inputs: Any, training: bool | None = None) -> Any:
        return self._outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

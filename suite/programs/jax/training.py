"""Training from storage, and the network's accuracy on examples that it never saw."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import jax
import numpy as np

from suite.data import batches as sets
from suite.data import store
from suite.data.edition import Edition
from suite.data.prepare import Preparation
from suite.data.store import Split
from suite.nn.optimizers import Averaged
from suite.programs.jax import lowered_digest
from suite.programs.jax.packing import unflatten_args
from suite.programs.jax.program import JaxProgram
from suite.worker_api.program import Batch
from suite.workload import Data

LABELS = "labels"


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """What a network learns from, and what it is evaluated on."""

    train: Split
    preparation: Preparation  # fitted to the training split
    validation: Batch  # as the documented validation has them, whole in memory


def training_data(dataset: str, preparation: Preparation, data: Data, edition: Edition) -> TrainingData:
    """Return both parts of a data set; prepare it if it is missing."""
    store.prepare(dataset, data, edition)
    train, test = (store.split(dataset, part, data, edition) for part in store.parts(dataset, data, edition))
    fitted = preparation.fitted(train)
    validation = fitted.batch(test.take(range(len(test))))
    return TrainingData(train=train, preparation=fitted, validation=validation)


class LearningProgram(JaxProgram):
    """The timed training step, and the network's answers without dropout and with moving statistics.

    If the optimizer keeps an average of all parameters, the average answers, as documented.
    """

    def answers(self, examples: Batch) -> np.ndarray:
        """Return the logits [N] or [N,K] of any number of examples.

        They are computed in batches of the case's size; the last is filled up with repeated examples.
        """
        size, logits = self._case.batch, []
        for start in range(0, sets.count(examples), size):
            part = {name: array[start : start + size] for name, array in examples.items()}
            batch = jax.device_put(sets.repeated(part, size), self._shardings.batch)
            logits.append(np.asarray(self._answering(self._state, batch)))
        return np.concatenate(logits)[: sets.count(examples)]

    def compile_answers(self) -> None:
        """Compile the answers for the shapes of the first batch."""
        form = self._form

        def answer(state: tuple, batch: dict[str, jax.Array]) -> jax.Array:
            params, rest, moments = state
            params = moments.averages if isinstance(moments, Averaged) else params
            model = form.model(form.params.unpack(params), rest, "float32-highest")
            model.eval()
            (inputs,) = (array for name, array in batch.items() if name != LABELS)
            return model(inputs)

        answering = unflatten_args(answer, self._structures)
        self._lowered_answers = self.trace(answering, self._batches[0], donate=False).lower()
        self._answering = self._lowered_answers.compile(self._options())

    def lowered_texts(self) -> tuple[str, ...]:
        """Return the texts of the step and of the answers."""
        return *super().lowered_texts(), lowered_digest.text_of(self._lowered_answers)


def start(program: LearningProgram, batches: Iterator[Batch], seed: int) -> None:
    """Initialise a program and compile it for the shapes of the first batch, without training on it."""
    program.initialise(seed)
    program.put([next(batches)])
    program.lower()
    program.compile()
    program.compile_answers()


def train(
    program: LearningProgram,
    batches: Iterator[Batch],
    steps: int,
    every: int = 10,
    on_loss: Callable[[int, float], object] = lambda done, loss: None,
) -> tuple[float, ...]:
    """Take training steps; return every `every`-th loss and the last; `on_loss` receives each with its step."""
    losses: list[float] = []
    for start in range(0, steps, every):
        done = min(start + every, steps)
        program.learn(islice(batches, done - start))
        losses.append(program.loss())
        on_loss(done, losses[-1])
    return tuple(losses)


def accuracy(logits: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of right answers: the largest logit [N,K] of one-hot labels [N,K], or a logit [N] above 0."""
    right = logits.argmax(1) == labels.argmax(1) if labels.ndim == 2 else (logits > 0) == (labels > 0.5)
    return float(right.mean())

"""Scopes that train: `run`, the documented whole run as an article timed it, and `learning`, training from storage."""

from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from msgspec.structs import replace

from suite.data import datasets
from suite.results.pooled.ladder import REST
from suite.results.records.run import Learnt, Predictions, Score
from suite.system import counters
from suite.worker import epoch
from suite.worker.recorder import Process
from suite.worker_api import clock
from suite.worker_api.program import Batch, BatchSource, Program, stored
from suite.worker_api.protocol import Message
from suite.workload import WholeRun

Stage = Callable[[str, Callable[[], Any]], Any]  # runs and times a named stage
_POINTS = 200  # on a loss curve
_CATS_AND_DOGS = "cats_vs_dogs"
_SCALES: tuple[tuple[Literal["0 to 1", "0 to 255"], int], ...] = (("0 to 1", 1), ("0 to 255", 255))


@runtime_checkable
class Trainable(Protocol):
    """A program that takes whole epochs."""

    def initialise(self, seed: int) -> None:
        """Build the model and its optimizer's state on the device."""

    def prepare(self, examples: Batch) -> None:
        """Take the examples of an epoch, for the shapes of a batch or to keep them."""

    def lower(self) -> None:
        """Trace the step."""

    def compile(self) -> None:
        """Compile the step."""

    def compile_rest(self, train: Batch, test: Batch | None) -> None:
        """Compile the programs for a smaller last batch and for validation."""

    def train(self, examples: Batch, order: np.ndarray) -> None:
        """Take a step for each batch of the examples in that order, copied from the host; return when all are done."""

    def evaluate(self, examples: Batch) -> None:
        """Compute each batch's loss without training; return when all are done."""


def whole_run(program: Trainable, run: WholeRun, train: Batch, test: Batch | None, seed: int, stage: Stage) -> None:
    """Run all of it, with the examples in a new order each epoch; `stage` times each part."""
    examples = len(next(iter(train.values())))
    rng = np.random.default_rng(seed)

    def build() -> None:
        program.initialise(seed)
        program.prepare(train)

    stage("init", build)
    stage("lower", program.lower)
    stage("compile", program.compile)
    stage(REST, lambda: program.compile_rest(train, test))
    for _ in range(run.epochs):
        stage("epoch", lambda: program.train(train, rng.permutation(examples)))
        if test is not None:
            stage("validation", lambda: program.evaluate(test))


@runtime_checkable
class Searching(Protocol):
    """A program whose whole run is a search."""

    def initialise(self, seed: int) -> None:
        """Start again."""

    def search(self, examples: Batch, seed: int, stage: Stage) -> tuple[Score, ...]:
        """Train and score every candidate; `stage` times each part and returns its result."""
        ...


def measured_run(process: Process, target: Program, inputs: list[Batch]) -> float:
    """Measure the task's whole run; return the last training loss.

    The first of the inputs is for training, the second for validation. Raises LookupError if the implementation has no
    whole run.
    """
    run, seed, train, test = process.task.run, process.task.seed, inputs[0], inputs[1] if len(inputs) > 1 else None
    scores: list[Score] = []

    def whole() -> None:
        if isinstance(target, Searching):
            target.initialise(seed)
            scores.extend(target.search(train, seed, process.result))
        elif run is None or not isinstance(target, Trainable):
            raise LookupError(f"a whole run of '{process.case.workload}' asked for, {type(target).__name__} has none")
        else:
            whole_run(target, run, train, test, seed, process.stage)

    before = counters.cpu_load()
    sample = clock.timed(whole, process.clocks)
    process.say(Message(stage="run_end"))
    process.runs["run"] = process.run(
        samples=(sample,), other_load_cores=counters.by_others(before, counters.cpu_load())
    )
    return target.loss()


def measured_learning(process: Process, target: Program, owner: BatchSource) -> float:
    """Train and evaluate the task's network; return the first recorded loss.

    The one sample is the whole training with its validation; nothing is compiled in it. Raises LookupError if the
    implementation cannot learn, ValueError if the workload has no stored data.
    """
    from suite.data import pipeline
    from suite.programs.jax import training

    case, task = process.case, process.task
    if not isinstance(target, training.LearningProgram):
        raise LookupError(f"scope 'learning' asked for, {type(target).__name__} does not support it")
    preparation = stored(owner, case)
    edition = datasets.edition(task.dataset, task.size)
    split = process.result("data", lambda: training.training_data(task.dataset, preparation, case.data, edition))
    batches = pipeline.batches(split.train, split.preparation, epoch.planned(case, task.seed))
    process.stage("init", lambda: training.start(target, batches, task.seed))
    steps = case.steps or -(-len(split.train) // case.batch)
    steps = min(steps, task.most_steps or steps)
    every, results = max(1, steps // _POINTS), []

    def learn() -> None:
        losses = training.train(target, batches, steps, every, lambda *_: process.say(Message(stage="lesson")))
        labels = split.validation[training.LABELS]
        right = training.accuracy(target.answers(split.validation), labels)
        results.append(Learnt(steps=steps, losses=losses, loss_every=every, examples=len(labels), accuracy=right))

    before = counters.cpu_load()
    training_sample = process.stage("learning", learn)
    others, learnt = counters.by_others(before, counters.cpu_load()), results[0]
    if task.dataset == _CATS_AND_DOGS:
        predicted = process.result("predictions", lambda: predictions(target.answers, split.validation))
        learnt = replace(learnt, predictions=predicted)
    process.runs["learning"] = process.run(samples=(training_sample,), other_load_cores=others, learnt=learnt)
    return learnt.losses[0]


def predictions(answers: Callable[[Batch], np.ndarray], examples: Batch) -> tuple[Predictions, ...]:
    """Return the predictions for as many cats as dogs: pixels from 0 to 1, and the same from 0 to 255.

    Examples: images float32[N,H,W,3] from 0 to 1 and labels float32[N], 1 for a dog; `answers` gives logits float32[N].
    """
    chosen = balanced(examples)
    predictions = []
    for pixels, factor in _SCALES:
        outputs = sigmoid(answers({**chosen, "images": chosen["images"] * np.float32(factor)}))
        dogs, half, one = chosen["labels"] > 0.5, outputs > 0.5, outputs == 1
        predictions.append(
            Predictions(
                pixels=pixels,
                examples=len(outputs),
                mean_output=float(outputs.mean(dtype=np.float64)),
                above_half=float(half.mean()),
                exactly_one=float(one.mean()),
                accuracy_above_half=float((half == dogs).mean()),
                accuracy_exactly_one=float((one == dogs).mean()),
            )
        )
    return tuple(predictions)


def balanced(examples: Batch) -> Batch:
    """Return as many examples of label 0 as of label 1, the first of each."""
    sides = [np.flatnonzero(examples["labels"] == label) for label in (0, 1)]
    rows = np.sort(np.concatenate([side[: min(map(len, sides))] for side in sides]))
    return {name: array[rows] for name, array in examples.items()}


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) in float32, as the source's last layer has it: 1 exactly from about 17 up."""
    with np.errstate(over="ignore"):  # of far negative logits, whose output is 0
        return np.float32(1) / (np.float32(1) + np.exp(-logits.astype(np.float32)))

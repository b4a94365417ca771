"""The documented whole run, stage by stage as an article timed it: build, compile, all epochs with validation."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from suite.results.pooled.ladder import REST
from suite.results.records.run import Score
from suite.system import load
from suite.worker.recorder import Process
from suite.worker_api import clock
from suite.worker_api.program import Batch, Program
from suite.worker_api.protocol import Message
from suite.workload import WholeRun

Stage = Callable[[str, Callable[[], Any]], Any]  # runs and times a named stage


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


def measured_search(process: Process, target: Searching, inputs: list[Batch]) -> None:
    """Measure the task's whole search."""
    scores: list[tuple[Score, ...]] = []

    def search() -> None:
        target.initialise(process.task.seed)
        scores.append(target.search(inputs[0], process.task.seed, process.result))

    before = load.cpu_load()
    sample = clock.timed(search, process.clocks)
    process.say(Message(stage="run_end"))
    others = load.by_others(before, load.cpu_load())
    process.runs["run"] = process.run(samples=(sample,), other_load_cores=others, scores=scores[0])


def measured_run(process: Process, target: Program, inputs: list[Batch]) -> float:
    """Measure the task's whole run; return the last training loss.

    The first of the inputs is for training, the second for validation. Raises LookupError if the implementation has no
    whole run.
    """
    if isinstance(target, Searching):
        measured_search(process, target, inputs)
        return target.loss()
    run, train, test = process.task.run, inputs[0], inputs[1] if len(inputs) > 1 else None
    if run is None or not isinstance(target, Trainable):
        raise LookupError(f"a whole run of '{process.case.workload}' asked for, {type(target).__name__} has none")
    trained, before = target, load.cpu_load()
    sample = clock.timed(lambda: whole_run(trained, run, train, test, process.task.seed, process.stage), process.clocks)
    process.say(Message(stage="run_end"))
    process.runs["run"] = process.run(samples=(sample,), other_load_cores=load.by_others(before, load.cpu_load()))
    return target.loss()

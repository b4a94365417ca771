"""Scope `learning`: training steps from storage, then the whole validation split."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from msgspec.structs import replace

from suite.data import datasets
from suite.results.records.run import Learnt, Predictions
from suite.system import load
from suite.worker import epoch
from suite.worker.recorder import Process
from suite.worker_api.inputs import BatchSource, stored
from suite.worker_api.program import Batch, Program
from suite.worker_api.protocol import Message

_POINTS = 200  # on a loss curve
_CATS_AND_DOGS = "cats_vs_dogs"


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

    before = load.cpu_load()
    training_sample = process.stage("learning", learn)
    others, learnt = load.by_others(before, load.cpu_load()), results[0]
    if task.dataset == _CATS_AND_DOGS:
        predicted = process.result("predictions", lambda: predictions(target.answers, split.validation))
        learnt = replace(learnt, predictions=predicted)
    process.runs["learning"] = process.run(samples=(training_sample,), other_load_cores=others, learnt=learnt)
    return learnt.losses[0]


_SCALES: tuple[tuple[Literal["0 to 1", "0 to 255"], int], ...] = (("0 to 1", 1), ("0 to 255", 255))


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

"""Scope `learning`: training steps from storage, then the whole validation split."""

from msgspec.structs import replace

from suite.data import embedded
from suite.results.records.run import Learnt
from suite.system import load
from suite.worker import epoch
from suite.worker.recorder import Process
from suite.worker_api.inputs import BatchSource, stored
from suite.worker_api.program import Program
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
    from suite.worker.predictions import predictions

    case, task = process.case, process.task
    if not isinstance(target, training.LearningProgram):
        raise LookupError(f"scope 'learning' asked for, {type(target).__name__} does not support it")
    preparation = stored(owner, case)
    edition = embedded.edition(task.dataset, task.size)
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

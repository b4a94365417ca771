"""Steps whose batches come from storage through the input pipeline, and the pipeline alone."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from statistics import median
from typing import Protocol, runtime_checkable

import msgspec

from suite.case import Case
from suite.data import datasets, store
from suite.data.pipeline import Plan
from suite.data.prepare import Preparation
from suite.results.records.run import Sample
from suite.system.counters import granted_cores
from suite.worker.recorder import Process
from suite.worker.steady import run_and_block, started
from suite.worker_api import clock
from suite.worker_api.program import Batch, BatchSource, Program, stored

_ALONE_SAMPLES = 3  # of the step alone, as a baseline
_WARM_SECONDS = 5.0  # after which a full queue counts as warm

Batches = Iterator[Batch]
Open = Callable[[store.Split, Preparation, Plan], Batches]


@runtime_checkable
class Learner(Protocol):
    """A program that takes its batches from an iterator."""

    def learn(self, batches: Batches) -> None:
        """Dispatch a dependent step for each batch, copied to the device; never far ahead of the device."""


def measured_epoch(
    process: Process, target: Program, inputs: list[Batch], owner: BatchSource, open_batches: Open
) -> float:
    """Measure the step alone, then steps fed from storage; return the first step's loss.

    Raises LookupError if the implementation has no such scope, ValueError if the workload has no stored data.
    """
    if not isinstance(target, Learner):
        raise LookupError(f"scope 'epoch' asked for, {type(target).__name__} does not support it")
    started(process, target, inputs)
    first_loss = target.loss()
    alone = process.result("alone", lambda: step_alone(process, target))
    batches, first = opened(process, owner, open_batches)
    learner = target

    def learn(steps: int) -> None:
        learner.learn(islice(batches, steps))
        target.block()

    flowing(process, learn, target.compilations, first_batch_seconds=first.wall_seconds, step_alone_seconds=alone)
    return first_loss


def measured_input(process: Process, owner: BatchSource, open_batches: Open) -> None:
    """Measure the pipeline alone. Raises ValueError if the workload has no stored data."""
    batches, first = opened(process, owner, open_batches)

    def take(steps: int) -> None:
        for _ in islice(batches, steps):
            pass

    flowing(process, take, lambda: 0, first_batch_seconds=first.wall_seconds)


def opened(process: Process, owner: BatchSource, open_batches: Open) -> tuple[Batches, Sample]:
    """Return endless batches, and the time until the first one, with the start of the workers."""
    case, task, preparation = process.case, process.task, stored(owner, process.case)

    def read() -> store.Split:
        edition = datasets.edition(task.dataset, task.size)
        store.prepare(task.dataset, case.data, edition)
        return store.split(task.dataset, store.parts(task.dataset, case.data, edition)[0], case.data, edition)

    train = process.result("data", read)
    streams: list[Batches] = []

    def open_it() -> None:
        streams.append(open_batches(train, preparation, planned(case, task.seed)))
        next(streams[0])

    taken = process.stage("first_batch", open_it)
    return streams[0], taken


def planned(case: Case, seed: int) -> Plan:
    """Return the plan of the case's input pipeline."""
    return Plan(
        batch=case.batch,
        seed=seed,
        workers=case.workers or granted_cores(),
        loader=case.loader,
        queue=case.queue,
        augmented=case.augmentation == "host",
        in_memory=case.stored == "memory",
    )


def step_alone(process: Process, target: Program) -> float:
    """Return the seconds of a step whose batch is on the device, measured with less effort than scope `step`."""
    plan = replace(process.task.plan, samples=_ALONE_SAMPLES)
    chain = partial(run_and_block, target)
    steps = clock.steps_per_sample(chain, plan, process.clocks, target.steps_per_call)
    taken = list(clock.samples(chain, steps, plan, process.clocks))
    return median(sample.wall_seconds for sample in taken) / steps


def flowing(process: Process, chain: clock.Chain, compilations: Callable[[], int], **measured: float) -> None:
    """Add the run of the steady flow, with what else was `measured`: drain the queue first, then take the samples."""
    steps, warm = process.result("warmup", lambda: emptied(process, chain))
    seen = process.streamed(process.case.scope, chain, steps, process.task.flow, compilations)
    process.runs[process.case.scope] = msgspec.structs.replace(seen, warmup=warm, **measured)


def emptied(process: Process, chain: clock.Chain) -> tuple[int, tuple[Sample, ...]]:
    """Take steps until the prefetch queue is drained; return the steps of a sample, and the samples of these steps."""
    plan = process.task.flow
    warm: list[Sample] = []
    steps, done, elapsed = plan.warmup_steps, 0, 0.0
    while True:
        warm.append(clock.timed_chain(chain, steps, process.clocks))
        done, elapsed = done + steps, elapsed + warm[-1].wall_seconds
        used_up = done > process.case.queue or elapsed > _WARM_SECONDS
        if warm[-1].wall_seconds >= plan.chain_seconds and used_up:
            return steps, tuple(warm)
        steps = steps if warm[-1].wall_seconds >= plan.chain_seconds else 2 * steps

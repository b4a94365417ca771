"""Trains a network to its target from every seed, and the same network broken."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from suite import models
from suite.case import Backend, Case
from suite.data import datasets, pipeline
from suite.programs.jax import training
from suite.results.evidence.learning import Trained
from suite.system.counters import granted_cores
from suite.worker_api.program import Batch
from suite.workload import LearningTarget, Workload

SEEDS = (0, 1, 2)
OUTPUTS = ("output", "softmax_linear")  # what the networks call their last layer


def lessons(workload: Workload) -> training.TrainingData:
    """Return the small embedded set as a network takes it."""
    dataset = workload.description.dataset
    return training.training_data(dataset, workload.preparation, "embedded", datasets.edition(dataset, "small"))


def trained(
    network: str, target: LearningTarget, seeds: tuple[int, ...], backend: Backend, breaking: bool = True
) -> Trained:
    """Return the accuracy that the network reaches from each seed, and what it reaches broken."""
    workload = models.load(network)
    about = workload.description
    batch, data = target.batch or about.batch, lessons(workload)
    program = begun(workload, data, batch, backend)
    accuracies = tuple(accuracy(program, data, batch, target.steps, seed) for seed in seeds)
    broken = {}
    if breaking:
        broken["labels shuffled"] = accuracy(program, data, batch, target.steps, seeds[0], shuffled=True)
        frozen = begun(workload, data, batch, backend, frozen=True)
        broken["last layer alone learns"] = accuracy(frozen, data, batch, target.steps, seeds[0])
    return Trained(
        data=f"{about.dataset}, stand-in, {len(data.train)} examples",
        batch=batch,
        steps=target.steps,
        examples=len(data.validation["labels"]),
        accuracies=accuracies,
        bound=target.bound,
        broken=broken,
    )


def begun(
    workload: Workload, data: training.TrainingData, batch: int, backend: Backend, frozen: bool = False
) -> training.LearningProgram:
    """Return the network's timed step, compiled; `frozen`: all but the last layer."""
    case = Case(workload=workload.description.name, backend=backend, scope="learning", batch=batch)
    program = (FrozenProgram if frozen else training.LearningProgram)(workload, case)
    training.start(program, batches(data, batch, 0), 0)
    return program


def batches(data: training.TrainingData, batch: int, seed: int) -> Iterator[Batch]:
    """Return batches from storage without end."""
    plan = pipeline.Plan(batch=batch, seed=seed, workers=granted_cores())
    return pipeline.batches(data.train, data.preparation, plan)


def accuracy(
    program: training.LearningProgram,
    data: training.TrainingData,
    batch: int,
    steps: int,
    seed: int,
    shuffled: bool = False,
) -> float:
    """Return the share of right answers after so many steps from a seed; `shuffled`: of labels that mean nothing."""
    given = batches(data, batch, seed)
    program.initialise(seed)
    training.train(program, shuffling(given, seed) if shuffled else given, steps)
    return training.accuracy(program.answers(data.validation), data.validation["labels"])


def shuffling(given: Iterator[Batch], seed: int) -> Iterator[Batch]:
    """Yield the batches with the labels of each dealt out anew."""
    random = np.random.default_rng(seed)
    for batch in given:
        yield {**batch, "labels": random.permutation(batch["labels"])}


class FrozenProgram(training.LearningProgram):
    """A step whose optimizer sees no gradient but that of the last layer, so that nothing else learns."""

    def __init__(self, workload: Workload, case: Case) -> None:
        super().__init__(workload, case)
        graph, params, rest = self.values(0)
        given, seen = workload.optimizer, self._packed(graph, params, rest).params.pack(only_output(params))
        assert given is not None
        self._workload = replace(workload, optimizer=lambda: seeing(given(), seen))


def only_output(params: nnx.State) -> nnx.State:
    """Return ones where the last layer's parameters are, and zeros elsewhere."""
    return nnx.from_flat_state(
        (path, jax.tree.map(np.ones_like if path[0] in OUTPUTS else np.zeros_like, leaf))
        for path, leaf in nnx.to_flat_state(params)
    )


def seeing(optimizer: optax.GradientTransformation, seen: Any) -> optax.GradientTransformation:
    """Return an optimizer that sees gradients times `seen`, which has their form."""

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return optimizer.update(jax.tree.map(jnp.multiply, updates, seen), state, params)

    return optax.GradientTransformation(optimizer.init, update)

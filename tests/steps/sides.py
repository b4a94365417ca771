"""A step that one can copy and the suite's own, from the same values and batches."""

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
import synthetic
from flax import nnx

from suite import models
from suite.case import Backend, Case
from suite.programs import load
from suite.programs.jax.program import JaxProgram
from suite.workload import Workload

FOLDER = Path(__file__).parents[2] / "site" / "steps"
SEED = 0
STATISTICS = ("mean", "var")  # of batch norms, beside their parameters

Batch = dict[str, np.ndarray]
Leaves = list[np.ndarray]


def names() -> tuple[str, ...]:
    """Return the names of the files."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.py")))


@cache
def module(name: str) -> ModuleType:
    """Return the file's module, which need not lie on Python's path."""
    spec = importlib.util.spec_from_file_location(f"steps_to_copy_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def batches(workload: Workload, examples: int, count: int = 2) -> list[Batch]:
    """Return batches of random content, as the suite's step takes them."""
    return synthetic.batches(workload, workload.description.dataset, examples, count)


@cache
def abstract(name: str) -> tuple[nnx.GraphDef, nnx.State, nnx.State]:
    """Return the graph of a file's model, its parameters and the rest of its state, without a value in them."""
    return nnx.split(nnx.eval_shape(lambda: module(name).Model(nnx.Rngs(0))), nnx.Param, ...)


def filled(mine: nnx.State, suites: nnx.State) -> nnx.State:
    """Return a state with the values of the suite's, leaf by leaf in the order of their names.

    Raises ValueError where the shapes differ.
    """
    values, structure = jax.tree.leaves(suites), jax.tree.structure(mine)
    shapes = [[leaf.shape for leaf in leaves] for leaves in (jax.tree.leaves(mine), values)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"shapes {shapes[0]} in the file, {shapes[1]} in the suite")
    return jax.tree.unflatten(structure, values)


def values(name: str) -> tuple[nnx.GraphDef, nnx.State, nnx.State]:
    """Return the graph of the suite's model, its initial parameters and the rest of its state, nothing folded."""
    workload = replace(models.load(name), served=None)
    about = workload.description
    case = Case(workload=name, backend="cpu", scope="step", batch=about.batch, data=about.data)
    return JaxProgram(workload, case).values(SEED)


def started(name: str) -> nnx.Module:
    """Return a file's model with the suite's initial values, nothing folded."""
    (graph, *mine), (_, *suites) = abstract(name), values(name)
    return nnx.merge(graph, *(filled(*pair) for pair in zip(mine, suites, strict=True)))


class Suites:
    """The suite's step, as it is measured."""

    def __init__(self, name: str, examples: int, sets: Sequence[Batch], backend: Backend = "cpu") -> None:
        self.name = name
        about = models.load(name).description
        case = Case(workload=name, backend=backend, scope="step", batch=examples, data=about.data)
        self._program: Any = load.of_this_host(case)[0]
        self._program.initialise(SEED)
        self._program.put(sets)
        self._program.lower()
        self._program.compile()

    def run(self, steps: int) -> None:
        """Take so many steps, each with the next batch, and wait for them."""
        self._program.chain(steps)
        self._program.block()

    def loss(self) -> float:
        """Return the last step's loss."""
        return self._program.loss()

    def state(self) -> tuple[Leaves, Leaves]:
        """Return the parameters and the moving statistics of a network that is trained on a CPU."""
        return by_suite(jax.tree.unflatten(self._program._structures[-1], self._program._state))


class Copied:
    """The step of a file, from the suite's initial values."""

    def __init__(self, name: str, examples: int, sets: Sequence[Batch], backend: Backend = "cpu") -> None:
        self.name = name
        workload, file = models.load(name), module(name)
        self._turn, self._out, state = 0, None, None
        if workload.growth is not None:
            self._step, state = file.boosting_step(examples)
            sets = [{"bins": np.ascontiguousarray(sets[0]["bins"].T), "labels": sets[0]["labels"]}]
        elif workload.optimizer is None:
            self._step = file.inference_step(started(name))
        else:
            self._step, state = file.training_step(started(name))
        self._state, self._sets = jax.device_put((state, list(sets)), jax.devices(backend)[0])

    def run(self, steps: int) -> None:
        """Take so many steps, each with the next batch, and wait for them; an answer is waited for by itself."""
        for _ in range(steps):
            batch = self._sets[self._turn % len(self._sets)]
            self._turn += 1
            if self._state is None:
                self._out = self._step(batch).block_until_ready()
            else:
                self._state, self._out = self._step(self._state, batch)
        jax.block_until_ready((self._state, self._out))

    def loss(self) -> float:
        """Return the last step's loss."""
        assert self._out is not None
        return float(self._out)

    def state(self) -> tuple[Leaves, Leaves]:
        """Return the parameters and the moving statistics of a network that is trained."""
        return by_kind(self._state[0])


def by_suite(state: tuple) -> tuple[Leaves, Leaves]:
    """Return the parameters and the moving statistics of the state of the suite's step."""
    params, rest, _ = state
    return _numbers(params), _numbers(rest)


def by_kind(state: Any) -> tuple[Leaves, Leaves]:
    """Return the parameters and the moving statistics of a model's state as a file's step has it."""
    leaves = [(path[-1].key in STATISTICS, leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(state)]
    params, statistics = ([leaf for moving, leaf in leaves if moving is kind] for kind in (False, True))
    return _numbers(params), _numbers(statistics)


def _numbers(tree: Any) -> Leaves:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree) if jax.numpy.issubdtype(leaf.dtype, np.floating)]

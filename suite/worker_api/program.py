"""The contracts of a program, which the worker drives and blocks on, and of the source of its batches."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from suite.case import Case
from suite.data import batches as data
from suite.data.prepare import Preparation
from suite.results.records.run import JaxprCost
from suite.worker_api.protocol import Task
from suite.workload import INPUT_SETS

Batch = dict[str, np.ndarray]
IN_FLIGHT = 4  # requests; source: microsoft/AKSDeploymentTutorial @ aea3e5f
Interval = tuple[float, float]  # start and end, in seconds of a clock with any zero
Profiler = Callable[[Callable[[], object]], list[Interval]]  # what the GPU's streams did during a call
_EPOCH_BYTES = 2**28  # of an epoch's batches; some ways copy it once
PICTURES = 64  # of requests: no picture repeats while it is in flight, or soon after


class Program(Protocol):
    """One workload of one implementation, driven through its stages in this order."""

    @property
    def steps_per_call(self) -> int:
        """How many steps one dispatch takes; chains are multiples of it."""
        ...

    def initialise(self, seed: int) -> None:
        """Put parameters, statistics, optimizer state and random keys on the device."""

    def put(self, batches: Sequence[Batch]) -> None:
        """Put the input sets on the device; steps rotate through them."""

    def lower(self) -> None:
        """Trace the step; do nothing if the implementation has no such stage."""

    def compile(self) -> None:
        """Compile the step; do nothing if the implementation has no such stage."""

    def chain(self, steps: int) -> None:
        """Dispatch `steps` dependent steps without blocking."""

    def block(self) -> None:
        """Block until inputs, state and the last output are ready."""

    def loss(self) -> float:
        """Return the last step's loss."""
        ...

    def compilations(self) -> int:
        """Return how many programs this process has compiled so far."""
        ...

    def cache_hits(self) -> int | None:
        """Return how many programs came from a compile cache so far; None without a cache."""
        ...

    def jaxpr_cost(self) -> JaxprCost | None:
        """Return what the step's results need; None if unsupported, and then nothing is replayed."""
        ...

    def program_digest(self) -> str:
        """Return a digest of what a step computes and how, independent of file locations and seed."""
        ...

    def state_digest(self) -> str | None:
        """Return a digest of the current state; None if replays are unsupported."""
        ...

    def platform(self) -> str | None:
        """Return the backend of the device that holds the arrays, as the framework reports it; None if it does not."""
        ...

    def device_memory_bytes(self) -> int | None:
        """Return the device's peak memory in bytes; None if unsupported."""

    def bytes_per_step(self) -> int | None:
        """Return the least bytes that a step reads and writes; None if unsupported."""

    def packages(self) -> dict[str, str]:
        """Return the versions of the packages that do the work."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return the options in force that affect speed."""
        ...


@runtime_checkable
class HostFed(Protocol):
    """A program that also takes its batches from the host."""

    def feed(self, steps: int) -> None:
        """Dispatch `steps` dependent steps, each with its batch copied to the device first."""


@runtime_checkable
class Graphed(Protocol):
    """A program that may launch its steps as a CUDA graph."""

    def lacks_kernels(self) -> bool:
        """Return whether the graph was made before its kernels had run; compiled again after a step, it is faster."""
        ...


@runtime_checkable
class ReadBack(Protocol):
    """A program whose input sets can be read back from the device."""

    def holds(self, batches: Sequence[Batch]) -> bool | None:
        """Return whether the device's arrays equal these input sets; None if other hosts have parts of them."""


@runtime_checkable
class ConstantWeights(Protocol):
    """A program that may hold its weights as constants; with other weights it is then another program."""

    def weights_are_constants(self) -> bool:
        """Return whether the compiled program holds its weights."""
        ...


class BatchSource(Protocol):
    """Makes a workload's batches: either `preparation` or `draw` is given, the other is None."""

    @property
    def preparation(self) -> Preparation | None:
        """Makes batches from stored records."""

    @property
    def draw(self) -> data.Draw | None:
        """Makes batches from a random generator."""

    @property
    def input_sets(self) -> int:
        """How many batches a step is timed on."""
        return INPUT_SETS


def batches(owner: BatchSource, task: Task) -> list[data.Batch]:
    """Return the input sets of the task's case.

    Raises ValueError if the workload does not have the requested data.
    """
    case = task.cases[0]
    sets = PICTURES if case.scope == "serve" else owner.input_sets
    if case.data == "random":
        if owner.draw is None:
            raise ValueError(f"data 'random' asked for, workload '{case.workload}' takes its batches from a data set")
        return data.drawn(owner.draw, case.batch, sets, task.seed)
    return data.batches(task.dataset, stored(owner, case), case.batch, sets, task.seed, data=case.data)


def epoch_of(sets: Sequence[Batch], steps: int) -> list[Batch]:
    """Return the input sets again and again, up to `steps` batches that fit into memory; every set at least once."""
    fitting = _EPOCH_BYTES // sum(array.nbytes for array in sets[0].values())
    return [*sets] * max(1, min(steps, fitting) // len(sets))


def joined(batches: Sequence[Batch]) -> Batch:
    """Return the examples of all batches in one array each."""
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def stored(owner: BatchSource, case: Case) -> Preparation:
    """Return how a workload's stored records are prepared for a case.

    Photographs are decoded at the size that the case asks for. Augmentation is left out if the device does it. Raises
    ValueError if the workload has no stored data, or nothing to decode at another size.
    """
    preparation = owner.preparation
    if preparation is None or case.data == "random":
        raise ValueError(
            f"scope '{case.scope}' of '{case.data}' data asked for, workload '{case.workload}' has no stored data"
        )
    if case.decoding != "full":
        if not hasattr(preparation, "scaled"):
            raise ValueError(f"decoding '{case.decoding}' asked for, workload '{case.workload}' reads no photographs")
        preparation = replace(preparation, scaled=True)
    return preparation.undistorted() if case.augmentation == "device" else preparation


def run_inputs(owner: BatchSource, task: Task) -> list[data.Batch]:
    """Return the examples of an epoch and of its validation, if there is one, whole in memory.

    Raises ValueError if the workload does not have the requested data or run.
    """
    case, run = task.cases[0], task.run
    if run is None:
        raise ValueError(f"scope 'run' asked for, the source of workload '{case.workload}' times none")
    wanted = [("train", run.train), ("test", run.test)]
    if case.data == "random" and owner.draw is not None:
        return data.drawn_whole(owner.draw, [examples for _, examples in wanted if examples], task.seed)
    preparation = stored(owner, case)
    sets = ((split, examples) for split, examples in wanted if examples)
    return [data.whole(task.dataset, preparation, split, n, data=case.data) for split, n in sets]

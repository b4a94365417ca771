"""The batches of a task and the examples of a whole run, from the workload's batch source."""

from dataclasses import replace
from typing import Protocol

from suite.case import Case
from suite.data import batches as data
from suite.data.prepare import Preparation
from suite.worker_api.protocol import Task
from suite.workload import INPUT_SETS

PICTURES = 64  # of requests: no picture repeats while it is in flight, or soon after


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

"""Questions put to machines, one a file; a file's name is its experiment's name."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from suite import discovery
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case, Implementation
from suite.results.pooled.machine_evidence import Evidence
from suite.results.views.experiment_result import ExperimentResult
from suite.workload import Description


class Experiment(Protocol):
    """What a file of this package holds; one with many cases also has `rounds(case, cores)`, see below.

    One that chooses its workloads by their descriptions also has `usual(catalogue)`, which is asked instead of
    `WORKLOADS`.

    One whose larger cases may take too long also has `LONGEST_STEP_SECONDS`, which skips a case after its first
    call, or `LONGEST_CALL_SECONDS`, which ends a process whose first call takes longer. One that looks at how busy
    a GPU is has `SUSTAINED`: its steps go on until the driver, which averages over a second, can tell. One that
    needs several GPUs says so with `GPUS`. One that times other implementations names them in `BASELINES`; it skips
    those not installed.
    """

    TITLE: str  # the question
    TESTS: tuple[str, ...]  # codes of the documented observations that it can confirm or refute
    METHOD: str  # how the answer comes about, in plain text
    WORKLOADS: tuple[str, ...]  # timed when none is named; empty: all networks

    def cases(self, catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
        """Return what has to be timed of these workloads.

        Raises RuntimeError if this machine cannot answer.
        """
        ...

    def read(self, evidence: Evidence) -> ExperimentResult | None:
        """Return what one machine answers; None if it has nothing to say."""
        ...


names = partial(discovery.names, __path__)
load: Callable[[str], Experiment] = discovery.loader(__name__, "experiment")


def usual(experiment: Experiment, catalogue: Sequence[Description]) -> tuple[str, ...]:
    """Return the workloads that an experiment times when none is named; none: all networks."""
    chosen = getattr(experiment, "usual", None)
    return experiment.WORKLOADS if chosen is None else chosen(catalogue)


def rounds(name: str, case: Case, cores: int) -> int | None:
    """Return in how many rounds at most an experiment wants a case; None where the profile alone says it.

    Raises LookupError if there is no such experiment.
    """
    wanted = getattr(load(name), "rounds", None)
    return None if wanted is None else wanted(case, cores)


def longest_step_seconds(name: str) -> float | None:
    """Return how long the first step of an experiment's case may take; longer ones are skipped. None: however long.

    Raises LookupError if there is no such experiment; '' is none, and has no limit.
    """
    return getattr(load(name), "LONGEST_STEP_SECONDS", None) if name else None


def longest_call_seconds(name: str) -> float | None:
    """Return after how many seconds in its first call a process of an experiment is ended; None: as any other.

    Raises LookupError if there is no such experiment; '' is none, and has no limit of its own.
    """
    return getattr(load(name), "LONGEST_CALL_SECONDS", None) if name else None


def sustains(name: str) -> bool:
    """Return whether a step goes on for its energy and for how busy the GPU is; '' is no experiment, where it does.

    Raises LookupError if there is no such experiment.
    """
    return not name or getattr(load(name), "SUSTAINED", False)


def baselines(name: str | None) -> tuple[Implementation, ...]:
    """Return the implementations besides JAX that an experiment times if they are installed; () without one.

    Raises LookupError if there is no such experiment.
    """
    return getattr(load(name), "BASELINES", ()) if name else ()


def needs_data(name: str) -> str:
    """Return which data an experiment needs; '' where the stand-ins do."""
    return getattr(load(name), "NEEDS_DATA", "")


def questions() -> list[tuple[str, str]]:
    """Return name and question of each experiment; those that the stand-ins cannot answer come last."""
    return [(name, load(name).TITLE) for name in sorted(names(), key=needs_data)]

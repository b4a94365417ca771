"""The messages between parent and child, one line of JSON each."""

import msgspec

from suite.case import Case
from suite.data.edition import Size
from suite.results.records.machine import Software
from suite.results.records.run import Run, Sample, Stage
from suite.scopes import Scope
from suite.worker_api.clock import Plan
from suite.workload import Description, Plain, WholeRun


class Task(Plain, frozen=True, kw_only=True):
    """The task of one process; `cases` differ only in scope and are measured in the order step, transfer.

    Every other scope has a process of its own; `run` is the requested whole run.
    """

    cases: tuple[Case, ...]
    dataset: str
    seed: int
    plan: Plan
    flow: Plan  # for batches from storage
    size: Size = "small"  # of the embedded data
    run: WholeRun | None = None
    epoch_steps: int = 0  # of scope `written`, at most; 0: as many as there are input sets
    most_steps: int | None = None  # cap for scope `learning`
    replay: bool = False  # take short replays after the samples
    longest_step_seconds: float | None = None  # skip a case whose first step takes longer
    longest_call_seconds: float | None = None  # end a process whose first call takes longer
    most_seconds: float | None = None  # of the process; steps too long for it get their shortest honest sample
    energy_seconds: float = 0.0  # length of the sustained window after the samples


class WorkerReport(Plain, frozen=True, kw_only=True):
    """The result of a process that ended well: a run for each scope, as its record will have it.

    The parent adds what it alone sees, such as the streamed samples.
    """

    runs: dict[Scope, Run]
    software: Software
    energy_step_seconds: float | None = None  # seconds of a step in the sustained window


class Message(Plain, frozen=True, kw_only=True):
    """One message of the child: a stage begins, a stage or sample ended, everything is done, or it failed."""

    stage: str
    stage_time: Stage | None = None
    sample: Sample | None = None
    report: WorkerReport | None = None
    reason: str = ""


class Offer(Plain, frozen=True, kw_only=True):
    """What one implementation can run here."""

    implementation: str
    backends: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  # backend to the devices it has
    python: str = ""  # version of its interpreter
    packages: dict[str, str] = msgspec.field(default_factory=dict)  # those whose version may change its speed
    workloads: tuple[Description, ...] = ()  # of jax; the controls of the others are named alike
    of_experiments: tuple[Description, ...] = ()  # no documented models: ceilings, members of families
    names: tuple[str, ...] = ()  # workloads that this implementation has
    ways: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  # variant to its backends, if fewer than all
    reasons: dict[str, str] = msgspec.field(default_factory=dict)  # backend or variant to why it is missing
    problem: str = ""  # why it cannot run at all, in the words of what failed
    remedy: str = ""  # what to do about the problem; said by the parent
    installed: bool = True  # whether its interpreter has all packages
    package: str = ""  # where the suite lies that its interpreter imports

    def has(self, case: Case) -> bool:
        """Return whether the case's workload, backend and variant are among them."""
        return case.workload in self.names and case.backend in self.ways.get(case.variant, tuple(self.backends))

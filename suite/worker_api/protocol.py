"""What parent and child say to each other, one JSON line a message."""

import msgspec

from suite.case import Case
from suite.data.edition import Size
from suite.results.records.machine import Software
from suite.results.records.run import Run, Sample, Stage
from suite.scopes import Scope
from suite.worker_api.clock import Plan
from suite.workload import Description, Plain, WholeRun


class Task(Plain, frozen=True, kw_only=True):
    """What one process has to do; `cases` differ in scope only and are measured in the order step, transfer.

    All other scopes have a process of their own; `run` is the whole run that is wanted.
    """

    cases: tuple[Case, ...]
    dataset: str
    seed: int
    plan: Plan
    flow: Plan  # of batches that come from storage
    size: Size = "small"  # of the embedded data
    run: WholeRun | None = None
    most_steps: int | None = None  # of scope `learning`, whatever the case asks for
    replay: bool = False  # short replays are made after the samples
    longest_step_seconds: float | None = None  # what takes longer in its first step is skipped
    most_seconds: float | None = None  # of the process: steps too long for that get their shortest honest sample
    energy_seconds: float = 0.0  # how long the step goes on after the samples while its energy is counted


class WorkerReport(Plain, frozen=True, kw_only=True):
    """What a process that ended well has to tell: of each scope a run as its record will have it.

    The parent fills in what it alone sees, such as the samples that were said one by one.
    """

    runs: dict[Scope, Run]
    software: Software
    energy_step_seconds: float | None = None  # of a step while its energy was counted


class Message(Plain, frozen=True, kw_only=True):
    """One message of the child: a stage begins, a stage or sample ended, all is done, or it failed."""

    stage: str
    stage_time: Stage | None = None
    sample: Sample | None = None
    report: WorkerReport | None = None
    reason: str = ""


class Offer(Plain, frozen=True, kw_only=True):
    """What one implementation can run here."""

    implementation: str
    backends: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  # backend to the devices it has
    packages: dict[str, str] = msgspec.field(default_factory=dict)
    workloads: tuple[Description, ...] = ()  # of jax; the controls of the others are named alike
    ceilings: tuple[Description, ...] = ()  # what shows how much the machine can do at most
    names: tuple[str, ...] = ()  # workloads that this implementation has
    problem: str = ""  # why it cannot run at all
    package: str = ""  # where the suite lies that its interpreter imports

"""What parent and child say to each other, one JSON line a message."""

from suite.case import Case
from suite.data.edition import Size
from suite.results.records.record import Audit, Learnt, Sample, Score, Served, Stage
from suite.scopes import Scope
from suite.worker_api.clock import Plan
from suite.workload import Plain, WholeRun


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


class ScopeResult(Plain, frozen=True, kw_only=True):
    """What a scope showed; the fields are those of a record's run. Only the steady state has all of them.

    Its samples are said one by one as they end, so that the parent can stamp them; those of other scopes stand here.
    """

    samples: tuple[Sample, ...] = ()
    blocking_samples: tuple[Sample, ...] = ()
    steps_per_sample: int = 1
    doubling_ratio: float | None = None
    warmup: tuple[Sample, ...] = ()
    warmup_converged: bool | None = None
    compilations: int | None = None
    other_load_cores: float | None = None
    minor_faults_per_step: float | None = None
    first_batch_seconds: float | None = None  # from storage, workers started and all
    step_alone_seconds: float | None = None  # of a step whose batch is on the device
    learnt: Learnt | None = None
    served: Served | None = None
    scores: tuple[Score, ...] = ()


class WorkerReport(Plain, frozen=True, kw_only=True):
    """All that a process which ended well has to tell beside its stages."""

    input_digest: str
    first_loss: float | None  # None: not a number, which JSON cannot say
    last_loss: float | None
    peak_memory_bytes: int
    device_memory_bytes: int | None
    python: str
    packages: dict[str, str]
    settings: dict[str, str]
    cache_hits: int | None = None
    bytes_per_step: int | None = None  # that a step has to read and write at least
    energy_step_seconds: float | None = None  # of a step while its energy was counted
    audit: Audit | None = None
    program: str = ""  # digest of what was measured and of its settings
    scopes: dict[Scope, ScopeResult]


class Message(Plain, frozen=True, kw_only=True):
    """One message of the child: a stage begins, a stage or sample ended, all is done, or it failed."""

    stage: str
    stage_time: Stage | None = None
    sample: Sample | None = None
    report: WorkerReport | None = None
    reason: str = ""

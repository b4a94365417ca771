"""What parent and child say to each other, one JSON line a message."""

from suite.measure.clock import Plan
from suite.results.record import Sample, Stage
from suite.workload import Case, Plain


class Task(Plain, frozen=True, kw_only=True):
    """What one process has to do; `cases` differ in scope only and are measured in the order cold, step."""

    cases: tuple[Case, ...]
    dataset: str
    seed: int
    plan: Plan
    energy_seconds: float = 0.0  # how long the step goes on after the samples while its energy is counted


class Steady(Plain, frozen=True, kw_only=True):
    """What the steady state showed; the fields are those of a record's run."""

    steps_per_sample: int
    doubling_ratio: float | None
    warmup: tuple[Sample, ...]
    warmup_converged: bool
    samples: tuple[Sample, ...]
    compilations: int
    load_by_others: float
    minor_faults_per_step: float


class Facts(Plain, frozen=True, kw_only=True):
    """All that a process which ended well has to tell beside its stages."""

    input_digest: str
    first_loss: float | None  # None: not a number, which JSON cannot say
    last_loss: float | None
    peak_memory_bytes: int
    device_memory_bytes: int | None
    python: str
    packages: dict[str, str]
    settings: dict[str, str]
    steady: Steady | None
    energy_step_seconds: float | None = None  # of a step while its energy was counted


class Line(Plain, frozen=True, kw_only=True):
    """One message of the child: a stage begins, a stage ended, all is done, or it failed."""

    stage: str
    seen: Stage | None = None
    facts: Facts | None = None
    reason: str = ""

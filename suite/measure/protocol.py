"""What parent and child say to each other, one JSON line a message."""

from suite.measure.clock import Plan
from suite.results.record import Audit, Sample, Stage
from suite.workload import Case, Plain


class Task(Plain, frozen=True, kw_only=True):
    """What one process has to do; `cases` differ in scope only and are measured in the order cold, step."""

    cases: tuple[Case, ...]
    dataset: str
    seed: int
    plan: Plan
    replay: bool = False  # short replays are made after the samples


class Steady(Plain, frozen=True, kw_only=True):
    """What the steady state showed beside its samples; the fields are those of a record's run."""

    steps_per_sample: int
    doubling_ratio: float | None
    warmup: tuple[Sample, ...]
    warmup_converged: bool
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
    cache_hits: int | None = None
    audit: Audit | None = None


class Line(Plain, frozen=True, kw_only=True):
    """One message of the child: a stage begins, a stage or sample ended, all is done, or it failed."""

    stage: str
    seen: Stage | None = None
    sample: Sample | None = None
    facts: Facts | None = None
    reason: str = ""

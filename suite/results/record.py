"""The schema of a record: one case in one campaign, with every raw sample and where it came from."""

import hashlib
from typing import Any, Literal

import msgspec

from suite.workload import Case, Description, Implementation, Plain

SCHEMA = "result/0"  # provisional: not citable, replaced when result/1 comes
_DIGEST = b'"digest": "%s"'  # as it stands in the canonical JSON
Profile = Literal["smoke", "quick", "standard"]


class Sample(Plain, frozen=True, kw_only=True):
    """One timed chain of dependent steps: wall clock and CPU time of the process, in seconds, for the whole chain."""

    wall_seconds: float
    process_seconds: float


class Stage(Plain, frozen=True, kw_only=True):
    """One stage of a process's life before its samples: import, init, lower, compile, first_step."""

    name: str
    wall_seconds: float
    process_seconds: float


class Run(Plain, frozen=True, kw_only=True):
    """One child process's contribution to a case; `reason` is empty when it ended well."""

    round: int
    position: int  # place in the round's random order, from 0
    seed: int
    started: str  # UTC, ISO 8601, whole seconds
    reason: str = ""
    stages: tuple[Stage, ...] = ()
    steps_per_sample: int = 0
    doubling_ratio: float | None = None  # time of 2K steps over time of K steps
    warmup: tuple[Sample, ...] = ()  # stored, never summarised
    warmup_converged: bool | None = None
    samples: tuple[Sample, ...] = ()
    compilations: int | None = None  # during samples; must be 0
    first_loss: float | None = None
    last_loss: float | None = None
    input_digest: str = ""  # sha256 of the batches that were rotated
    load_by_others: float | None = None  # cores busy with other processes during the samples
    minor_faults_per_step: float | None = None
    peak_memory_bytes: int | None = None  # resident set of the process
    device_memory_bytes: int | None = None  # peak in use on the GPU
    bytes_per_step: int | None = None  # at least read and written: state twice, what is only read once, one batch


class Gpu(Plain, frozen=True, kw_only=True):
    """One graphics processor as its driver describes it."""

    name: str
    memory_bytes: int
    compute_capability: str
    driver: str
    cuda: str  # the newest the driver supports
    graphics_clock_limit_mhz: int | None = None
    memory_clock_limit_mhz: int | None = None
    power_limit_watts: float | None = None


class Machine(Plain, frozen=True, kw_only=True):
    """What the measurement ran on; nothing here identifies a person or a host."""

    name: str  # such as 'h100-80gb, 16 cores'
    cpu_model: str
    cores: int  # granted to this process
    cpu_quota_cores: float | None = None  # of the control group; None: no limit
    cpu_governor: str | None = None
    memory_bytes: int = 0
    system: str = ""  # kernel name and release series
    virtual: bool | None = None
    gpus: tuple[Gpu, ...] = ()

    @property
    def slug(self) -> str:
        """The name as it stands in file names and addresses."""
        return "-".join(self.name.replace(",", " ").split())


class Software(Plain, frozen=True, kw_only=True):
    """Versions of what ran, and the settings that can change its speed."""

    suite: str
    python: str
    packages: dict[str, str]  # name to version: jax, jaxlib, flax, optax, numpy, torch ...
    settings: dict[str, str]  # environment variables and options with a bearing on speed


class Record(Plain, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """One case in one campaign. Written once, never edited; `digest` is over everything else."""

    campaign: str
    created: str  # UTC, ISO 8601, whole seconds
    profile: Profile
    workload: str
    backend: str
    case: Case
    machine: Machine
    software: Software
    commit: str  # of the suite; '+changed' appended when the checkout was not clean; '' outside one
    description: Description
    runs: tuple[Run, ...]
    rounds: int  # planned
    reason: str = ""  # why there are no or too few runs
    experiment: str = ""  # that asked for it; its records stand on its own page, not among the headline's
    implementations: tuple[Implementation, ...] = ()  # that ran this workload on this backend at this precision
    digest: str = ""

    @property
    def name(self) -> str:
        """File name without ending: the case's written form, safe in paths and addresses."""
        return self.case.text(self.description.batch).replace("/", ".").replace("=", "-")


def to_json(record: Record | Any) -> bytes:
    """Return the canonical JSON: schema order, two spaces, one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def digest(content: bytes, stated: str = "") -> str:
    """Return the sha256 of a record's file in which the digest that it states is blank.

    It is taken of the bytes, so that records stay valid when the schema gains a field.
    """
    return hashlib.sha256(content.replace(_DIGEST % stated.encode(), _DIGEST % b"")).hexdigest()


def sealed(record: Record) -> Record:
    """Return the record with its digest filled in."""
    return msgspec.structs.replace(record, digest=digest(to_json(msgspec.structs.replace(record, digest=""))))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a record, for readers in other languages."""
    return msgspec.json.schema(Record)

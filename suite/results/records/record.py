"""The schema of a record: one case in one campaign, with every raw sample and where it came from."""

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from suite.results.records.choices import choices
from suite.workload import Case, Description, Implementation, Plain, axes

Schema = Literal["result/0", "result/1", "result/2"]  # all are read for ever
SCHEMA: Schema = "result/2"  # what is written now: result/1 with host, program, method and kind of CPU
STABLE: frozenset[Schema] = frozenset({"result/1", "result/2"})  # result/0 was provisional: not citable
METHOD = 1  # raised by hand when the way of timing changes; times of different methods are never pooled
_DIGEST = b'"digest": "%s"'  # as it stands in the canonical JSON
_COMPARED = ("step", "input", "serve")  # the scopes that other implementations have too
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_ARCHITECTURES = ("x86_64", "amd64", "i386", "i686", "aarch64", "arm64", "armv7l", "ppc64le", "s390x", "riscv64")
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
Profile = Literal["smoke", "quick", "standard"]


class Sample(Plain, frozen=True, kw_only=True):
    """One timed chain of dependent steps: wall clock and CPU time of the process, in seconds, for the whole chain."""

    wall_seconds: float
    process_seconds: float


class Stage(Plain, frozen=True, kw_only=True):
    """One stage of a process's life, which together are all of it, from its fork to its end; the rest is in `other`.

    Records of older campaigns have those before the samples alone.
    """

    name: str
    wall_seconds: float
    process_seconds: float | None  # None: of `start`, `end` and `other`, which its parent alone sees


class Level(Plain, frozen=True, kw_only=True):
    """Mean and maximum over the readings of a window."""

    mean: float
    max: float


class GpuTelemetry(Plain, frozen=True, kw_only=True):
    """One GPU during a window; None where the driver does not answer."""

    utilisation: Level | None = None  # share of the driver's sampling period in which a kernel ran
    power_watts: Level | None = None
    sm_clock_mhz: Level | None = None
    memory_clock_mhz: Level | None = None
    temperature_celsius: Level | None = None
    memory_bytes: Level | None = None  # in use, by everybody
    reasons: tuple[str, ...] | None = None  # that held its clocks below their limit
    other_processes: _Count | None = None  # the most that computed on it beside ours


class Moment(Plain, frozen=True, kw_only=True):
    """What a stretch of a window came to, of the granted cores and the first GPU; None where nothing answers."""

    seconds: float  # from the window's first reading to the stretch's end
    cpu_utilisation: float | None = None
    gpu_utilisation: float | None = None
    gpu_watts: float | None = None
    gpu_clock_mhz: float | None = None
    gpu_celsius: float | None = None


class Telemetry(Plain, frozen=True, kw_only=True):
    """What the machine did during a run's samples, watched by another process; None where nothing answers."""

    seconds: float  # of the window
    readings: _Count  # that fell into it
    reason: str = ""  # why there are none
    cpu_utilisation: Level | None = None  # share of the granted cores
    others_cores: float | None = None  # busy with others than the run's process, its children and the telemetry
    own_cores: float | None = None  # busy with the telemetry itself
    steal: float | None = None  # share of the granted cores' time that other virtual machines had
    throttled_periods: _Count | None = None  # in which the control group was held back
    gpus: tuple[GpuTelemetry, ...] = ()  # that CUDA may use, in its order
    course: tuple[Moment, ...] = ()  # of the window, in equal stretches


class Energy(Plain, frozen=True, kw_only=True):
    """What the hardware's own counters say while the step goes on after the samples; None where there is none."""

    seconds: float  # between the two readings that were subtracted
    step_seconds: float | None = None  # of a step meanwhile
    gpu_joules: float | None = None  # of the GPUs that the case uses
    gpu_utilisation: float | None = None  # share of the time in which a kernel ran, of the first of them
    package_joules: float | None = None  # of the CPU packages, whoever keeps them busy
    gpu_idle_watts: float | None = None  # before the campaign began
    package_idle_watts: float | None = None
    reason: str = ""  # why there is nothing


class JaxprCost(Plain, frozen=True, kw_only=True):
    """Cost of the step's jaxpr: what its results need; what they do not, the compiler leaves out."""

    flop_per_step: float  # of matrix products and convolutions; of those in a loop that no turn changes, once
    parameters: int  # floating numbers that the step takes beside its batch
    examples: int  # in its batch; 0: it does not take the whole batch
    product_dtypes: tuple[str, ...]
    product_precisions: tuple[str, ...]


class Replay(Plain, frozen=True, kw_only=True):
    """Losses of short replays after the samples, each from the start; all but the first with one batch alone.

    A call is the least number of steps. A loss that is not finite is None.
    """

    first: float | None  # of the first call, as it was taken
    once: float | None  # of the first call
    twice: float | None  # of the second call
    together: float | None  # of two calls' steps in one chain; must be `twice`
    other_inputs: float | None  # of the first call with another batch
    other_state: bool | None = None  # that call left another state behind, which outputs of one half cannot hide
    other_seed: float | None  # of the first call with other initial values, one of several that were tried
    other_seed_twice: float | None = None  # of the second, which a deep network that answers 0 at first moves too


class Audit(Plain, frozen=True, kw_only=True):
    """What a process was seen to be and to do beside its times; None where its implementation cannot tell."""

    cores: int  # that its threads may use
    platform: str | None = None  # of the device that holds its arrays
    inputs_kept: bool = True  # the batches are after the samples what they were before
    unfinished_seconds: float | None = None  # for which work went on after the last sample had ended
    awaited_seconds: float | None = None  # of these, until the last array was there
    program: JaxprCost | None = None
    replay: Replay | None = None  # in a campaign's first round


class Predictions(Plain, frozen=True, kw_only=True):
    """What a network with one sigmoid output says of photographs, half of which show a dog, which is its 1."""

    pixels: Literal["0 to 1", "0 to 255"]  # that it was given; it has learnt from 0 to 1
    examples: _Count
    mean_output: float
    above_half: float  # share of outputs above 0.5
    exactly_one: float  # share of outputs that are 1 in float32
    accuracy_above_half: float  # where an output above 0.5 means a dog
    accuracy_exactly_one: float  # where an output of exactly 1 means a dog


class Learnt(Plain, frozen=True, kw_only=True):
    """What training from storage came to, judged by examples that it never saw."""

    steps: _Count
    losses: tuple[float, ...]  # of every `loss_every`-th step, and of the last
    loss_every: _Count
    examples: _Count  # of the validation, all of it
    accuracy: float  # share of them answered right
    predictions: tuple[Predictions, ...] = ()  # of networks that tell cats from dogs


class Served(Plain, frozen=True, kw_only=True):
    """How each request fared, a new one of which was sent whenever one had its answer."""

    in_flight: _Count  # requests that were under way at any time
    latency_seconds: tuple[float, ...]  # of each in turn, from its dispatch until its answer was on the host
    pictures: _Count  # different ones, sent in turn
    answers: _Count  # different ones
    wrong_answers: _Count  # other than that of the same picture when nothing else was under way


class Score(Plain, frozen=True, kw_only=True):
    """What one point of a grid search came to, by the examples that each of its fits held out."""

    hidden: tuple[_Count, ...]  # widths of the hidden layers
    epochs: _Count
    log_losses: tuple[float, ...]  # mean, of each fold


class ReferenceKernel(Plain, frozen=True, kw_only=True):
    """What two fixed kernels reached on all granted cores just before a process, which tells how fast its host was."""

    matmul_flop_per_second: float  # of a float32 matrix product
    copy_bytes_per_second: float  # read and written, both counted
    seconds: float  # that they took, with the start of the process that ran them


class Run(Plain, frozen=True, kw_only=True):
    """One child process's contribution to a case; `reason` is empty when it ended well.

    Two fields keep in the file the name that result/1 has for them.
    """

    round: int
    position: int  # place in the round's random order, from 0
    seed: int
    started: str  # UTC, ISO 8601, whole seconds
    reason: str = ""
    stages: tuple[Stage, ...] = ()
    steps_per_sample: int = 0
    doubling_ratio: float | None = None  # time of 2K steps over time of K steps
    warmup: tuple[Sample, ...] = ()  # stored, never summarised
    warmup_converged: bool | None = None  # no longer stated: `clock.settled` tells it of the warm-up
    samples: tuple[Sample, ...] = ()
    # Calls that each block before the next begins; none where a sample is one call.
    blocking_samples: tuple[Sample, ...] = msgspec.field(default=(), name="alone")
    compilations: int | None = None  # during samples; must be 0
    cache_hits: int | None = None  # programs that the compile stage took from a cache
    first_loss: float | None = None
    last_loss: float | None = None
    input_digest: str = ""  # sha256 of the batches that were rotated
    # Cores busy with other processes during the samples.
    other_load_cores: float | None = msgspec.field(default=None, name="load_by_others")
    minor_faults_per_step: float | None = None  # no longer taken
    peak_memory_bytes: int | None = None  # resident set of the process
    device_memory_bytes: int | None = None  # peak in use on the GPU
    bytes_per_step: int | None = None  # at least read and written: state twice, what is only read once, one batch
    telemetry: Telemetry | None = None
    energy: Energy | None = None  # once a case, in the first round
    elapsed_seconds: float | None = None  # of all samples, by the clock of the parent process
    audit: Audit | None = None
    first_batch_seconds: float | None = None  # from storage, workers started and all; scopes `epoch` and `input`
    step_alone_seconds: float | None = None  # of a step whose batch is on the device, in scope `epoch`
    learnt: Learnt | None = None  # in scope `learning`
    served: Served | None = None  # in scope `serve`
    scores: tuple[Score, ...] = ()  # of a whole run that is a grid search
    host: str = ""  # one-way hash of the boot it ran under, 16 hex characters; "": unknown
    program: str = ""  # digest of the step, its options and settings, 16 hex characters; "": none, or unknown
    kernel: ReferenceKernel | None = None  # before a process on the CPU


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
    slice: str = ""  # that MIG has made of a card, such as 1g.10gb: its share of the processors, then its memory


class CpuKind(Plain, frozen=True, kw_only=True):
    """What two CPUs must share for their times to be pooled. Memory is no part of it."""

    model: str  # such as 'GenuineIntel family 6 model 143'; '' if the machine does not say
    cores: int  # granted
    virtual: bool | None = None  # None: not known

    @property
    def words(self) -> str:
        """The kind in words."""
        virtual = {True: "virtual", False: "not virtual", None: "virtual or not is not known"}[self.virtual]
        return f"{self.model or 'model not known'}, {self.cores} core{'s' if self.cores != 1 else ''}, {virtual}"


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
    cpu_vendor: str | None = None  # as the CPU says it, such as 'GenuineIntel'; of ARM its implementer
    cpu_family: _Count | None = None  # of ARM the version of its architecture
    cpu_number: _Count | None = None  # model within the family; of ARM the part
    threads_per_core: _Count | None = None  # hardware threads; a virtual machine may not show them

    @property
    def cpu_kind(self) -> CpuKind:
        """The kind of CPU: by family and model; of an older record, which lacks them, by a name that has a number."""
        if self.cpu_vendor and self.cpu_family is not None and self.cpu_number is not None:
            model = f"{self.cpu_vendor} family {self.cpu_family} model {self.cpu_number}"
        else:
            model = self.cpu_model if names_a_model(self.cpu_model) else ""
        return CpuKind(model=model, cores=self.cores, virtual=self.virtual)

    @property
    def slug(self) -> str:
        """The name as it stands in file names and addresses."""
        return slug(self.name)


class Software(Plain, frozen=True, kw_only=True):
    """Versions of what ran, and the settings that can change its speed."""

    suite: str
    python: str
    packages: dict[str, str]  # name to version: jax, jaxlib, flax, optax, numpy, torch ...
    settings: dict[str, str]  # environment variables and options with a bearing on speed


class Record(Plain, frozen=True, kw_only=True, dict=True):
    """One case in one campaign. Written once, never edited; `digest` is over everything else."""

    schema: Schema
    campaign: str
    created: str  # UTC, ISO 8601, whole seconds
    profile: Profile
    workload: str
    backend: str
    case: Case
    machine: Machine
    software: Software
    commit: str  # of the suite; '+changed' appended when the checkout was not clean; '' outside one
    method: _Count = 0  # of timing, see METHOD; 0: before it was numbered
    description: Description
    runs: tuple[Run, ...]
    rounds: int  # planned
    reason: str = ""  # why there are no or too few runs
    experiment: str = ""  # that asked for it
    implementations: tuple[Implementation, ...] = ()  # that ran this workload on this backend at this precision
    digest: str = ""

    @cached_property
    def name(self) -> str:
        """File name without ending: the case's written form, safe in paths and addresses."""
        return file_name(self.case, self.description.batch)

    @cached_property
    def machine_and_case(self) -> tuple[str, str]:
        """Machine and case among records of which one is current: random content and a stand-in have one row."""
        return self.machine.slug, file_name(self.case.timed, self.description.batch)

    @property
    def label(self) -> str:
        """A short name of its case, its workload left out."""
        return self.case.label(self.description)

    @property
    def host(self) -> str:
        """The one host of all its runs that ended well; '' if it is unknown, or if they had several."""
        return _shared(run.host for run in self.runs if not run.reason)

    @property
    def program(self) -> str:
        """The one program of all its runs that ended well; '' if it is unknown, or if they had several."""
        return _shared(run.program for run in self.runs if not run.reason)

    @property
    def general(self) -> bool:
        """Whether it stands among the headline's: an experiment's does where it was measured as if nobody had asked."""
        return not self.experiment or self.usual()

    @property
    def cut_short(self) -> bool:
        """Whether it is of a whole run that is not the documented one, as profile smoke takes a few examples of it."""
        return self.case.scope == "run" and self.profile == "smoke"

    def usual(self, *free: str) -> bool:
        """Return whether all is as if nobody had asked: the headline's batch, each axis at its default but free ones.

        Data and allocator are always free: a machine or its data decide on them. So do the threads that were chosen for
        this implementation's step on such a CPU.
        """
        plain = axes() | {
            "batch": self.description.batch,
            "threads": self.case.threads if self.chosen_threads else None,
        }
        return all(getattr(self.case, name) == plain[name] for name in plain.keys() - {*free, "data", "allocator"})

    @property
    def chosen_threads(self) -> bool:
        """Whether its CPU has the threads that were chosen for such a step, fewer than all cores."""
        case = self.case
        if case.backend != "cpu" or case.threads is None:
            return False
        return case.threads == choices().threads_of(case.workload, case.implementation, self.machine.cores)

    @property
    def compared_as(self) -> Case:
        """The case that its time counts for: either allocator, of which the better one does, and chosen threads."""
        case = self.case.ignoring_allocator
        return msgspec.structs.replace(case, threads=None) if self.chosen_threads else case

    def headline_step(self, *free: str) -> bool:
        """Return whether it is of JAX's step in the headline setting, whatever the free axes are."""
        return self.case.scope == "step" and self.usual(*free)

    @property
    def is_partial(self) -> bool:
        """Whether rounds were never tried, as where a machine was lost; one that failed is a finding instead."""
        return not self.reason and len(self.runs) < self.rounds

    @property
    def sort_key(self) -> tuple[bool, bool, bool, str]:
        """Orders records by age, but smoke only shows that it runs, and what was broken off replaces nothing whole.

        One process alone has no interval, so it replaces no record of several.
        """
        alone = len(self.runs) == 1 and not self.reason
        return self.profile != "smoke", not self.is_partial, not alone, self.created

    @property
    def current_key(self) -> tuple[bool, bool, bool, bool, str]:
        """Orders the records of a place, whose last one is current: by age, but an experiment's has no baselines.

        Of a scope that no baseline has, by age alone.
        """
        measured, ended, several, created = self.sort_key
        return measured, ended, several, not self.experiment or self.case.scope not in _COMPARED, created


def _shared(values: Iterable[str]) -> str:
    found = set(values)
    return found.pop() if len(found) == 1 else ""


def names_a_model(cpu: str) -> bool:
    """Return whether a CPU's name tells its model: 'AMD EPYC' and 'x86_64' do not, 'Apple M2' does."""
    name = re.sub(r"@.*", "", cpu)  # a clock is no model's number
    return bool(re.search(r"\d", name)) and name.strip().lower() not in _ARCHITECTURES


_T = TypeVar("_T")


def once(function: Callable[[Record], _T]) -> Callable[[Record], _T]:
    """Return the function so that it computes its value once a record, which keeps the value as long as it lives.

    A cache by value would hash every sample of a record to find it.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(record: Record) -> _T:
        kept = vars(record)
        if name not in kept:
            kept[name] = function(record)
        return kept[name]

    return known


def slug(name: str) -> str:
    """Return a machine's name as it stands in file names and addresses."""
    return "-".join(name.replace(",", " ").split())


def plain_name(name: str) -> bool:
    """Return whether a name may become a file name and an address."""
    return bool(_PLAIN_NAME.fullmatch(name)) and ".." not in name


def file_name(case: Case, headline_batch: int) -> str:
    """Return a record's file name without ending."""
    return case.text(headline_batch).replace("/", ".").replace("=", "-")


def to_json(record: Record | Any) -> bytes:
    """Return the canonical JSON: schema order, indented by one space, one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def digest(content: bytes, stated: str = "") -> str:
    """Return the sha256 of a record's file in which the digest that it states is blank.

    It is taken of the bytes, so that records stay valid when the schema gains a field.
    """
    return hashlib.sha256(content.replace(_DIGEST % stated.encode(), _DIGEST % b"")).hexdigest()


def sealed(record: Record) -> Record:
    """Return the record with its digest filled in."""
    return msgspec.structs.replace(record, digest=digest(to_json(msgspec.structs.replace(record, digest=""))))

"""What one child process contributes to a record: times, telemetry and checks."""

from typing import Annotated, Literal

import msgspec

from suite.workload import Plain

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Sample(Plain, frozen=True, kw_only=True):
    """One timed chain of dependent steps: wall-clock and process CPU seconds of the whole chain.

    In scope `kernels` the wall seconds are those in which the GPU was busy.
    """

    wall_seconds: float
    process_seconds: float


class Stage(Plain, frozen=True, kw_only=True):
    """One stage of a process's life. Stages cover it from fork to exit; the remainder is `other`.

    Records of older campaigns have only the stages before the samples.
    """

    name: str
    wall_seconds: float
    process_seconds: float | None  # None for `start`, `end` and `other`, which only the parent sees


class Level(Plain, frozen=True, kw_only=True):
    """Mean and maximum over the readings of a window."""

    mean: float
    max: float


class GpuTelemetry(Plain, frozen=True, kw_only=True):
    """One GPU during a window; None if the driver does not report a value."""

    utilisation: Level | None = None  # share of the driver's sampling period in which a kernel ran
    power_watts: Level | None = None
    sm_clock_mhz: Level | None = None
    memory_clock_mhz: Level | None = None
    temperature_celsius: Level | None = None
    memory_bytes: Level | None = None  # in use by all processes
    reasons: tuple[str, ...] | None = None  # that limited its clocks
    other_processes: Count | None = None  # most at once


class Moment(Plain, frozen=True, kw_only=True):
    """Means over part of a window, of the granted cores and the first GPU; None if unavailable."""

    seconds: float  # from the window's first reading to the end of this part
    cpu_utilisation: float | None = None
    gpu_utilisation: float | None = None
    gpu_watts: float | None = None
    gpu_clock_mhz: float | None = None
    gpu_celsius: float | None = None


class Telemetry(Plain, frozen=True, kw_only=True):
    """The machine during a run's samples, sampled by another process; None if unavailable."""

    seconds: float  # of the window
    readings: Count  # in the window
    reason: str = ""  # why readings are missing
    cpu_utilisation: Level | None = None  # share of the granted cores
    others_cores: float | None = None  # busy with processes other than the run's, its children and the telemetry
    own_cores: float | None = None  # busy with the telemetry itself
    steal: float | None = None  # share of the granted cores' time taken by other virtual machines
    throttled_periods: Count | None = None  # in which the control group was throttled
    gpus: tuple[GpuTelemetry, ...] = ()  # that CUDA may use, in its order
    course: tuple[Moment, ...] = ()  # of the window, in equal parts


class Energy(Plain, frozen=True, kw_only=True):
    """Hardware energy counters over a sustained-load window after the samples; None if unsupported."""

    seconds: float  # between the two counter readings
    step_seconds: float | None = None  # of a step in the window
    gpu_joules: float | None = None  # of the case's GPUs
    gpu_utilisation: float | None = None  # share of the time in which a kernel ran on the first GPU
    package_joules: float | None = None  # of the CPU packages, all processes
    gpu_idle_watts: float | None = None  # before the campaign began
    package_idle_watts: float | None = None
    reason: str = ""  # why values are missing


class JaxprCost(Plain, frozen=True, kw_only=True):
    """Cost of the step's jaxpr, without operations whose results are unused: the compiler removes them."""

    flop_per_step: float  # of matrix products and convolutions; loop-invariant ones count once
    parameters: int  # floating-point inputs of the step other than its batch
    examples: int  # in its batch; 0 if it does not take the whole batch
    product_dtypes: tuple[str, ...]
    product_precisions: tuple[str, ...]


class Replay(Plain, frozen=True, kw_only=True):
    """Losses of short replays after the samples, each from the initial state; all but the first reuse one batch.

    A call is the smallest number of steps. None if a loss is not finite.
    """

    first: float | None  # of the first call of the run
    once: float | None  # of the first call
    twice: float | None  # of the second call
    together: float | None  # of two calls' steps in one chain; must be `twice`
    other_inputs: float | None  # of the first call with another batch
    other_state: bool | None = None  # that call ended in another state; differs even if all outputs are 0.5
    # Of the first call with other initial values, one of several seeds tried; None also if the program holds its own.
    other_seed: float | None
    other_seed_twice: float | None = None  # of the second call: changes even for a deep network that returns 0 at first
    rotated: bool | None = None  # two calls over all input sets end elsewhere than over the first set alone


class Audit(Plain, frozen=True, kw_only=True):
    """Checks of a process beside its times; None if its implementation does not support them."""

    cores: int  # available to its threads
    platform: str | None = None  # of the device that holds its arrays
    inputs_kept: bool = True  # the batches are unchanged after the samples
    inputs_on_device: bool | None = None  # the arrays on the device, read back after the samples, equal the batches
    examples_differ: bool | None = None  # in each input that has several numbers an example
    unfinished_seconds: float | None = None  # of work after the end of the last sample
    awaited_seconds: float | None = None  # of these, until the last array was ready
    loss_seconds: float | None = None  # to read the last loss after that
    program: JaxprCost | None = None
    replay: Replay | None = None  # in a campaign's first round


class Predictions(Plain, frozen=True, kw_only=True):
    """Outputs of a one-sigmoid network on photographs, half of them dogs (label 1)."""

    pixels: Literal["0 to 1", "0 to 255"]  # of the inputs; training used 0 to 1
    examples: Count
    mean_output: float
    above_half: float  # share of outputs above 0.5
    exactly_one: float  # share of outputs that are 1 in float32
    accuracy_above_half: float  # where an output above 0.5 means a dog
    accuracy_exactly_one: float  # where an output of exactly 1 means a dog


class Learnt(Plain, frozen=True, kw_only=True):
    """Result of training from storage, judged on held-out examples."""

    steps: Count
    losses: tuple[float, ...]  # of every `loss_every`-th step, and of the last
    loss_every: Count
    examples: Count  # of the whole validation set
    accuracy: float  # share of correct answers
    predictions: tuple[Predictions, ...] = ()  # of cat-and-dog networks


class Served(Plain, frozen=True, kw_only=True):
    """Latency and answers of requests in a closed loop: each answer triggers the next request."""

    in_flight: Count  # requests in flight at any time
    latency_seconds: tuple[float, ...]  # of each request, from dispatch until its answer is on the host
    pictures: Count  # different ones, in rotation
    answers: Count  # different ones
    wrong_answers: Count  # different from the answer to the same picture alone


class Profiled(Plain, frozen=True, kw_only=True):
    """The chain of scope `kernels`, which runs under the framework's profiler."""

    wall_seconds: float  # of the chain, by the host's clock
    operations_per_step: float  # kernels, copies and memory sets on the GPU


class Score(Plain, frozen=True, kw_only=True):
    """Scores of one grid-search point on the held-out fold of each fit."""

    hidden: tuple[Count, ...]  # widths of the hidden layers
    epochs: Count
    log_losses: tuple[float, ...]  # mean, of each fold


class ReferenceKernel(Plain, frozen=True, kw_only=True):
    """Throughput of two fixed kernels on all granted cores just before a process: the speed of its host."""

    matmul_flop_per_second: float  # float32 matrix product
    copy_bytes_per_second: float  # read and written, both counted
    seconds: float  # of both kernels and the start of their process


class Run(Plain, frozen=True, kw_only=True):
    """One child process's contribution to a case; `reason` is empty if it succeeded.

    Two fields keep their result/1 names in the file.
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
    warmup_converged: bool | None = None  # no longer stated: `clock.settled` derives it from the warm-up
    samples: tuple[Sample, ...] = ()
    # Calls, in scope `serve` requests, that each block before the next begins; empty if a sample is one call.
    blocking_samples: tuple[Sample, ...] = msgspec.field(default=(), name="alone")
    compilations: int | None = None  # during samples; must be 0
    cache_hits: int | None = None  # programs that the compile stage read from a cache
    first_loss: float | None = None
    last_loss: float | None = None
    input_digest: str = ""  # sha256 of the rotated batches
    # Cores busy with other processes during the samples
    other_load_cores: float | None = msgspec.field(default=None, name="load_by_others")
    minor_faults_per_step: float | None = None  # no longer measured
    peak_memory_bytes: int | None = None  # resident set of the process
    device_memory_bytes: int | None = None  # peak in use on the GPU
    bytes_per_step: int | None = None  # lower bound: state read and written, other inputs read, one batch
    telemetry: Telemetry | None = None
    energy: Energy | None = None  # once a case, in the first round
    elapsed_seconds: float | None = None  # of all samples, by the parent's clock
    audit: Audit | None = None
    first_batch_seconds: float | None = None  # from storage, with the start of workers; scopes `epoch` and `input`
    step_alone_seconds: float | None = None  # of a step with its batch on the device, in scope `epoch`
    learnt: Learnt | None = None  # in scope `learning`
    served: Served | None = None  # in scope `serve`
    scores: tuple[Score, ...] = ()  # of a grid search
    profiled: Profiled | None = None  # in scope `kernels`
    host: str = ""  # one-way hash of the boot, 16 hex characters; "": unknown
    program: str = ""  # digest of the step, its options and settings, 16 hex characters; "": none, or unknown
    kernel: ReferenceKernel | None = None  # before a CPU process

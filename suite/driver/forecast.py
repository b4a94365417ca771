"""Process durations, from the group's last process or a corrected guess, and the time that a command has left."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from suite.case import Backend, Case
from suite.driver.campaign import ProcessGroup, compiles_anew, processes
from suite.driver.journal import CompletedRun, Header
from suite.driver.profiles import CHAIN_SECONDS, EFFORTS, Effort, epoch_steps
from suite.results.single.validity import FEWEST_SAMPLES, is_short
from suite.scopes import FEWEST_REQUESTS, PROFILED_CHAINS, SCOPES
from suite.variants import takes_epochs
from suite.worker_api.program import PICTURES
from suite.workload import Description, WholeRun

_START_SECONDS = 8.0  # interpreter, imports, data, initial state
_KERNEL_SECONDS = 1.3  # of the reference kernels before a process on the CPU
_COMPILE_SECONDS_PER_FLOP = 0.4e-9  # of one example's forward pass: deep networks compile longer
_TORCH_COMPILE_SECONDS = 25.0  # of torch.compile, in each process: it caches nothing
# To autotune a GPU's kernels, unless they are in the compile cache.
_CHOOSING_SECONDS, _CHOOSING_SECONDS_PER_FLOP = 12.0, 3e-9
_FLOP_PER_SECOND = {"cpu": 60e9, "gpu": 8e12}  # sustained, of a core and of a GPU
_SEARCH_FLOP_PER_SECOND = 30e9  # of a CPU with any number of cores: grid searches train small networks
_PROFILE_SECONDS = 8.0  # to begin and end a profile and to read its trace
_CALL_SECONDS = 5e-4  # to copy a batch and dispatch a step from Python
_DISPATCH_SECONDS = 2e-4  # to dispatch a step whose batch is on the device
_DOUBLINGS = 12
_PIPELINE_SECONDS = 3.0  # until the first batch is ready
_EXAMPLE_SECONDS = 6e-5  # to prepare a small example in the input pipeline: Python, whatever the number of threads
_EPOCH_EXAMPLES = 10_000  # if the source states no epoch
_CORRECTION = (0.1, 20.0)  # limits of the correction of a guess
_LEAST_SECONDS = 1.0  # shortest process

# Of a process with one warm-up step and one sample of one step.
SHORTEST = replace(
    EFFORTS["quick"],
    samples=1,
    warmup_steps=1,
    warmup_seconds=0.0,
    warmup_least_seconds={"cpu": 0.0, "gpu": 0.0},
    sampling_seconds=0.0,
)
_OVERRUN = 0.05  # of the budget: a process that overruns it by more is ended


class Forecast:
    """Durations, in seconds, of a plan's processes; a group is the cases that one process measures."""

    def __init__(self, header: Header, done: Sequence[CompletedRun] = ()) -> None:
        self._about = {description.name: description for description in header.descriptions}
        self._effort, self._cores = EFFORTS.get(header.profile, EFFORTS["quick"]), header.machine.cores
        self._groups: dict[Case, ProcessGroup] = {group[0]: group for group in processes(header)}
        self._guesses: dict[tuple[ProcessGroup, bool], float] = {}
        self._chosen: set[ProcessGroup] = set()  # groups whose kernels are in the compile cache
        self._seen: dict[ProcessGroup, float] = {}
        # log(duration / guess) by backend, apart for processes that choose kernels or compile anew
        self._shares: dict[tuple[Backend, bool], dict[ProcessGroup, float]] = defaultdict(dict)
        self.learn(sorted(done, key=lambda entry: entry.run.round))

    def seconds(self, group: ProcessGroup) -> float:
        """Return the duration of the group's next process."""
        return self._seen[group] if group in self._seen else self._corrected(group, self._guess(group))

    def shortest(self, group: ProcessGroup) -> float:
        """Return the duration of the group's shortest process, which takes one sample of one step."""
        return self._corrected(group, self._guess(group, shortest=True))

    def total(self, these: Iterable[ProcessGroup]) -> float:
        """Return the duration of one process of each group."""
        return sum(map(self.seconds, these))

    def learn(self, done: Iterable[CompletedRun]) -> None:
        """Learn from completed runs in the order in which they ran; failed ones are ignored.

        A run with shortened samples corrects guesses, but does not set its group's duration.
        """
        for entry in done:
            group = self._groups.get(entry.case)  # each process counts once, by its first case
            if group is None or entry.run.reason or entry.seconds <= 0:
                continue
            first, short = self._choosing(group), is_short(entry.case, entry.run)
            share = entry.seconds / (self._guess(group, short) + first)
            if not short:
                self._seen[group] = max(entry.seconds - share * first, _LEAST_SECONDS)
            self._shares[self._kind(group)][group] = math.log(share)
            self._chosen.add(group)

    def _guess(self, group: ProcessGroup, shortest: bool = False) -> float:
        if (group, shortest) not in self._guesses:
            about, effort = self._about[group[0].workload], SHORTEST if shortest else self._effort
            self._guesses[group, shortest] = process_seconds(group, about, effort, self._cores)
        return self._guesses[group, shortest]

    def _choosing(self, group: ProcessGroup) -> float:
        """Return the seconds that a group's first process spends on autotuning; later ones use the cache."""
        return 0.0 if group in self._chosen else first_seconds(group, self._about[group[0].workload])

    def _kind(self, group: ProcessGroup) -> tuple[Backend, bool]:
        """Return the backend of the group's next process, and whether it compiles for long: each has its own error."""
        return group[0].backend, self._choosing(group) > 0 or compiles_anew(group)

    def _corrected(self, group: ProcessGroup, guess: float) -> float:
        """Return a guess times the geometric mean of duration over guess of its kind, else of its backend."""
        low, high = _CORRECTION
        (backend, slow), guess = self._kind(group), guess + self._choosing(group)
        shares = (self._shares[backend, slow] or self._shares[backend, not slow]).values()
        return guess * (min(max(math.exp(fmean(shares)), low), high) if shares else 1.0)


def process_seconds(group: ProcessGroup, about: Description, effort: Effort, cores: int) -> float:
    """Return a guess of the duration, in seconds, of one process that measures all cases of the group.

    The first process of a campaign takes `first_seconds` longer.
    """
    start = _START_SECONDS + (_KERNEL_SECONDS if effort.kernel and group[0].backend == "cpu" else 0.0)
    case = group[0]
    processors = min(cores, case.threads or cores) if case.backend == "cpu" else case.devices
    rate = _FLOP_PER_SECOND[case.backend] * processors
    step = case.batch * about.flop_per_example / rate
    compiling = 2.0 + _COMPILE_SECONDS_PER_FLOP * about.forward_flop_per_example
    compiling += _choosing_seconds(group, about) if compiles_anew(group) else 0.0
    compiling += _TORCH_COMPILE_SECONDS if case.variant in ("compile", "compile-graph") else 0.0
    if case.scope == "run" and about.run is not None:
        return start + compiling + _run_seconds(case, about, about.run, effort, rate)
    if SCOPES[case.scope].timed_from_storage:
        return start + SCOPES[case.scope].computes * (compiling + 2 * step) + _flow_seconds(step, effort)
    if case.scope == "learning":
        steps = case.steps or (about.epoch_examples or _EPOCH_EXAMPLES) // case.batch
        step = max(step, case.batch * _EXAMPLE_SECONDS)  # the pipeline works while the device does
        return start + compiling + _PIPELINE_SECONDS + min(steps, effort.learning_steps or steps) * step
    if case.scope == "serve":  # a request for each picture, of the warm-up, and the counted ones
        requests = PICTURES + FEWEST_REQUESTS + _DOUBLINGS * CHAIN_SECONDS[case.backend] / step
        return start + compiling + requests * step
    if case.scope == "written" and takes_epochs(case.variant):
        step *= max(1, epoch_steps(effort, about, case.batch))  # nothing shorter is called
    chain = max(step, CHAIN_SECONDS[case.backend])
    if case.scope == "kernels":  # as many chains again calibrate them, and then warm up
        return start + compiling + (_DOUBLINGS + PROFILED_CHAINS) * chain + _PROFILE_SECONDS
    calibration = min(effort.warmup_seconds, _DOUBLINGS * chain)
    warmup = max(effort.warmup_steps * step, calibration)
    least = max(0.0, effort.warmup_least_seconds[case.backend] - warmup)  # a second steady scope is warm already
    sampling = min(effort.samples * chain, max(effort.sampling_seconds, min(effort.samples, FEWEST_SAMPLES) * chain))
    steady = sum(SCOPES[each.scope].with_step for each in group)
    return start + compiling + 2 * step + least * bool(steady) + steady * (warmup + sampling)


def first_seconds(group: ProcessGroup, about: Description) -> float:
    """Return a guess of the extra seconds of a group's first process, which fills the compile cache."""
    return 0.0 if compiles_anew(group) else _choosing_seconds(group, about)


def _choosing_seconds(group: ProcessGroup, about: Description) -> float:
    if (group[0].backend, group[0].implementation) != ("gpu", "jax"):
        return 0.0
    return _CHOOSING_SECONDS + _CHOOSING_SECONDS_PER_FLOP * about.forward_flop_per_example


def _flow_seconds(step: float, effort: Effort) -> float:
    """Return the seconds of reading from storage: warm-up and samples, each at least four steps and one second."""
    sample = max(1.0, 4 * step) if effort.warmup_seconds else step
    return _PIPELINE_SECONDS + 2 * sample + effort.samples * sample


def _run_seconds(case: Case, about: Description, run: WholeRun, effort: Effort, rate: float) -> float:
    train, test = (min(n, effort.run_examples or n) for n in (run.train, run.test))
    epochs = 1 if effort.run_examples else run.epochs * case.length
    flop = train * about.flop_per_example + test * about.forward_flop_per_example
    call = _CALL_SECONDS
    if about.grid is not None:
        rate, call = min(rate, _SEARCH_FLOP_PER_SECOND) if case.backend == "cpu" else rate, _DISPATCH_SECONDS
    return epochs * (flop / rate + (train + test) / case.batch * call)


class OutOfTimeError(Exception):
    """A running process has overrun the budget."""


class Deadline:
    """The wall time that a command has left to measure, without the part reserved for its work afterwards."""

    def __init__(
        self,
        seconds: float | None = None,
        reserved: float = 0.0,
        began: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start a budget in seconds, None for no limit, that has been running since `began`."""
        self.now, self.seconds, self.reserved = now, seconds, reserved
        self._began = now() if began is None else began

    @property
    def left(self) -> float:
        """Seconds that a process that starts now may take; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.reserved - (self.now() - self._began)

    @property
    def until_overrun(self) -> float:
        """Seconds until a running process has to be ended; infinite without a limit."""
        return self.left if self.seconds is None else max(0.0, self.left + _OVERRUN * self.seconds)

"""How one process measures: `smoke` shows that it runs, `quick` is the one way of measuring."""

from collections.abc import Mapping
from dataclasses import dataclass

from suite.case import Backend
from suite.data.edition import Size
from suite.results.records.record import Profile
from suite.scopes import SCOPES, Scope
from suite.worker_api.clock import Plan
from suite.workload import WholeRun


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Processes per case and what each of them does."""

    rounds: int  # where rounds are planned, as an experiment's are
    samples: int
    warmup_steps: int
    warmup_seconds: float  # at most
    sampling_seconds: float
    quiet_seconds: float  # how long to wait at most, before a process, for other load to end
    kernel: bool  # what fixed kernels reach is measured before each process on the CPU
    warmup_least_seconds: Mapping[Backend, float]
    run_examples: int | None = None  # of such a run's epochs and validation; None: all, and all epochs
    learning_steps: int | None = None  # at most; None: as many as the case asks for


# Published samples of PyTorch on 4 cores and more that began within six seconds of the first step fell by 5 to 9 % from
# the first two to the last two, those that began later by no more than they vary; before the samples about two seconds
# go into the doubling check. On two cores, and on GPUs, a warm-up of a second is enough.
WARMUP_LEAST_SECONDS: dict[Backend, float] = {"cpu": 4.0, "gpu": 1.5}

EFFORTS: dict[Profile, Effort] = {
    "smoke": Effort(
        rounds=1, samples=3, warmup_steps=2, warmup_seconds=0, sampling_seconds=5, quiet_seconds=0,
        kernel=False, warmup_least_seconds={"cpu": 0.0, "gpu": 0.0}, run_examples=200, learning_steps=4,
    ),
    "quick": Effort(
        rounds=3, samples=5, warmup_steps=3, warmup_seconds=8, sampling_seconds=10, quiet_seconds=30,
        kernel=True, warmup_least_seconds=WARMUP_LEAST_SECONDS,
    ),
}  # fmt: skip

# At least. On a GPU the first dispatch and the wait for every output at the end cost JAX about a millisecond a chain,
# which stays in the time: 2 minus the doubling ratio says how much of it.
CHAIN_SECONDS: dict[Backend, float] = {"cpu": 0.1, "gpu": 0.2}


def plan(profile: Profile, backend: Backend) -> Plan:
    """Return the worker's plan for a profile on a backend."""
    effort = EFFORTS[profile]
    return Plan(
        samples=effort.samples,
        chain_seconds=CHAIN_SECONDS[backend],
        warmup_steps=effort.warmup_steps,
        warmup_least_seconds=effort.warmup_least_seconds[backend],
        warmup_seconds=effort.warmup_seconds,
        sampling_seconds=effort.sampling_seconds,
    )


def flow(profile: Profile) -> Plan:
    """Return the worker's plan for batches that come from storage.

    A sample is at least four steps and a second long, five of them at least 20 steps and five seconds; three are enough
    when they have lasted a minute.
    """
    if profile == "smoke":
        return Plan(samples=3, chain_seconds=0, warmup_steps=1, warmup_seconds=0, sampling_seconds=5)
    return Plan(
        samples=EFFORTS[profile].samples, chain_seconds=1, warmup_steps=4, warmup_seconds=0, sampling_seconds=60
    )


def size(profile: Profile, scope: Scope) -> Size:
    """Return how large an embedded set is: as documented where an epoch or the input pipeline reads it."""
    return "documented" if SCOPES[scope].timed_from_storage and profile != "smoke" else "small"


def sizes(profile: Profile, scope: Scope) -> tuple[Size, ...]:
    """Return all sizes of an embedded set that a process of that scope reads: its input sets are of the small one."""
    mine = size(profile, scope)
    return (mine,) if not SCOPES[scope].computes or mine == "small" else ("small", mine)


def whole_run(profile: Profile, documented: WholeRun | None, epochs_times: int) -> WholeRun | None:
    """Return the whole run of a profile: `epochs_times` times the documented epochs; of smoke one short epoch."""
    if documented is None:
        return None
    most = EFFORTS[profile].run_examples
    if most is None:
        return WholeRun(epochs=documented.epochs * epochs_times, train=documented.train, test=documented.test)
    return WholeRun(epochs=1, train=min(most, documented.train), test=min(most, documented.test))

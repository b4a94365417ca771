"""How one process measures: `smoke` only tests that everything runs, `quick` measures."""

from collections.abc import Mapping
from dataclasses import dataclass

from suite.case import Backend
from suite.data.edition import Size
from suite.results.records.record import Profile
from suite.scopes import SCOPES, Scope
from suite.worker_api.clock import Plan
from suite.workload import Description, WholeRun


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Processes per case, and the effort of each."""

    rounds: int  # if rounds are planned, as for an experiment
    samples: int
    warmup_steps: int
    warmup_seconds: float  # at most
    sampling_seconds: float
    quiet_seconds: float  # longest wait for other load to end before a process
    kernel: bool  # run the reference kernels before each process on the CPU
    warmup_least_seconds: Mapping[Backend, float]
    run_examples: int | None = None  # of a whole run's one epoch and its validation; None: all, in all epochs
    learning_steps: int | None = None  # at most; None: the case's steps


# Published PyTorch samples on 4 cores and more that began within 6 s of the first step fell by 5 to 9 % from the first
# two to the last two; those that began later fell by no more than they vary. The doubling check takes about 2 s before
# the samples. On two cores, and on GPUs, a warm-up of 1 s is enough.
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

# At least. On a GPU the first dispatch and the final block cost JAX about 1 ms a chain, which stays in the time; 2
# minus the doubling ratio is its share.
CHAIN_SECONDS: dict[Backend, float] = {"cpu": 0.1, "gpu": 0.2}
_EPOCH_STEPS, _EPOCH_FLOP = 512, 2e12  # of an epoch in scope `written`, if none is documented; and at most


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


def epoch_steps(effort: Effort, about: Description, batch: int) -> int:
    """Return the steps of an epoch in scope `written`: as documented, at most so many that it takes seconds on a CPU.

    A smoke has only its input sets, which is 0.
    """
    if effort.run_examples is not None:
        return 0
    documented = -(-about.epoch_examples // batch) if about.epoch_examples else _EPOCH_STEPS
    return min(documented, int(_EPOCH_FLOP / max(1, batch * about.flop_per_example)))


def flow(profile: Profile) -> Plan:
    """Return the worker's plan for batches read from storage.

    A sample lasts at least four steps and one second; there are five, or three once they have taken a minute.
    """
    if profile == "smoke":
        return Plan(samples=3, chain_seconds=0, warmup_steps=1, warmup_seconds=0, sampling_seconds=5)
    return Plan(
        samples=EFFORTS[profile].samples, chain_seconds=1, warmup_steps=4, warmup_seconds=0, sampling_seconds=60
    )


def size(profile: Profile, scope: Scope) -> Size:
    """Return the size of an embedded set: documented for scopes that are timed from storage, else small."""
    return "documented" if SCOPES[scope].timed_from_storage and profile != "smoke" else "small"


def sizes(profile: Profile, scope: Scope) -> tuple[Size, ...]:
    """Return all sizes of an embedded set that a process of that scope reads; its steps use the small one."""
    timed = size(profile, scope)
    return (timed,) if not SCOPES[scope].computes or timed == "small" else ("small", timed)


def whole_run(profile: Profile, documented: WholeRun | None, epochs_times: int) -> WholeRun | None:
    """Return a profile's whole run: `epochs_times` times the documented epochs; one short epoch for smoke."""
    if documented is None:
        return None
    most = EFFORTS[profile].run_examples
    if most is None:
        return WholeRun(epochs=documented.epochs * epochs_times, train=documented.train, test=documented.test)
    return WholeRun(epochs=1, train=min(most, documented.train), test=min(most, documented.test))

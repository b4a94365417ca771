"""How much is measured: from 'does it run' to numbers worth publishing."""

from dataclasses import dataclass

from suite.measure.clock import Plan
from suite.results.record import Profile
from suite.workload import Backend


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Processes per case and what each of them does."""

    rounds: int
    samples: int
    warmup_steps: int
    warmup_seconds: float
    sampling_seconds: float
    quiet_seconds: float  # how long to wait at most, before a process, for other load to end


EFFORTS: dict[Profile, Effort] = {
    "smoke": Effort(
        rounds=1, samples=3, warmup_steps=2, warmup_seconds=0, sampling_seconds=5, quiet_seconds=0
    ),
    "quick": Effort(
        rounds=3, samples=5, warmup_steps=3, warmup_seconds=5, sampling_seconds=10, quiet_seconds=30
    ),
    "standard": Effort(
        rounds=10, samples=20, warmup_steps=10, warmup_seconds=60, sampling_seconds=60, quiet_seconds=300
    ),
}  # fmt: skip

CHAIN_SECONDS: dict[Backend, float] = {"cpu": 0.1, "gpu": 0.05}


def plan(profile: Profile, backend: Backend) -> Plan:
    """Return the worker's plan for a profile on a backend."""
    effort = EFFORTS[profile]
    return Plan(
        samples=effort.samples,
        chain_seconds=CHAIN_SECONDS[backend],
        warmup_steps=effort.warmup_steps,
        warmup_seconds=effort.warmup_seconds,
        sampling_seconds=effort.sampling_seconds,
    )

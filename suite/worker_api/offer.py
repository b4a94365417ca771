"""What one implementation can run on this machine, as its interpreter reports it."""

import msgspec

from suite.workload import Description, Plain


class Offer(Plain, frozen=True, kw_only=True):
    """What one implementation can run on this machine."""

    implementation: str
    backends: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  # backend to its devices
    packages: dict[str, str] = msgspec.field(default_factory=dict)
    workloads: tuple[Description, ...] = ()  # of JAX; other implementations name their controls alike
    ceilings: tuple[Description, ...] = ()  # workloads that measure the machine's ceilings
    names: tuple[str, ...] = ()  # workloads that this implementation has
    problem: str = ""  # why it cannot run at all
    package: str = ""  # the suite's location in its interpreter

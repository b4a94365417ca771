"""What one implementation can run here, as its interpreter answers its parent."""

import msgspec

from suite.workload import Description, Plain


class Offer(Plain, frozen=True, kw_only=True):
    """What one implementation can run here."""

    implementation: str
    backends: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  # backend to the devices it has
    packages: dict[str, str] = msgspec.field(default_factory=dict)
    workloads: tuple[Description, ...] = ()  # of jax; the controls of the others are named alike
    ceilings: tuple[Description, ...] = ()  # what shows how much the machine can do at most
    names: tuple[str, ...] = ()  # workloads that this implementation has
    problem: str = ""  # why it cannot run at all
    package: str = ""  # where the suite lies that its interpreter imports

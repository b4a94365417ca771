"""The ceilings of a machine, one kind of work a file, with the contract of a model."""

from suite import discovery
from suite.workload import Workload


def names() -> tuple[str, ...]:
    """Return the names of all ceilings, found by their files; nothing is imported."""
    return discovery.names(__path__)


def load(name: str) -> Workload:
    """Return a ceiling's workload.

    Raises LookupError with the known names if there is no such file.
    """
    return discovery.module(__name__, name, names(), "ceiling").WORKLOAD

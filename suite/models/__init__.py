"""Documented models, one a file; a file's name is its workload's name. Shared files start with an underscore."""

from suite import discovery
from suite.workload import Workload


def names() -> tuple[str, ...]:
    """Return the names of all models, found by their files; nothing is imported."""
    return discovery.names(__path__)


def load(name: str) -> Workload:
    """Return a model's workload.

    Raises LookupError with the known names if there is no such file.
    """
    return discovery.module(__name__, name, names(), "workload").WORKLOAD

"""The documented models in PyTorch, one a file: JAX's baselines. Names of shared files start with an underscore."""

from suite import discovery
from suite.controls._base import Control


def names() -> tuple[str, ...]:
    """Return the workloads that have a control, found by their files; nothing is imported."""
    return discovery.names(__path__)


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError with the known names if there is no such file.
    """
    return discovery.module(__name__, name, names(), "control for workload").CONTROL

"""The documented models in Keras on TensorFlow, one a file: JAX's baselines. Shared files start with an underscore."""

from suite import discovery
from suite.controls_keras._base import Control


def names() -> tuple[str, ...]:
    """Return the workloads that have a control in Keras, found by their files; nothing is imported."""
    return discovery.names(__path__)


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError with the known names if there is no such file.
    """
    return discovery.module(__name__, name, names(), "control in Keras for workload").CONTROL

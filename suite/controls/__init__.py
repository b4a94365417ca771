"""The documented models again in PyTorch, one a file with the model's name: what JAX is compared with."""

from suite import models, plugins
from suite.controls.base import Control


def names() -> tuple[str, ...]:
    """Return the workloads that have a control, found by their files; nothing is imported."""
    return tuple(sorted({*plugins.names(__path__)} & {*models.names()}))


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError, naming what there is, if there is no such file.
    """
    return plugins.module(__name__, name, names(), "control for workload").CONTROL

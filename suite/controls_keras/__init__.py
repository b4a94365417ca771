"""Documented models in Keras, one a file with the model's name: what JAX is compared with on the CPU, on TensorFlow."""

from suite import models, plugins
from suite.controls_keras.base import Control


def names() -> tuple[str, ...]:
    """Return the workloads that have a control in Keras, found by their files; nothing is imported."""
    return tuple(sorted({*plugins.names(__path__)} & {*models.names()}))


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError, naming what there is, if there is no such file.
    """
    return plugins.module(__name__, name, names(), "control in Keras for workload").CONTROL

"""Documented models in Keras, one a file with the model's name: what JAX is compared with on the CPU, on TensorFlow."""

import importlib
import pkgutil

from suite.controls_keras.base import Control

_NOT_MODELS = ("base", "losses", "optimizers", "serving")


def names() -> tuple[str, ...]:
    """Return the workloads that have a control in Keras, found by their files; nothing is imported."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in _NOT_MODELS))


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError, naming what there is, if there is no such file.
    """
    if name not in names():
        raise LookupError(f"no control in Keras for workload '{name}'; there are: {', '.join(names())}")
    return importlib.import_module(f"suite.controls_keras.{name}").CONTROL

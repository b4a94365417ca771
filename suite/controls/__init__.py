"""The documented models again in PyTorch, one a file with the model's name: what JAX is compared with."""

import importlib
import pkgutil

from suite.controls.base import Control

_NOT_MODELS = ("_serving", "base", "loader", "optimizers", "weights")


def names() -> tuple[str, ...]:
    """Return the workloads that have a control, found by their files; nothing is imported."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in _NOT_MODELS))


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError, naming what there is, if there is no such file.
    """
    if name not in names():
        raise LookupError(f"no control for workload '{name}'; there are: {', '.join(names())}")
    return importlib.import_module(f"suite.controls.{name}").CONTROL

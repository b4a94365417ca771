"""Boosted trees in XGBoost, one workload a file with the model's name: what JAX is compared with."""

import importlib
import pkgutil

from suite.controls_xgboost.base import Control


def names() -> tuple[str, ...]:
    """Return the workloads that have a control in XGBoost, found by their files; nothing is imported."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "base"))


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError, naming what there is, if there is no such file.
    """
    if name not in names():
        raise LookupError(f"no control in XGBoost for workload '{name}'; there are: {', '.join(names())}")
    return importlib.import_module(f"suite.controls_xgboost.{name}").CONTROL

"""Boosted trees in XGBoost, one workload a file with the model's name: JAX's baselines."""

from suite import discovery
from suite.controls_xgboost._base import Control


def names() -> tuple[str, ...]:
    """Return the workloads that have a control in XGBoost, found by their files; nothing is imported."""
    return discovery.names(__path__)


def load(name: str) -> Control:
    """Return a workload's control.

    Raises LookupError with the known names if there is no such file.
    """
    return discovery.module(__name__, name, names(), "control in XGBoost for workload").CONTROL

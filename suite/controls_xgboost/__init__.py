"""Boosted trees in XGBoost, one workload a file with the model's name: JAX's baselines."""

from collections.abc import Callable
from functools import partial

from suite import discovery, families
from suite.controls_xgboost._base import Control

names = partial(discovery.names, __path__)
load: Callable[[str], Control] = families.loader(__name__, "control in XGBoost for workload", "CONTROL")

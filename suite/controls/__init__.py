"""The documented models in PyTorch, one a file: JAX's baselines. Names of shared files start with an underscore."""

from collections.abc import Callable
from functools import partial

from suite import discovery, families
from suite.controls._base import Control

names = partial(discovery.names, __path__)
load: Callable[[str], Control] = families.loader(__name__, "control for workload", "CONTROL")

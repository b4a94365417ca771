"""The documented models in Keras on TensorFlow, one a file: JAX's baselines. Shared files start with an underscore."""

from collections.abc import Callable
from functools import partial

from suite import discovery
from suite.controls_keras._base import Control

names = partial(discovery.names, __path__)
load: Callable[[str], Control] = discovery.loader(__name__, "control in Keras for workload", "CONTROL")

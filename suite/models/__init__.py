"""Documented models, one a file; a file's name is its workload's name. Shared files start with an underscore."""

from collections.abc import Callable
from functools import partial

from suite import discovery, families
from suite.workload import Workload

names = partial(discovery.names, __path__)
load: Callable[[str], Workload] = families.loader(__name__, "workload", "WORKLOAD")

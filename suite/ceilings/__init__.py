"""What a machine can do at most, one kind of work a file, with the contract of a model."""

import importlib
import pkgutil

from suite.workload import Workload


def names() -> tuple[str, ...]:
    """Return the names of all ceilings, found by their files; nothing is imported."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


def load(name: str) -> Workload:
    """Return a ceiling's workload.

    Raises LookupError, naming what there is, if there is no such file.
    """
    if name not in names():
        raise LookupError(f"no ceiling '{name}'; there are: {', '.join(names())}")
    return importlib.import_module(f"suite.ceilings.{name}").WORKLOAD

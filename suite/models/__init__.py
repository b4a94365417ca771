"""Documented models, one a file; a file's name is its workload's name. What a few share starts with an underscore."""

import difflib
import importlib
import pkgutil

from suite.workload import Workload


def names() -> tuple[str, ...]:
    """Return the names of all models, found by their files; nothing is imported."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def load(name: str) -> Workload:
    """Return a model's workload.

    Raises LookupError, naming what there is, if there is no such file.
    """
    if name not in names():
        near = difflib.get_close_matches(name, names(), 1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        raise LookupError(f"no workload '{name}'{hint}; there are: {', '.join(names())}")
    return importlib.import_module(f"suite.models.{name}").WORKLOAD

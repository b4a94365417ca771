"""Discovery of a package's modules: one thing per file, named after the file."""

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from types import ModuleType


def names(path: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a package's modules by its `__path__`, without private ones; imports none."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")))


def module(package: str, name: str, known: Sequence[str], what: str) -> ModuleType:
    """Return a module of a package, given the known names.

    Raises LookupError with `what`, the nearest match and all names if the name is unknown.
    """
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        raise LookupError(f"no {what} '{name}'{hint}; there are: {', '.join(known)}")
    return importlib.import_module(f"{package}.{name}")

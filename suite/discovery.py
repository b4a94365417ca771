"""Discovery of a package's modules: one thing per file, named after the file."""

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import Any


def names(path: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a package's modules by its `__path__`, without private ones; imports none."""
    return _names(tuple(path))


@cache  # rendering asks thousands of times
def _names(path: tuple[str, ...]) -> tuple[str, ...]:
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


def loader(package: str, what: str, held: str = "") -> Callable[[str], Any]:
    """Return what gives a module of a package by its name, or what it holds under a name that all of them have.

    It raises LookupError as `module` does.
    """

    def load(name: str) -> Any:
        found = module(package, name, names(sys.modules[package].__path__), what)
        return getattr(found, held) if held else found

    return load

"""What is found by being there: the modules of a package, one thing a file, whose name is the file's."""

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any


def names(path: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a package's modules by its `__path__`, those with an underscore left out; imports none."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")))


def module(package: str, name: str, there: Sequence[str], what: str) -> ModuleType:
    """Return one of the modules of a package, of which these are `there`.

    Raises LookupError, which says `what` is missing, names what there is and the nearest match, if it is none of them.
    """
    if name not in there:
        near = difflib.get_close_matches(name, there, 1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        raise LookupError(f"no {what} '{name}'{hint}; there are: {', '.join(there)}")
    return importlib.import_module(f"{package}.{name}")


def loader(package: str, what: str, held: str = "") -> Callable[[str], Any]:
    """Return what gives a module of a package by its name, or what it holds under a name that all of them have.

    It raises LookupError as `module` does.
    """

    def load(name: str) -> Any:
        found = module(package, name, names(sys.modules[package].__path__), what)
        return getattr(found, held) if held else found

    return load

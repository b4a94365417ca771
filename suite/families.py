"""Families of small workloads, whose size is in their name: they find where a GPU begins to pay. No documented models.

`crossover_mlp_WxD` has D hidden layers of width W, `crossover_trees_C` boosts trees on C columns. A package of models
or controls makes each member in the module named after the family, by its function `made(name, size)`.
"""

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from suite import discovery

CLASSES = 10  # of a dense network's labels
BATCH = 32  # examples of a dense network's step
ROWS = 40_960  # of a table
_NAME = re.compile(r"(crossover_mlp|crossover_trees)_([1-9]\d*)(?:x([1-9]\d*))?")


@dataclass(frozen=True, kw_only=True)
class Size:
    """A member's size: the width and depth of a dense network, or a table's columns and depth 0."""

    width: int
    depth: int


# Those that can be measured by name.
NAMES = (
    *(f"crossover_mlp_{size}" for size in ("32x2", "128x2", "256x8", "512x2", "2048x2")),
    *(f"crossover_trees_{columns}" for columns in (5, 45)),
)


def family_of(name: str) -> str:
    """Return the family of a workload, such as 'crossover_mlp'; '' if it has none."""
    found = _NAME.fullmatch(name)
    return found[1] if found and bool(found[3]) == (found[1] == "crossover_mlp") else ""


def size_of(name: str) -> Size:
    """Return the size in a member's name. Raises LookupError if it is no member of a family."""
    if not family_of(name):
        raise LookupError(f"no family has a workload '{name}'; there are: {', '.join(NAMES)}")
    width, _, depth = name.rpartition("_")[2].partition("x")
    return Size(width=int(width), depth=int(depth or 0))


def loader(package: str, what: str, held: str) -> Callable[[str], Any]:
    """Return a package's `discovery.loader` that makes the members of families, too, if the package has them."""
    documented = discovery.loader(package, what, held)

    def load(name: str) -> Any:
        module = f"{package}._{family_of(name)}"
        if not family_of(name) or find_spec(module) is None:
            return documented(name)
        return importlib.import_module(module).made(name, size_of(name))

    return load


def members(package: str) -> tuple[str, ...]:
    """Return the members that a package can make."""
    return tuple(name for name in NAMES if find_spec(f"{package}._{family_of(name)}"))

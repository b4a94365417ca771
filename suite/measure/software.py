"""Which versions are at work here, and how they differ from those elsewhere."""

import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata


def versions(*names: str) -> dict[str, str]:
    """Return the versions of packages, those that are installed."""
    found = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def here() -> dict[str, str]:
    """Return the versions that machines must have alike which measure together."""
    return {"python": platform.python_version(), **versions("jax", "jaxlib", "flax", "optax", "numpy")}


def differences(there: Mapping[str, str], mine: Mapping[str, str]) -> str:
    """Return in words what is not the same in both places; '' if all is."""
    names = [name for name in {**mine, **there} if there.get(name) != mine.get(name)]
    return "; ".join(f"{name}=={there.get(name)} there, {name}=={mine.get(name)} here" for name in names)

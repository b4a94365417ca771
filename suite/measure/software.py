"""Which versions are at work here, and how they differ from those elsewhere."""

import os
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path


def versions(*names: str) -> dict[str, str]:
    """Return the versions of packages, those that are installed."""
    found = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def commit(folder: Path = Path(__file__).parents[1]) -> str:
    """Return the suite's commit, '+changed' appended where any file of the package differs from it.

    SUITE_COMMIT names it where the files were brought without their history; '' if nothing does.
    """
    if named := os.environ.get("SUITE_COMMIT"):
        return named

    def git(*arguments: str) -> str | None:
        try:
            answer = subprocess.run(
                ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=20
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return answer.stdout.strip()

    found = git("rev-parse", "--short=12", "HEAD")
    if not found:
        return ""
    return found + ("+changed" if git("status", "--porcelain", "--", ".") else "")


def here() -> dict[str, str]:
    """Return the suite's commit and the versions that machines must have alike which measure together."""
    packages = versions("jax", "jaxlib", "flax", "optax", "numpy")
    return {"commit": commit(), "python": platform.python_version(), **packages}


def differences(there: Mapping[str, str], mine: Mapping[str, str]) -> str:
    """Return in words what is not the same in both places; '' if all is."""
    names = [name for name in {**mine, **there} if there.get(name) != mine.get(name)]
    return "; ".join(f"{name}=={there.get(name)} there, {name}=={mine.get(name)} here" for name in names)

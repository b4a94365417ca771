"""What a folder allows: new files, hard links, and how much space."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Folder:
    """What a folder allows, by trying; `problem` says why nothing can be written, '' if it can."""

    path: Path
    problem: str = ""
    links: bool = True
    free_bytes: int | None = None  # None if unknown


def probed(path: Path) -> Folder:
    """Try a file in a folder, or in the nearest one above it that exists, and remove it again.

    No folder is made: what is refused later leaves nothing behind.
    """
    place = _nearest(path.absolute())
    try:
        handle, name = tempfile.mkstemp(dir=place, prefix=".trying-")
    except OSError as error:
        return Folder(path=path, problem=error.strerror or str(error), free_bytes=_free_bytes(place))
    linked = f"{name}-linked"
    try:
        try:
            os.write(handle, b"x")
        except OSError as error:
            return Folder(path=path, problem=error.strerror or str(error), free_bytes=_free_bytes(place))
        return Folder(
            path=path,
            links=_done(lambda: os.link(name, linked)),
            free_bytes=_free_bytes(place),
        )
    finally:
        os.close(handle)
        for each in (name, linked):
            with suppress(OSError):
                Path(each).unlink()


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest one above it that exists."""
    return next((place for place in (path, *path.parents) if os.path.lexists(place)), path)


def _done(operation: Callable[[], object]) -> bool:
    try:
        operation()
    except OSError:
        return False
    return True


def _free_bytes(place: Path) -> int | None:
    """Return the bytes that this user may still write."""
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None

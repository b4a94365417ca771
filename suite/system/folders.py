"""Whether a folder takes new files, and how much space it has."""

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TRIED_BYTES = 2**20  # a quota of a user's space shows only when it refuses


@dataclass(frozen=True, kw_only=True)
class Folder:
    """What trying a file in a folder told."""

    error: OSError | None = None  # why none can be written
    free_bytes: int | None = None  # None if unknown

    @property
    def problem(self) -> str:
        """Why no file can be written, '' if one can."""
        return (self.error.strerror or str(self.error)) if self.error else ""


def probed(path: Path) -> Folder:
    """Try a file in a folder, or in the nearest one above it that exists, and remove it again.

    No folder is made: what is refused later leaves nothing behind.
    """
    place = _nearest(path.absolute())
    refused = None
    try:
        handle, name = tempfile.mkstemp(dir=place, prefix=".trying-")
        try:
            left = _TRIED_BYTES
            while left:  # a limit of a file's size, or a quota, first cuts a write short
                left -= os.write(handle, bytes(left))
        finally:
            os.close(handle)
            with suppress(OSError):
                Path(name).unlink()
    except OSError as error:
        refused = error
    return Folder(error=refused, free_bytes=_free_bytes(place))


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest one above it that exists."""
    return next((place for place in (path, *path.parents) if os.path.lexists(place)), path)


def _free_bytes(place: Path) -> int | None:
    """Return the bytes that this user may still write."""
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None

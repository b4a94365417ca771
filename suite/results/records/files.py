"""Atomic writing of files; a refusal of the disk or folder is one line."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCAL = Path("records")  # default folder of results
REMEDY = "free some space, or make the folder writable"


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Raise RuntimeError if the system refuses to write, with the file that it names, else `place`."""
    try:
        yield
    except OSError as error:
        refused = error.filename or place
        raise RuntimeError(f"cannot write '{refused}': {error.strerror or error}; {REMEDY}") from error


@contextmanager
def draft(path: Path, content: bytes) -> Iterator[Path]:
    """Yield a synced file beside a path with the content. It is deleted at the end if it still exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)

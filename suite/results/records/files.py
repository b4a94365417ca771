"""Files that a command writes, whole or not at all; a disk or folder that refuses is said in one line."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCAL = Path("records")  # where results lie unless something else is said
REMEDY = "free some space, or make the folder writable"


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Raise RuntimeError, naming the file, else `place`, where the system refuses what is done within."""
    try:
        yield
    except OSError as error:
        refused = error.filename or place
        raise RuntimeError(f"cannot write '{refused}': {error.strerror or error}; {REMEDY}") from error


@contextmanager
def draft(path: Path, content: bytes) -> Iterator[Path]:
    """Give a file beside a path that has the content and is safe on the disk; it goes at the end, if still there."""
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

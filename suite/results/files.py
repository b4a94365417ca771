"""Files of the checkout that a command writes: a disk or folder that refuses is said in one line."""

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

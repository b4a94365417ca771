"""One measurement at a time on a machine: two would spoil each other."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def measuring(campaign: str, folder: Path | None = None) -> Iterator[None]:
    """Hold the machine's lock; it goes with the process, however that ends.

    Raises RuntimeError, naming the holder, if another run has it.
    """
    path = (folder or Path(tempfile.gettempdir())) / f"suite-measuring-{os.getuid()}.lock"
    try:
        opened = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise RuntimeError(
            f"cannot write '{path}': {error.strerror or error}; set TMPDIR to a folder you may write to"
        ) from error
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise RuntimeError(
                f"another run is measuring on this machine ({holder}); two at once would spoil both, so wait for it"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()}, campaign {campaign}")
        file.flush()
        yield


def refuse_beside_another(folder: Path | None = None) -> None:
    """Raise RuntimeError, naming the holder, if another run has the machine's lock."""
    with measuring("none yet", folder):
        pass

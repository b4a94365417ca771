"""Locks for one measurement at a time on each core and GPU."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from suite.system.counters import granted
from suite.system.nvml import Gpus

_LOCAL = ("/dev/shm", "/tmp", "/var/tmp")


@contextmanager
def measuring(campaign: str, folder: Path | None = None) -> Iterator[None]:
    """Hold the locks of the campaign and of every core and GPU that this process may use.

    The kernel releases them when the process ends. Two runs may measure side by side on separate cores and GPUs, as a
    scheduler assigns them. Raises RuntimeError, naming the holder, if another run holds one; only locks of the same
    user and TMPDIR are visible.
    """
    with _held([f"campaign-{campaign}", *_granted()], campaign, folder):
        yield


def check_nothing_measures(folder: Path | None = None) -> None:
    """Raise RuntimeError, naming the holder, if another run measures on a core or GPU that this process may use."""
    with _held(_granted(), "about to begin", folder):
        pass


def is_measured(campaign: str) -> bool:
    """Return whether this user is measuring the campaign on this machine, with the same TMPDIR."""
    path = place(None) / f"campaign-{campaign}.lock"
    if not path.exists():
        return False
    with _opened(path) as file:
        return not _locked(file, fcntl.LOCK_SH)


def _granted() -> list[str]:
    """Return the lock names of every core and GPU that this process may use."""
    gpus = (uuid.replace("/", "-") for uuid in dict.fromkeys(Gpus().uuids))  # an older driver's ids have slashes
    return [*(f"core-{number}" for number in sorted(granted())), *gpus]


@contextmanager
def _held(things: Iterable[str], campaign: str, folder: Path | None) -> Iterator[None]:
    home = place(folder)
    with ExitStack() as held:
        for thing in things:
            file = held.enter_context(_opened(home / f"{thing}.lock"))
            if not _locked(file, fcntl.LOCK_EX):
                file.seek(0)
                holder = file.read().strip() or "unknown"
                raise RuntimeError(
                    f"another run is measuring on this machine ({holder}); two at once would distort both: wait for "
                    "it, or give each run its own cores and GPU (taskset, CUDA_VISIBLE_DEVICES)"
                )
            _write(file, f"process {os.getpid()}, campaign {campaign}")
        yield


def moment(folder: Path | None = None) -> datetime:
    """Return a unique second, in UTC, since campaigns are named after their start.

    Blocks until the next second if another campaign of this user on this machine began in this one.
    """
    with _opened(place(folder) / "begun.lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # each holder keeps it for at most a second
        file.seek(0)
        last = file.read()
        while (second := (now := datetime.now(UTC)).replace(microsecond=0)).isoformat() == last:
            time.sleep(1 - now.microsecond / 1e6)
        _write(file, second.isoformat())
        return second


def place(folder: Path | None = None) -> Path:
    """Return the folder of the locks: below TMPDIR, or below the first of _LOCAL if TMPDIR's file system has no locks.

    Every run of this user with the same TMPDIR finds the same one, so they still see each other. Raises RuntimeError
    if none has locks.
    """
    problem = ""
    for number, base in enumerate((folder,) if folder else (Path(tempfile.gettempdir()), *map(Path, _LOCAL))):
        home = base / f"suite-measuring-{os.getuid()}"
        try:
            with _opened(home / "probe") as file:
                _locked(file, fcntl.LOCK_SH)
            return home
        except RuntimeError:
            if not number:
                raise
        except OSError as error:
            problem = problem or f"'{base}' has no locks ({error.strerror or error})"
    raise RuntimeError(
        f"{problem}, without which two runs on this machine would not see each other; set TMPDIR to a folder on a "
        "local disk"
    )


def _locked(file: TextIO, kind: int) -> bool:
    """Lock a file without waiting; return whether it is locked, False if another process holds it.

    Raises OSError if the file system has no locks, such as Lustre without its option flock.
    """
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(file: TextIO, text: str) -> None:
    """Have a file hold this text alone. Raises RuntimeError if the disk is full."""
    try:
        os.ftruncate(file.fileno(), 0)
        os.write(file.fileno(), text.encode())
    except OSError as error:
        raise _refused(file.name, error) from error


def _opened(path: Path) -> TextIO:
    try:
        path.parent.mkdir(exist_ok=True)
        return path.open("a+", encoding="utf-8")
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: object, error: OSError) -> RuntimeError:
    return RuntimeError(f"cannot write '{path}': {error.strerror or error}; set TMPDIR to a folder you may write to")

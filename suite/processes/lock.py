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
    path = _place(None) / f"campaign-{campaign}.lock"
    if not path.exists():
        return False
    with _opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _granted() -> list[str]:
    """Return the lock names of every core and GPU that this process may use."""
    gpus = (uuid.replace("/", "-") for uuid in dict.fromkeys(Gpus().uuids))  # an older driver's ids have slashes
    return [*(f"core-{number}" for number in sorted(granted())), *gpus]


@contextmanager
def _held(things: Iterable[str], campaign: str, folder: Path | None) -> Iterator[None]:
    with ExitStack() as held:
        for thing in things:
            file = held.enter_context(_opened(_place(folder) / f"{thing}.lock"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                holder = file.read().strip() or "unknown"
                raise RuntimeError(
                    f"another run is measuring on this machine ({holder}); two at once would distort both: wait for "
                    "it, or give each run its own cores and GPU (taskset, CUDA_VISIBLE_DEVICES)"
                ) from None
            file.truncate(0)
            file.write(f"process {os.getpid()}, campaign {campaign}")
            file.flush()
        yield


def moment(folder: Path | None = None) -> datetime:
    """Return a unique second, in UTC, since campaigns are named after their start.

    Blocks until the next second if another campaign of this user on this machine began in this one.
    """
    with _opened(_place(folder) / "begun.lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # each holder keeps it for at most a second
        file.seek(0)
        last = file.read()
        while (second := (now := datetime.now(UTC)).replace(microsecond=0)).isoformat() == last:
            time.sleep(1 - now.microsecond / 1e6)
        file.truncate(0)
        file.write(second.isoformat())
        file.flush()
        return second


def _place(folder: Path | None) -> Path:
    return (folder or Path(tempfile.gettempdir())) / f"suite-measuring-{os.getuid()}"


def _opened(path: Path) -> TextIO:
    try:
        path.parent.mkdir(exist_ok=True)
        return path.open("a+", encoding="utf-8")
    except OSError as error:
        raise RuntimeError(
            f"cannot write '{path}': {error.strerror or error}; set TMPDIR to a folder you may write to"
        ) from error

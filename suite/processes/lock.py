"""One measurement at a time on a core and on a GPU: two would spoil each other."""

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
    """Hold the locks of the campaign, of every core and of every GPU that this process may use.

    They go with the process, however that ends. Two runs may measure side by side on a machine whose cores and GPUs are
    dealt out to them, as a scheduler does. Raises RuntimeError, naming the holder, if another run has one of them: one
    of the same user with the same TMPDIR, since others' locks are not seen.
    """
    with _held([f"campaign-{campaign}", *_granted()], campaign, folder):
        yield


def check_nothing_measures(folder: Path | None = None) -> None:
    """Raise RuntimeError, naming the holder, if another run measures on what this process may use."""
    with _held(_granted(), "about to begin", folder):
        pass


def is_measured(campaign: str, folder: Path | None = None) -> bool:
    """Return whether a campaign is being measured now, by this user on this machine with the same TMPDIR."""
    path = _place(folder) / f"campaign-{campaign}.lock"
    if not path.exists():
        return False
    with _opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _granted() -> list[str]:
    """Return every core and every GPU that this process may use, by name."""
    gpus = [uuid.replace("/", "-") for uuid in dict.fromkeys(Gpus().uuids)]  # a slice's of an older driver has some
    return [*(f"core-{number}" for number in sorted(granted())), *gpus]


@contextmanager
def _held(things: Iterable[str], campaign: str, folder: Path | None) -> Iterator[None]:
    with ExitStack() as held:
        for thing in things:
            held.enter_context(_lock(_place(folder) / f"{thing}.lock", campaign))
        yield


@contextmanager
def _lock(path: Path, campaign: str) -> Iterator[None]:
    with _opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise RuntimeError(
                f"another run is measuring on this machine ({holder}); two at once would spoil both, so wait for it, "
                "or give each cores and a GPU of its own (taskset, CUDA_VISIBLE_DEVICES)"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()}, campaign {campaign}")
        file.flush()
        yield


def moment(folder: Path | None = None) -> datetime:
    """Return a second, in UTC, that is this caller's alone: campaigns are named after when they were begun.

    Waits for the next one where another campaign of the same user on this machine was begun in this one.
    """
    with _opened(_place(folder) / "begun.lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # for at most a second each
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

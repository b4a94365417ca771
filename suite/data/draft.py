"""Drafts of data sets: folders that one process fills, and that nothing reads."""

import fcntl
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def draft(home: Path) -> Iterator[Path]:
    """Give a new folder in `home` and remove it at the end; first remove those that killed processes of this host left.

    Each process locks its draft, so a draft that can be locked is nobody's. Other hosts' locks may be invisible here.
    Raises OSError if the folder cannot be made.
    """
    prefix = f".writing-{platform.node()}-"
    with ExitStack() as held:
        with _locked(home, fcntl.LOCK_EX):  # otherwise a new draft could be removed before it is locked
            for other in home.glob(f"{prefix}*"):
                with _locked(other, fcntl.LOCK_EX | fcntl.LOCK_NB) as unused:
                    if unused:
                        shutil.rmtree(other, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(dir=home, prefix=prefix))
            held.enter_context(_locked(folder, fcntl.LOCK_EX))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[bool]:
    """Lock a folder; give False if another process holds the lock, the file system has none or the folder is gone."""
    with ExitStack() as held:
        try:
            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            fcntl.flock(handle, kind)
        except OSError:
            locked = False
        else:
            locked = True
        yield locked

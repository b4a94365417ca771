"""Atomic writing of files, on file systems without hard links, modes or syncing too; a refusal is one line."""

import codecs
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

LOCAL = Path("records")  # default folder of results
REMEDY = "make the folder writable"
# What a file system answers that lacks an operation: FUSE, SMB, exFAT and Lustre differ in the word.
_LACKING = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM, errno.EINVAL}
_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space"),
    **dict.fromkeys((errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT), "check the disk and its connection"),
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "raise the limit of open files (ulimit -n)"),
}


def refusal(place: Path | str, error: OSError, remedy: str = REMEDY) -> RuntimeError:
    """Return the one-line error for what the system refused to write; a full disk and the like have a remedy."""
    return RuntimeError(f"cannot write '{place}': {error.strerror or error}; {_REMEDIES.get(error.errno or 0, remedy)}")


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Raise RuntimeError if the system refuses to write, with the file that it names, else `place`."""
    try:
        yield
    except OSError as error:
        raise refusal(error.filename or place, error) from error


@contextmanager
def if_possible() -> Iterator[None]:
    """Go on where the file system lacks an operation; every other error is raised."""
    try:
        yield
    except OSError as error:
        if error.errno not in _LACKING:
            raise


def content(path: Path) -> bytes:
    """Return a text file's bytes without the byte order mark that an editor may have added.

    Changed line ends need nothing: JSON ignores them, and so does whoever splits lines. Raises OSError.
    """
    return path.read_bytes().removeprefix(codecs.BOM_UTF8)


def sync(file: BinaryIO) -> None:
    """Pass a file's content on to the disk.

    Where the file system cannot sync, the content has still left this process, and survives it. If a power failure cuts
    the file short, its digest or checksum shows it.
    """
    file.flush()
    with if_possible():
        os.fsync(file.fileno())


@contextmanager
def draft(path: Path, content: bytes) -> Iterator[Path]:
    """Yield a synced file beside a path with the content. It is deleted at the end if it still exists.

    Folders that were made for it go with it if an error leaves them empty.
    """
    new_folders = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                sync(file)
            with if_possible():  # where a mount option sets all modes
                Path(name).chmod(0o644)
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)
    except BaseException:
        for folder in new_folders:
            with suppress(OSError):
                folder.rmdir()
        raise


def place_once(draft: Path, path: Path) -> None:
    """Move a draft to a path that does not exist yet, atomically. Raises FileExistsError if it exists."""
    try:
        os.link(draft, path)  # unlike a rename, refuses to replace
    except OSError as error:
        if error.errno not in _LACKING:
            raise
        _rename_once(draft, path)


def _rename_once(draft: Path, path: Path) -> None:
    """Do the same without hard links: only the process that created a claim beside the path looks and renames.

    A killed process leaves its claim. It is named like a draft: nothing reads it, and the next writing of records
    removes it.
    """
    claim = path.with_name(f".writing-{path.name}")
    try:
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        raise RuntimeError(
            f"cannot write '{path}': another process is writing it; if none is, one was killed: delete '{claim}'"
        ) from None
    try:
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        draft.rename(path)
    finally:
        claim.unlink(missing_ok=True)

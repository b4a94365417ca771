"""Files from the network: announced, resumed, and accepted only with the right size and digest."""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite import units

Progress = Callable[[str, int, int], None]  # what is done, how much of it, how much in total

_CONNECT_SECONDS, _SILENCE_SECONDS = 10.0, 60.0
_CHUNK = 2**16
_RESERVE_BYTES = 2**28  # to keep free on the disk


GZIPPED = b"\x1f\x8b"  # the first bytes of a gzipped file


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a file must hold."""

    size: int  # bytes
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Archive(Content):
    """A published file, as it must arrive."""

    address: str
    name: str
    unpacked: Content | None = None  # the one file in it, if its digest is known


def fetched(archive: Archive, folder: Path, progress: Progress) -> Path:
    """Return the archive's file in the folder; download it if it is missing, and resume a partial download.

    Raises RuntimeError with the remedy if it is unreachable, incomplete, not the published file, or does not fit on the
    disk. A partial download stays for the next time, a wrong one is deleted. A wrong file that was there before may be
    the user's own, and stays.
    """
    path, part = folder / archive.name, folder / f"{archive.name}.part"
    if os.path.lexists(path):  # a link to a missing file is the user's too
        _check_own(archive, path)
        return path
    begun = part.stat().st_size if part.exists() else 0
    if shutil.disk_usage(folder).free < archive.size - begun + _RESERVE_BYTES:
        raise _full(archive, folder)
    _receive(archive, part, begun if begun <= archive.size else 0, progress)
    if (sha256 := sha256_of(part)) != archive.sha256:
        part.unlink()
        raise RuntimeError(
            f"'{archive.address}' gave a file with sha256 {sha256[:16]}…, published is {archive.sha256[:16]}…; it was "
            "removed; run again; if it comes again, the source has changed"
        )
    part.rename(path)
    return path


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_own(archive: Archive, path: Path) -> None:
    try:
        sha256 = sha256_of(path)
    except OSError as error:
        raise RuntimeError(f"'{path}' cannot be read: {error.strerror}; move it away and run again") from error
    if sha256 != archive.sha256:
        raise RuntimeError(
            f"'{path}' has sha256 {sha256[:16]}…, published is {archive.sha256[:16]}…; it was left there; move it away "
            "and run again"
        )


@contextmanager
def opened(address: str, begin: int = 0) -> Iterator[Any]:
    """Give the response to a request for a file from byte `begin` on, with its body unread.

    Raises RuntimeError, within seconds, if nothing answers or the answer is an error.
    """
    import requests

    headers = {"Range": f"bytes={begin}-"} if begin else {}
    try:
        with requests.get(
            address, headers=headers, stream=True, timeout=(_CONNECT_SECONDS, _SILENCE_SECONDS)
        ) as answer:
            answer.raise_for_status()
            yield answer
    except requests.exceptions.HTTPError as error:
        refusal: Any = error.response
        raise RuntimeError(f"'{address}' was refused: {refusal.status_code} {refusal.reason}") from error
    except requests.exceptions.RequestException as error:
        raise RuntimeError(
            f"'{address}' cannot be reached or stopped answering ({type(error).__name__}); connect to the network "
            "and run again, which resumes; or "
            "bring the files, suite data prepare NAME --data tfds --from FOLDER; or use --data embedded"
        ) from error


def _receive(archive: Archive, part: Path, begun: int, progress: Progress) -> None:
    what = f"downloading {archive.name}, {units.quantity(archive.size, 'B')}"
    try:
        with opened(archive.address, begun) as answer:
            resumed = begun > 0 and answer.status_code == 206
            done = begun if resumed else 0
            with part.open("ab" if resumed else "wb") as file:
                progress(what, done, archive.size)
                for chunk in answer.iter_content(_CHUNK):
                    file.write(chunk)
                    done += len(chunk)
                    progress(what, done, archive.size)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _full(archive, part.parent) from error
    if done != archive.size:
        raise RuntimeError(f"'{archive.address}' gave {done:,} of {archive.size:,} bytes; run again, which resumes")


def _full(archive: Archive, folder: Path) -> RuntimeError:
    free = shutil.disk_usage(folder).free
    return RuntimeError(
        f"'{archive.name}' has {archive.size:,} bytes, {free:,} are free at '{folder}'; free some, or set SUITE_DATA "
        "to a folder on another disk"
    )

"""Published files that the user already has: found by size and digest, whatever their names, and not changed.

So the folders of Keras, torchvision, Kaggle, TFDS and plain ones are all alike, and a part of a set is none.
"""

import gzip
import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from suite.data.download import GZIPPED, Archive, Content, sha256_of

_HEADERS = 256  # bytes by which an array's header in .npz and in IDX may differ, at most
_TAIL = 4  # bytes at the end of a gzipped file that say how much it holds
_UINT8 = 8  # in the third byte of an IDX file
_PACKAGES = (".tgz", ".tar", ".tar.gz", ".zip")


def found(archives: Sequence[Archive], place: Path, scratch: Path) -> dict[str, Path]:
    """Return each archive's file, or the file that it unpacks to, at or below the place, by the archive's name.

    Arrays of an .npz file, as Keras has them, are written into `scratch` as what the archives unpack to. Nothing else
    is written. Raises RuntimeError naming each archive that is missing, or the file that most looks like it.
    """
    with _reading(place):
        files = list(_files(place))
        same = {archive: _same(archive, files) for archive in archives}
    paths = {archive: path or _from_arrays(archive, files, scratch) for archive, path in same.items()}
    if missing := [archive for archive, path in paths.items() if path is None]:
        with _reading(place):
            raise _refused(missing, place, files)
    return {archive.name: path for archive, path in paths.items() if path}


@contextmanager
def _reading(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RuntimeError(
            f"'{error.filename or place}' cannot be read: {error.strerror}; it was left as is"
        ) from error


def _files(place: Path) -> Iterator[Path]:
    """Yield the files at or below a place; links are followed, each folder once."""
    seen: set[tuple[int, int]] = set()
    if place.is_file():
        yield place
    for folder, inside, names in os.walk(place, followlinks=True):
        about = Path(folder).stat()
        if (about.st_dev, about.st_ino) in seen:
            inside.clear()
            continue
        seen.add((about.st_dev, about.st_ino))
        inside.sort()
        yield from (path for name in sorted(names) if (path := Path(folder, name)).is_file())


def _wanted(archive: Archive) -> tuple[Content, ...]:
    return (archive, archive.unpacked) if archive.unpacked else (archive,)


def _same(archive: Archive, files: Sequence[Path]) -> Path | None:
    """Return the file that is the archive or its content, packed anew or not; None if there is none."""
    for content in _wanted(archive):
        for path in files:
            if path.stat().st_size == content.size and sha256_of(path) == content.sha256:
                return path
    return next((path for path in files if _unpacks_to(path, archive.unpacked)), None)


def _unpacks_to(path: Path, content: Content | None) -> bool:
    """Return whether a gzipped file holds the content: each program packs it into other bytes."""
    if content is None or path.stat().st_size < _TAIL or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        if file.read(len(GZIPPED)) != GZIPPED:
            return False
        file.seek(-_TAIL, os.SEEK_END)
        if int.from_bytes(file.read(), "little") != content.size:
            return False
    try:
        with gzip.open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == content.sha256
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return False


def _from_arrays(archive: Archive, files: Sequence[Path], scratch: Path) -> Path | None:
    """Return a new file in `scratch` with the archive's content, from an array of an .npz file; None if none has it."""
    target, content = scratch / archive.name.removesuffix(".gz"), archive.unpacked
    if content is None:
        return None
    for path in files:
        for array in _arrays(path, content.size) if path.suffix == ".npz" else ():
            sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
            target.write_bytes(bytes((0, 0, _UINT8, array.ndim)) + sizes + array.tobytes())
            if sha256_of(target) == content.sha256:
                return target
    return None


def _arrays(path: Path, size: int) -> Iterator[np.ndarray]:
    """Yield the arrays of bytes in an .npz file that have about this size in bytes; none of a damaged file."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if abs(member.file_size - size) < _HEADERS:
                    with archive.open(member) as file:
                        array = np.lib.format.read_array(file, allow_pickle=False)
                    if array.dtype == np.uint8:
                        yield array
    except Exception:  # zipfile, what it unpacks with and NumPy raise many kinds
        return


def _refused(missing: Sequence[Archive], place: Path, files: Sequence[Path]) -> RuntimeError:
    """Return the error that says, of each archive that is missing, what to download."""
    suspects = {archive: _suspect(archive, files) for archive in missing}
    words = [_damaged(archive, path) for archive, path in suspects.items() if path]
    absent = [archive for archive, path in suspects.items() if path is None]
    arrays = next((path for path in files if path.suffix == ".npz"), None)
    if arrays and any(archive.unpacked for archive in absent):
        names = ", ".join(archive.name for archive in absent)
        words.append(
            f"'{arrays}' is damaged, or does not hold the published arrays; download it again, or download {names} "
            "(suite data list gives the addresses)"
        )
    else:
        words += [
            f"'{place}' has no file with the content of {archive.name} ({archive.size:,} bytes, sha256 "
            f"{archive.sha256[:16]}…); download it from {archive.address}"
            for archive in absent
        ]
    package = next((path for path in files if path.name.endswith(_PACKAGES)), None)
    if absent and package:
        words.append(f"'{package}' was not looked into; if it holds what is missing, unpack it")
    return RuntimeError(". ".join((*words, "Your files were not changed.")))


def _suspect(archive: Archive, files: Sequence[Path]) -> Path | None:
    """Return the file that most looks like the archive: by its size, else by its name; None if none does."""
    sizes = {content.size for content in _wanted(archive)}
    of_size = [path for path in files if path.stat().st_size in sizes]
    alike = [path for path in files if _plain(archive.name) in _plain(path.name)]
    return next(iter((*of_size, *alike)), None)


def _damaged(archive: Archive, path: Path) -> str:
    digests, size = {content.size: content.sha256 for content in _wanted(archive)}, path.stat().st_size
    if size in digests:
        why = f"its sha256 is {sha256_of(path)[:16]}…, not {digests[size][:16]}…"
    else:
        why = f"it has {size:,} bytes, not {' or '.join(f'{each:,}' for each in digests)}"
    return f"'{path}' is damaged, or is not the published file ({why}); download it again from {archive.address}"


def _plain(name: str) -> str:
    """Return a name as all layouts have it: 'train-images.idx3-ubyte' is 'train-images-idx3-ubyte.gz'."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().removesuffix(".gz"))

"""Records on disk: written once, whole or not at all, and read with suspicion."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from suite.results.record import Record, digest, sealed, to_json

LARGEST_BYTES = 4 * 2**20
_DECODER = msgspec.json.Decoder(Record)


def write_once(path: Path, content: bytes) -> None:
    """Put content at a path that does not exist yet, atomically.

    Raises FileExistsError if something is there, RuntimeError if the disk or folder refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            os.link(name, path)  # unlike a rename, refuses to replace
        finally:
            Path(name).unlink()
    except FileExistsError:
        raise FileExistsError(f"'{path}' is there already; records are never edited") from None
    except OSError as error:
        raise RuntimeError(
            f"cannot write '{path}': {error.strerror or error}; free some space or choose another folder with --out"
        ) from error


def add(record: Record, folder: Path) -> Path:
    """Seal the record and write it to folder/campaign/name.json; return the path."""
    return put(record, folder / record.campaign)


def put(record: Record, folder: Path) -> Path:
    """Seal the record and write it into the folder under its name; return the path."""
    path = folder / f"{record.name}.json"
    write_once(path, to_json(sealed(record)))
    return path


def read(path: Path) -> Record:
    """Return the record at a path.

    Raises ValueError, naming the file, if it is not a record of this schema or its digest does not match.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise ValueError(f"{size} bytes, more than the {LARGEST_BYTES} a record may have")
        content = path.read_bytes()
        record = _DECODER.decode(content)
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise ValueError(f"'{path}' is not a readable record: {error}; move it away to go on without it") from None
    if digest(content, record.digest) != record.digest:
        raise ValueError(f"'{path}' was changed after it was written: its digest does not match; restore or remove it")
    return record


def paths(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield every record file below the folders, sorted; the catalogue and schema beside them are no records."""
    for folder in folders:
        if folder.is_dir():
            yield from sorted(p for p in folder.glob("*/*.json") if not p.name.startswith("."))


def load(folders: Iterable[Path]) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """Return all readable records below the folders and one line for each that is not."""
    records, problems = [], []
    for path in paths(folders):
        try:
            records.append(read(path))
        except ValueError as error:
            problems.append(str(error))
    return tuple(records), tuple(problems)

"""Records on disk: written once, whole or not at all, and read with suspicion."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from suite.results.acceptance import accepted
from suite.results.record import Record, sealed, to_json

LARGEST_BYTES = 4 * 2**20
PARTIAL = "partial-"  # begins the folder name of what an interrupted campaign has so far
_LONGEST_LINE = 500
_REMEDY = "free some space or choose another folder with --out"


def write_once(path: Path, content: bytes, remedy: str = _REMEDY) -> None:
    """Put content at a path that does not exist yet, atomically.

    Raises FileExistsError if something is there, RuntimeError with the remedy if the disk or folder refuses.
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
    except OSError as error:
        if isinstance(error, FileExistsError) and os.path.lexists(path):
            raise FileExistsError(f"'{path}' is there already; records are never edited") from None
        raise RuntimeError(f"cannot write '{path}': {error.strerror or error}; {remedy}") from error


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

    Raises ValueError, naming the file, the place in it and the reason, if it is not a record as it was written.
    """
    try:
        if not path.is_file():
            raise ValueError("it is no file")
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            raise ValueError(f"more than the {LARGEST_BYTES} bytes that a record may have")
        return _accepted(content)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(
            f"{_line(str(path))!r} is not a readable record: {_line(str(reason))}; move it away to go on without it"
        ) from None


_accepted = lru_cache(2**13)(accepted)  # one command reads its records to render them, and to print what they say


def _line(text: str) -> str:
    """Return text from a file on one short line that a terminal prints as it is."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)[-_LONGEST_LINE:]


def paths(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield every record file below the folders, sorted; the catalogue and schema beside them are no records."""
    for folder in folders:
        if folder.is_dir():
            yield from sorted(p for p in folder.glob("*/*.json") if not p.name.startswith("."))


def of(campaign: Path) -> list[Path]:
    """Return every record file in a campaign's folder, sorted."""
    return sorted(p for p in campaign.glob("*.json") if not p.name.startswith("."))


def load(folders: Iterable[Path]) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """Return all readable records below the folders and one line for each that is not, or lies where another does.

    Of copies in several folders, such as that which was published, the first counts.
    """
    places = dict[tuple[str, str], Path]()
    for path in paths(folders):
        places.setdefault(_place(path), path)
    records, problems = [], []
    for path in places.values():
        try:
            record = read(path)
        except ValueError as error:
            problems.append(str(error))
            continue
        if problem := misplaced(path, record):
            problems.append(problem)
        else:
            records.append(record)
    return tuple(records), tuple(problems)


def misplaced(path: Path, record: Record) -> str:
    """Return that a record lies at a path where it is not looked for, and where it belongs; '' if it lies there."""
    if _place(path) == (record.campaign, record.name):
        return ""
    return f"{_line(str(path))!r} is the record '{record.campaign}/{record.name}.json'; put it there"


def _place(path: Path) -> tuple[str, str]:
    """Return the campaign and the name that a record at a path has to have."""
    return path.parent.name.removeprefix(PARTIAL), path.stem

"""Files of evidence below the site's sources: what a session found, as JSON that the pages are made of."""

from pathlib import Path
from typing import TypeVar

import msgspec

from suite.results.records.record import to_json

Found = TypeVar("Found", bound=msgspec.Struct)


def write(document: msgspec.Struct, file: Path) -> Path:
    """Write what was found and return the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(to_json(document))
    return file


def read(file: Path, kind: type[Found], writer: str) -> Found | None:
    """Return what was found last; None if nothing is there.

    Raises ValueError naming the file if it is not what `writer` writes.
    """
    if not file.exists():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(f"'{file}' is not what {writer} writes: {error}") from error


def read_all(folder: Path, kind: type[Found], writer: str) -> tuple[Found, ...]:
    """Return what each file of a folder holds, by name. Raises as `read` does."""
    found = (read(file, kind, writer) for file in sorted(folder.glob("*.json")))
    return tuple(one for one in found if one is not None)

"""JSON files of evidence below the site's sources: findings of sessions, rendered by the pages."""

from pathlib import Path
from typing import TypeVar

import msgspec

from suite.results.records.record import to_json

Document = TypeVar("Document", bound=msgspec.Struct)


def write(document: msgspec.Struct, file: Path) -> Path:
    """Write a document; return its file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(to_json(document))
    return file


def read(file: Path, kind: type[Document], writer: str) -> Document | None:
    """Return the document in a file; None if there is no file.

    Raises ValueError naming the file if it is not what `writer` writes.
    """
    if not file.exists():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(f"'{file}' is not what {writer} writes: {error}") from error


def read_all(folder: Path, kind: type[Document], writer: str) -> tuple[Document, ...]:
    """Return the documents of a folder, sorted by file name. Raises as `read` does."""
    documents = (read(file, kind, writer) for file in sorted(folder.glob("*.json")))
    return tuple(document for document in documents if document is not None)

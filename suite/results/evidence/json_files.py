"""JSON files of evidence below the site's sources: findings of sessions, rendered by the pages.

A file holds one document, or one a line.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

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
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind) if file.exists() else None
    except msgspec.DecodeError as error:
        raise ValueError(f"'{file}' is not what {writer} writes: {error}") from error


def read_all(folder: Path, kind: type[Document], writer: str) -> tuple[Document, ...]:
    """Return the documents of a folder, sorted by file name. Raises as `read` does."""
    documents = (read(file, kind, writer) for file in sorted(folder.glob("*.json")))
    return tuple(document for document in documents if document is not None)


def write_line(document: Document, file: Path, key: Callable[[Document], Any], writer: str) -> Path:
    """Write a document in place of the line with the same key; return the file. Raises as `read` does."""
    others = [each for each in read_lines(file, type(document), writer) if key(each) != key(document)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.Encoder().encode_lines(sorted([*others, document], key=key)))
    return file


def read_lines(file: Path, kind: type[Document], writer: str) -> tuple[Document, ...]:
    """Return the documents of a file with one a line, sorted by their keys; none if there is no file.

    Raises as `read` does.
    """
    try:
        return tuple(msgspec.json.Decoder(kind).decode_lines(file.read_bytes() if file.exists() else b""))
    except msgspec.DecodeError as error:
        raise ValueError(f"'{file}' is not what {writer} writes: {error}") from error

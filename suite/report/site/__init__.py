"""The whole site: all pages rendered, then built by MkDocs."""

import os
from contextlib import suppress
from pathlib import Path


def put(path: Path, text: str) -> bool:
    """Write a file with its folder unless it holds this text already; return whether it did not."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    free(path).write_text(text, encoding="utf-8")
    return True


def free(path: Path) -> Path:
    """Return the path of a file to write, in a folder that exists; what is written changes no other file.

    A picture of the sources and that of the built site are two links to one file, see `build`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        if path.stat().st_nlink > 1:
            path.unlink()
    return path


def below(folder: Path) -> dict[str, Path]:
    """Return the files below a folder by their path in it, without hidden ones such as drafts of records."""
    files: dict[str, Path] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if not name.startswith("."))
        inside = place[len(str(folder)) + 1 :].replace(os.sep, "/")
        start = f"{inside}/" if inside else ""
        files |= {f"{start}{name}": Path(place, name) for name in names if not name.startswith(".")}
    return files

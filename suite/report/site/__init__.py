"""The whole site: all pages rendered, then built by MkDocs."""

import os
from pathlib import Path


def put(path: Path, text: str) -> bool:
    """Write a file with its folder unless it holds this text already; return whether it did not."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def below(folder: Path) -> dict[str, Path]:
    """Return the files below a folder by their path in it, without hidden ones such as drafts of records."""
    files: dict[str, Path] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if not name.startswith("."))
        inside = place[len(str(folder)) + 1 :].replace(os.sep, "/")
        start = f"{inside}/" if inside else ""
        files |= {f"{start}{name}": Path(place, name) for name in names if not name.startswith(".")}
    return files

"""The whole site: all pages rendered, then built by MkDocs."""

from pathlib import Path


def put(path: Path, text: str) -> bool:
    """Write a file with its folder unless it holds this text already; return whether it did not."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True

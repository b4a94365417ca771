"""Pages that a build keeps from the last one: their Markdown, and all else that builds them, is as it was.

MkDocs takes 10 ms a page, and the page's twins as long. What is kept is in the built site; the file beside it says of
each page from what it was built, and what it adds to the search's index and to llms.txt. Pages in the navigation
are always built: they hold most links, which MkDocs checks.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from suite.report.site import put, quoting

_FILE = "built.json"
_GLOSSARY = "glossary.md"
_INDEX, _SCRIPT = "search/search_index.json", "search/search_index.js"
_BUILDERS = ("mkdocs", "mkdocs-material", "Markdown", "pymdown-extensions", "Pygments")
_TITLE = re.compile(r"^(?:title:|# ).*$", re.MULTILINE)


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page as it was built."""

    source: str  # digest of its Markdown and of its card's name
    line: str  # in llms.txt
    entries: tuple[dict[str, Any], ...] = ()  # in the search's index


class _Built(msgspec.Struct, frozen=True, kw_only=True):
    by: str  # digest of all that builds pages, except their Markdown
    pages: dict[str, Page]


def sources(site: Path, config: str, files: Iterable[str]) -> dict[str, str]:
    """Return the digest of each page outside the navigation by its name in the built site."""
    cards = frozenset(files)
    names = (path.relative_to(site).as_posix() for path in site.glob("*/*.md"))
    return {
        html: _digest((site / name).read_text(encoding="utf-8"), quoting.card(html, cards))
        for name in names
        if name not in config and (html := f"{name.removesuffix('.md')}.html")
    }


def builder(site: Path, *configs: str) -> str:
    """Return the digest of all that builds pages, except their Markdown.

    These are code, libraries, navigation, settings, and the glossary, whose meanings are each page's tooltips.
    """
    glossary = site / _GLOSSARY
    meanings = glossary.read_text(encoding="utf-8") if glossary.exists() else ""
    titles = (title[0] for path in sorted(site.glob("*.md")) if (title := _TITLE.search(path.read_text("utf-8"))))
    return _digest(_code(), *configs, *titles, meanings, str((site / quoting.FEED).exists()))


@cache
def _code() -> str:
    folder = Path(__file__).parents[1]
    return _digest(
        *(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))), *map(_version, _BUILDERS)
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""  # MkDocs itself says what is missing


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def kept(folder: Path, by: str, digests: Mapping[str, str]) -> dict[str, Page]:
    """Return the pages of the last build that are as they were, by name in the built site; none if it is unknown."""
    try:
        last = msgspec.json.decode((folder / _FILE).read_bytes(), type=_Built)
    except (OSError, msgspec.DecodeError):
        return {}
    built = folder / "html"
    return {
        name: page
        for name, page in last.pages.items()
        if last.by == by
        and digests.get(name) == page.source
        and all((built / one).exists() for one in (name, quoting.twin(name)))
    }


def forget(folder: Path) -> None:
    """Keep nothing at the next build, unless this one ends well."""
    (folder / _FILE).unlink(missing_ok=True)


def remember(folder: Path, by: str, pages: Mapping[str, Page]) -> None:
    """Note what was built."""
    (folder / _FILE).write_bytes(msgspec.json.encode(_Built(by=by, pages=dict(pages))))


def searched(pages: Path, before: Mapping[str, Page]) -> dict[str, tuple[dict[str, Any], ...]]:
    """Add the entries of kept pages to the search's index, in the order of MkDocs; return each page's entries."""
    if not (pages / _INDEX).exists():
        return {}
    index = json.loads((pages / _INDEX).read_text(encoding="utf-8"))
    entries: dict[str, list[dict[str, Any]]] = {name: list(page.entries) for name, page in before.items()}
    for entry in index["docs"]:
        entries.setdefault(entry["location"].partition("#")[0], []).append(entry)
    if before:
        index["docs"] = [entry for name in sorted(entries, key=_order) for entry in entries[name]]
        text = json.dumps(index, separators=(",", ":"))
        put(pages / _INDEX, text)
        if (pages / _SCRIPT).exists():
            put(pages / _SCRIPT, f"var __index = {text}")
    return {name: tuple(of_page) for name, of_page in entries.items()}


def _order(name: str) -> tuple[str, bool, str]:
    folder, _, page = name.rpartition("/")
    return folder, page != "index.html", f"{page.removesuffix('.html')}.md"

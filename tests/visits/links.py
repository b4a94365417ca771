"""Whether every link of the built site lands: on a file that is there, at a place that is in it."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.addresses += [given[name] for name in ("href", "src") if given.get(name)]


@cache
def read(path: Path) -> _Page:
    """Return a page's addresses and the places in it."""
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def astray(path: Path, root: Path) -> list[str]:
    """Return a page's links that lead nowhere; what leads to other hosts is not asked."""
    found = []
    for address in dict.fromkeys(read(path).addresses):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        way = unquote(parts.path)
        target = root / way.lstrip("/") if way.startswith("/") else (path.parent / way if way else path)
        target = target / "index.html" if target.is_dir() else target
        if not target.exists():
            found.append(f"'{address}' is not there")
        elif parts.fragment and target.suffix == ".html" and not _has(target, unquote(parts.fragment)):
            found.append(f"'{address}' has no such place")
    return found


def _has(target: Path, fragment: str) -> bool:
    return fragment in read(target).places or fragment.startswith(("__", "only-"))

"""Escaping: the only way for text from a record onto a page."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Self, TypeVar
from urllib.parse import quote

from markupsafe import Markup

from suite.results.records.record import Record

_Kind = TypeVar("_Kind", bound=Markup)
_LONGEST = 2000
_HARMLESS = {ord(character): f"&#{ord(character)};" for character in "<>&\"'`*_{}[]\\|~#"}
_CODE = re.compile(r"`([^`]*)`")


def safe(text: object) -> str:
    """Return text without meaning to HTML, Markdown or a template."""
    short = str(text)[:_LONGEST]
    if not short.isprintable():  # this also stops bidirectional tricks
        short = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in short)
    return short.translate(_HARMLESS)


class Html(Markup):
    """HTML that may stand on a page; `format` and `join` escape whatever is not HTML."""

    __slots__ = ()

    @classmethod
    def escape(cls, s: object, /) -> Self:
        """Return text escaped, and HTML unchanged: what a template does with each value."""
        if type(s) is str:
            return _escaped(cls, s)
        return s if type(s) is cls else cls(s if hasattr(s, "__html__") else safe(s))


@lru_cache(2**16)  # pages repeat most of their words
def _escaped(kind: type[_Kind], text: str) -> _Kind:
    return kind(safe(text))


def marked(line: str) -> Html:
    """Return a line as HTML, with text between backticks as code."""
    parts = _CODE.split(line)
    return Html("").join(Html("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))


def anchor(heading: str) -> str:
    """Return the anchor of a heading on its page."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def address(path: str) -> Html:
    """Return a path as an address in HTML, percent-encoded."""
    return Html(quote(path, safe="/#=,"))


def record_address(record: Record, up: str, local: bool) -> Html:
    """Return the relative address of a record, from a page that lies `up` below the site's root.

    A local record has a file of its own, a published one a place on the page of records.
    """
    return address(f"{up}local/{record.campaign}/{record.name}.json") if local else Html(f"{up}{record.address}")


def links(records: Iterable[Record], up: str) -> dict[str, Html]:
    """Return the addresses of the pages that names in tables lead to: models have two names."""
    known = list(records)
    models = {r.workload: r.description.title for r in known if r.description.documented}
    pages = {workload: address(f"{up}workloads/{workload}.html") for workload in models}
    found = {title: pages[workload] for workload, title in models.items()} | pages
    return found | {r.machine.name: address(f"{up}machines/{r.machine.slug}.html") for r in known}

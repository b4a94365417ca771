"""An article of a built page as plain Markdown, without HTML, for readers and programs that want text."""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from textwrap import shorten
from typing import Any

from suite.report.site.page_tables import TABLE, as_shown

# What a reader of text needs not: of a chart all but its title and caption.
_UNREAD = re.compile(
    r"<figure class=\"chart narrow\".*?</figure>|<p class=\"legend\">.*?</p>"
    r"|<(script|style|svg|button|form|nav)\b.*?</\1>|<!--.*?-->|<img\b[^>]*\.svg#only-(?:light|dark)\"[^>]*>"
    r"|<a\b[^>]*(?:\.svg|/charts/[^\"]*\.json)\" download>[^<]*</a>|<a\b[^>]* data-embed\b.*?</a>",
    re.DOTALL,
)
_REASONS = re.compile(r"(?P<start><ul class='reasons'[^>]*>)(?P<items>.*?)(?P<end></ul>)", re.DOTALL)
_TOKEN = re.compile(r"<(?P<close>/?)(?P<tag>[a-zA-Z0-9]+)(?P<attributes>[^>]*)>|(?P<text>[^<]+)")
_HREF, _ALT = re.compile(r'href="([^"]*)"'), re.compile(r'alt="([^"]*)"')
_PAGE = re.compile(r"^(?!\w+:)(?!.*\bembed/)([^#?]*)\.html")
_SPECIAL = re.compile(r"([\\`*\[\]<>|])")
_BLOCKS = frozenset(
    ("p", "div", "section", "article", "ul", "ol", "dl", "figure", "figcaption", "details", "summary", "li", "dt", "dd")
)
_INLINE = {"strong": "**", "b": "**", "em": "*", "i": "*"}
# Rows of a table, more than there are models; items of a list of reasons; letters of a chart's text.
_MOST_ROWS, _MOST_ITEMS, _LONGEST = 40, 10, 1500


def markdown(content: str, tables: Sequence[dict[str, Any]]) -> str:
    """Return an article with these tables as Markdown without HTML; links to pages lead to their Markdown.

    Of a long table or list it holds the beginning, and says how much is left out.
    """
    content = _REASONS.sub(_shortened, content)
    lines: list[str] = []
    end = 0
    for each, entire in zip(TABLE.finditer(content), tables, strict=True):
        lines += [*_passages(content[end : each.start()]), *_drawn(as_shown(each[0], entire))]
        end = each.end()
    return "\n\n".join([*lines, *_passages(content[end:])]) + "\n"


def _shortened(listed: re.Match[str]) -> str:
    first, *items = listed["items"].split("<li")
    left = len(items) - _MOST_ITEMS
    more = [f">{left} more on the page</li>"] if left > 0 else []
    return listed["start"] + "<li".join([first, *items[:_MOST_ITEMS], *more]) + listed["end"]


def _drawn(shown: dict[str, Any]) -> Iterator[str]:
    if heading := ". ".join(filter(None, (shown["title"], shown.get("throughout", "")))):
        yield f"**{escaped(heading)}**"
    rows = [shown["columns"], ["---"] * len(shown["columns"]), *shown["rows"][:_MOST_ROWS]]
    yield "\n".join(_row(row) for row in rows)
    if (left := len(shown["rows"]) - _MOST_ROWS) > 0:
        yield f"{left} more rows in the JSON of this page's tables."


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"


def escaped(text: str) -> str:
    """Return text without meaning to Markdown."""
    return _SPECIAL.sub(r"\\\1", text)


class _Writer:
    """Collects the words of a passage until its block ends."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._words: list[str] = []
        self._start = ""
        self._links: list[str] = []
        self._code: list[str] | None = None
        self._verbatim = False

    def text(self, text: str) -> None:
        if self._code is not None:
            self._code.append(unescape(text))
        else:
            self._words.append(escaped(unescape(text)))

    def tag(self, name: str, closes: bool, attributes: str) -> None:
        if name == "pre":
            self._pre(closes)
        elif name == "code" and not self._verbatim:
            self._inline_code(closes)
        elif name in _BLOCKS or (name[0] == "h" and name[1:].isdigit()):
            self._block(name, closes)
        elif name in _INLINE and self._code is None:
            self._words.append(_INLINE[name])
        elif name == "br":
            self._words.append(" ")
        elif name == "img" and (alt := _ALT.search(attributes)):
            self._words.append(escaped(shorten(unescape(alt[1]), _LONGEST, placeholder=" …")))
        elif name == "a" and self._code is None:
            self._link(closes, attributes)

    def _pre(self, closes: bool) -> None:
        if closes:
            content = "".join(self._code or ()).strip("\n")
            fence = "````" if "```" in content else "```"
            self.lines.append(f"{fence}\n{content}\n{fence}")
            self._code, self._verbatim = None, False
        else:
            self.flush()
            self._code, self._verbatim = [], True

    def _inline_code(self, closes: bool) -> None:
        if closes:
            self._words.append(f"`{' '.join(''.join(self._code or ()).split()).replace('`', chr(39))}`")
        self._code = None if closes else []

    def _block(self, name: str, closes: bool) -> None:
        if name == "dt" and closes:
            self._words.append(":")
            return
        if name == "dd" and not closes and self._words:
            self._words.append(" ")
            return
        self.flush()
        if not closes:
            starts = {"li": "- ", "dt": "- "}
            self._start = starts.get(name, "#" * int(name[1:]) + " " if name[1:].isdigit() else self._start)

    def _link(self, closes: bool, attributes: str) -> None:
        if closes:
            href = self._links.pop() if self._links else ""
            self._words.append(f"]({href})" if href else "]")
        else:
            found = _HREF.search(attributes)
            self._links.append(_PAGE.sub(r"\1.md", unescape(found[1])).replace(" ", "%20") if found else "")
            self._words.append("[")

    def flush(self) -> None:
        line = " ".join("".join(self._words).split())
        if line:
            self.lines.append(self._start + (f"\\{line}" if line[0] in "#+-=~" and not self._start else line))
            self._start = ""
        self._words = []


def _passages(content: str) -> list[str]:
    writer = _Writer()
    for token in _TOKEN.finditer(_UNREAD.sub("", content)):
        if token["tag"]:
            writer.tag(token["tag"].lower(), bool(token["close"]), token["attributes"])
        else:
            writer.text(token["text"])
    writer.flush()
    return _joined(writer.lines)


def _joined(lines: Sequence[str]) -> list[str]:
    """Return lines with the items of a list in one passage."""
    joined: list[str] = []
    for line in lines:
        if joined and line.startswith("- ") and joined[-1].startswith("- "):
            joined[-1] += f"\n{line}"
        else:
            joined.append(line)
    return joined

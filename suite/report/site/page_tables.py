"""The tables of a built page as rows of texts and numbers, without HTML.

The pages escape all text, so an attribute holds no '>', and what follows a tag's name ends at the next '>'.
"""

import re
from html import unescape
from typing import Any

_ARTICLE = re.compile(r"<article[^>]*>(.*)</article>", re.DOTALL)
TABLE = re.compile(r"<table[^>]*>.*?</table>", re.DOTALL)
_CAPTION = re.compile(r"<caption>(.*?)</caption>", re.DOTALL)
_ROW = re.compile(r"<tr([^>]*)>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<t[dh]\b([^>]*)>(.*?)</t[dh]>", re.DOTALL)
_SORT, _REMARK = re.compile(r'data-sort="([^"]*)"'), re.compile(r'title="([^"]*)"')
_SAME = re.compile(r'<span class="same">(.*?)</span>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_BREAK = re.compile(r"<br\b[^>]*>")
_BUTTON = re.compile(r"<button\b.*?</button>", re.DOTALL)
_LINK_TO_WORDS = re.compile(r"<a\b[^>]*>what the words mean</a>")
_ASIDE = 'class="aside"'
_DIGITS = 6  # significant digits of a cell's number


def article(html: str) -> str:
    """Return the part of a page that differs from other pages; '' without one."""
    part = _ARTICLE.search(html)
    return part[1] if part else ""


def plain(html: str) -> str:
    """Return a part's text in one line. Most cells hold nothing but text."""
    if "<" not in html:
        return " ".join((unescape(html) if "&" in html else html).split())
    return " ".join(unescape(_TAG.sub("", _BREAK.sub("; ", _BUTTON.sub("", html)))).split())


def tables(content: str) -> list[dict[str, Any]]:
    """Return each table of an article: title, columns, rows of texts, numbers behind them, and remarks on cells.

    Numbers are by column, one for each row, null for a text; each remark has the rows and columns of its cells.
    """
    return [_table(each[0]) for each in TABLE.finditer(content)]


def as_shown(html: str, entire: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a part of a page without the rows that the page hides until they are chosen."""
    return _table(html, first=True) if _ASIDE in html else entire


def _table(html: str, first: bool = False) -> dict[str, Any]:
    head, _, body = html.partition("<tbody")
    caption = _CAPTION.search(head)
    title = _LINK_TO_WORDS.sub("", caption[1]) if caption else ""
    same = _SAME.search(title)
    shown = [row for attributes, row in _ROW.findall(body) if not (first and _ASIDE in attributes)]
    rows = [list(_CELL.findall(row)) for row in shown]
    remarks: dict[str, list[tuple[int, int]]] = {}
    numbers: dict[int, list[float | None]] = {}
    for place, row in enumerate(rows):
        for column, (attributes, _) in enumerate(row):
            if (number := _number(attributes)) is not None:
                numbers.setdefault(column, [None] * len(rows))[place] = number
            if remark := _REMARK.search(attributes):
                remarks.setdefault(unescape(remark[1]), []).append((place, column))
    return {
        "title": plain(_SAME.sub("", title)),
        **({"throughout": plain(same[1])} if same else {}),
        "columns": [plain(text) for _, text in _CELL.findall(head)],
        "rows": [[plain(text) for _, text in row] for row in rows],
        **({"numbers": numbers} if numbers else {}),
        **({"remarks": remarks} if remarks else {}),
    }


def _number(attributes: str) -> float | None:
    value = _SORT.search(attributes)
    return float(f"{float(unescape(value[1])):.{_DIGITS}g}") if value else None

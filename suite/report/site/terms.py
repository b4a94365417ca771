"""Tooltips: the first mention of each of the glossary's words on a built page shows its meaning and leads to it.

A word in a sentence or a cell becomes a link. A column's head keeps its text, which sorts the table, and gets a small
link behind it. The meaning is the link's title, so that a page needs no script.
"""

import re
from collections.abc import Callable
from functools import cache
from html import escape, unescape

from suite.report.parts.html import anchor
from suite.report.parts.words import in_sentences, tooltips

_ARTICLE = re.compile(r"(<article\b[^>]*>)(.*)(</article>)", re.DOTALL)
# Taken whole, so that nothing in it is touched; last the text between two tags, with the tag before it. Space alone,
# as between two cells, is no text.
_PARTS = re.compile(
    r'<tr\b[^>]*class="aside"[^>]*>.*?</tr>'  # hidden at first
    r"|<(script|style|code|pre|textarea|a|h[1-6]|dt|caption|figure|summary|button|label|nav|title|svg)\b[^>]*>.*?</\1>"
    r"|<(?P<tag>\w+)(?P<attributes>[^>]*)>(?P<text>\s*+[^<][^<]*)"
    r"|(?<=>)(?P<more>\s*+[^<][^<]*)",
    re.DOTALL,
)
_PAGE = "glossary.html"
_SORTED = 'scope="col"'


@cache
def _sentences() -> re.Pattern[str]:
    longest_first = sorted(in_sentences(), key=len, reverse=True)
    return re.compile(rf"(?<![\w/@-])({'|'.join(map(re.escape, longest_first))})(s?)(?![\w/-])", re.IGNORECASE)


@cache
def _meanings() -> dict[str, tuple[str, str]]:
    """Return each word in lower case with its anchor and meaning."""
    return {word.lower(): (anchor(word), escape(meaning)) for word, meaning in tooltips().items()}


def explained(html: str, up: str) -> str:
    """Return a built page with tooltips at the first mention of each word; `up` leads to the site's root."""
    left = dict(_meanings())
    article = _ARTICLE.search(html)
    if article is None:
        return html
    body = _PARTS.sub(lambda part: _marked(part, left, up), article[2])
    return html[: article.start(2)] + body + html[article.end(2) :]


def _marked(part: re.Match[str], left: dict[str, tuple[str, str]], up: str) -> str:
    text = part["text"] or part["more"]
    if not text or not left:
        return part[0]
    tag, attributes = part["tag"] or "", part["attributes"] or ""
    before = f"<{tag}{attributes}>" if tag else ""
    if tag in ("th", "td"):
        return before + _cell(text, attributes, left, up)
    return before + _sentences().sub(lambda word: _first(word[0], word[1], left, _link(up)), text)


def _cell(text: str, attributes: str, left: dict[str, tuple[str, str]], up: str) -> str:
    if _SORTED in attributes:
        word = unescape(text.strip()).rpartition(": ")[2]
        return text + _first("", word, left, lambda _, place, meaning: (
            f'<a class="term" href="{up}{_PAGE}#{place}" title="{meaning}" aria-label="{escape(word)}: meaning"></a>'
        ))  # fmt: skip
    word = text.partition(", ")[0]
    if " title=" in attributes:  # it has a remark of its own
        return text
    return _first(word, unescape(word), left, _link(up)) + text[len(word) :]


def _link(up: str) -> Callable[[str, str, str], str]:
    return lambda text, place, meaning: f'<a class="term" href="{up}{_PAGE}#{place}" title="{meaning}">{text}</a>'


def _first(text: str, word: str, left: dict[str, tuple[str, str]], link: Callable[[str, str, str], str]) -> str:
    """Return the text as a link if it is the first mention of the word."""
    if (entry := left.pop(word.lower(), None)) is None:
        return text
    return link(text, *entry)

"""Pages from Jinja2 templates, which escape every value that is not HTML; and the layout of tables."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps

from suite.report.parts.html import Html, address, anchor, marked, record_address
from suite.report.parts.words import is_explained
from suite.results.records.record import plain_name
from suite.results.views.table import ON_ONE_HOST, STATUS, Cell, Table, condensed, filled

# Cells break into lines from this many characters on, always or among words; shorter ones among words need no width.
_LENGTHS = ((46, "long"), (21, "phrase"), (4, ""))
_WORDS = re.compile(r"^[^\W\d_]|[a-z]{4}")  # no unit has four lower-case letters in a row


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row: its filter values, and whether the first choice hides it."""

    facets: Mapping[str, str]
    aside: bool  # hidden until the script runs
    cells: Html
    name: str  # the text of its first cell


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as shown on a page; a column has its name and its classes."""

    columns: Sequence[tuple[str, str]]
    rows: Sequence[ShownRow]
    same: str  # what every row shares
    notes: Sequence[str]
    explained: bool  # linked to the glossary


def laid_out(table: Table, links: Mapping[str, Html], up: str, local: Set[str]) -> ShownTable:
    """Return a table as shown on a page; `links` gives addresses for the texts of cells without a record.

    The page lies `up` below the site's root; records of `local` campaigns are not published.
    """
    table = filled(table) if table.words else condensed(table)
    # The first column names the rows and is left-aligned whatever it holds.
    of_words = [i > 0 and _of_words([row[i] for row in table.rows]) for i in range(len(table.columns))]
    more = [name in table.more for name in table.columns]
    rows = [
        ShownRow(
            facets,
            any(facets.get(name) != value for name, value in table.chosen.items()) if facets else False,
            Html(
                "".join(
                    _cell(cell, _shown(cell, links, up, local), _classes(cell, words, behind), first=i == 0)
                    for i, (cell, words, behind) in enumerate(zip(row, of_words, more, strict=True))
                )
            ),
            row[0].text,
        )
        for row, facets in zip(table.rows, table.facets or ({},) * len(table.rows), strict=True)
    ]
    explained = any(name in (STATUS, ON_ONE_HOST) or is_explained(name) for name in table.columns)
    heads = [_joined("text" * words, "more" * behind) for words, behind in zip(of_words, more, strict=True)]
    return ShownTable(list(zip(table.columns, heads, strict=True)), rows, table.same, table.notes, explained)


def _cell(cell: Cell, shown: str, classes: str, first: bool) -> str:
    """Return a cell's HTML. Tables are most of the site: a template would take five times as long."""
    attributes = " scope='row'" if first else ""
    if cell.sort is not None:
        attributes += f' data-sort="{cell.sort:.{_SORT_DIGITS}g}"'
    if cell.remark:
        attributes += f' title="{Html.escape(cell.remark)}"'
    if classes:
        attributes += f' class="{classes}"'
    tag = "th" if first else "td"
    return f"\n<{tag}{attributes}>{shown}</{tag}>"


def _shown(cell: Cell, links: Mapping[str, Html], up: str, local: Set[str]) -> str:
    """Return a cell's text, as a link if it has an address, and the words that lead to another number."""
    text, to = Html.escape(cell.text), _address(cell, links, up, local)
    shown = text if to is None else f'<a href="{to}">{text}</a>'
    if cell.also:
        shown = f'{shown}, <a href="{address(f"{up}{cell.number}")}">{Html.escape(cell.also)}</a>'
    return shown


def _of_words(column: Sequence[Cell]) -> bool:
    """Return whether a column holds words, which are left-aligned; numbers and intervals are right-aligned."""
    return all(cell.sort is None for cell in column) and any(_WORDS.search(cell.text) for cell in column)


def _address(cell: Cell, links: Mapping[str, Html], up: str, local: Set[str]) -> Html | None:
    if cell.record is not None and plain_name(cell.record.campaign) and cell.sort is not None:
        if cell.number and cell.record.campaign not in local:
            return address(f"{up}{cell.number}")
        return record_address(cell.record, up, cell.record.campaign in local)
    return links.get(cell.text)


def _classes(cell: Cell, of_words: bool, behind: bool) -> str:
    length = next((name for least, name in _LENGTHS if len(cell.text) + len(cell.also) >= least), "short")
    shown = of_words or length != "phrase" or _WORDS.search(cell.text) is not None
    return _joined("text" * of_words, length * shown, "more" * behind)


def _joined(*classes: str) -> str:
    return " ".join(filter(None, classes))


_PARTS = "parts.html.j2"
# The site's tab and its first page, of the folders whose many pages are not in the navigation.
_TABS = {
    "answers": ("Answers", "answers/index.html"),
    "experiments": ("Answers", "answers/index.html#experiments"),
    "workloads": ("Models", "models.html"),
    "machines": ("Machines", "machines/index.html"),
    "numbers": ("Cite", "citing.html"),
}
_METHOD = ("the method in one screen", "method.html")
_READING = ("how to read a result", "reading.html")
_ANSWERS = ("questions people ask", "answers/index.html")
_LEDGER = ("do the articles’ numbers hold?", "ledger.html")
_CITING = ("how to cite a number", "citing.html")
_SORT_DIGITS = 7  # of the number by which a cell is sorted: records have all
_NEXT = {  # what to read next, by a page's path or folder
    "compare.md": (("every GPU against every CPU", "kinds.html"), ("add your machine", "contributing.html")),
    "coverage.md": (("compare two machines", "compare.html"), ("add your machine", "contributing.html"), _ANSWERS),
    "data.md": (("do the networks learn?", "learning.html"), ("model parity", "parity.html")),
    "experiments": (_ANSWERS, _METHOD),
    "glossary.md": (_READING, _METHOD),
    "kinds.md": (("compare two machines", "compare.html"), _METHOD),
    "learning.md": (("model parity", "parity.html"), ("can the numbers be trusted?", "trust.html")),
    "ledger.md": (("the log of the method", "changes.html"), _ANSWERS),
    "machines": (("the other machines", "machines/index.html"), _ANSWERS, _READING),
    "machines/index.md": (
        ("compare two machines", "compare.html"),
        ("add your machine", "contributing.html"),
        _ANSWERS,
    ),
    "models.md": (_LEDGER, _ANSWERS, ("what the data looks like", "data.html")),
    "numbers": (("all numbers to quote", "numbers/index.html"), _CITING, _READING),
    "numbers/index.md": (_CITING, _READING),
    "parity.md": (("do the networks learn?", "learning.html"), ("can the numbers be trusted?", "trust.html")),
    "records.md": (("compare two machines", "compare.html"), _CITING),
    "standing.md": (("is the CPU side fair?", "method.html#is-the-cpu-side-fair"), _ANSWERS),
    "trust.md": (_METHOD, _READING),
    "workloads": (_LEDGER, _ANSWERS, ("the other models", "models.html"), _READING),
}


def embedded(document: Mapping[str, Any]) -> Html:
    """Return a document as JSON within a page: no name in it can end the script or open a template."""
    return Html(htmlsafe_json_dumps(document, separators=(",", ":")).replace("{{", "{\\u007b"))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("suite.report"),
        autoescape=True,
        finalize=Html.escape,  # stricter than Jinja2's own: Markdown reads the output too
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"address": address, "anchor": anchor, "marked": marked, "embedded": embedded}
    environment.globals |= {"laid_out": laid_out, "tabs": _TABS, "next": _NEXT}
    return environment


def render(path: str, local: Set[str] = frozenset(), template: str = "", **values: Any) -> str:
    """Return the page at a path below the site's sources, from its own template if none is given.

    Templates know the `path`, the way `up` to the site's root, and the `local` campaigns, whose records lie elsewhere.
    Raises jinja2.UndefinedError if a template uses a missing value.
    """
    return _environment().get_template(template or f"{path}.j2").render(_place(path, local) | values)


def parts(path: str, local: Set[str] = frozenset()) -> Any:
    """Return the macros of `parts.html.j2` for a page at a path, each a function that returns HTML."""
    return _environment().get_template(_PARTS).make_module(_place(path, local))


def _place(path: str, local: Set[str]) -> dict[str, Any]:
    return {"path": path, "up": "../" * path.count("/"), "local": local}

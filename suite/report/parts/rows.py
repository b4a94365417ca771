"""How a table is laid out: which columns hold words, how wide a cell is, and where it leads to."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from suite.report.parts.html import Html, record_address
from suite.results.records.record import plain_name
from suite.results.views.table import ON_ONE_HOST, STATUS, Cell, Table, condensed

# From how many characters on a cell's text is broken into lines, always or among words, and below which it needs no
# width of its own among words.
_LENGTHS = ((46, "long"), (21, "phrase"), (4, ""))
_WORDS = re.compile(r"^[^\W\d_]|[a-z]{4}")  # no unit has four small letters in a row


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as it stands on a page."""

    text: str
    address: Html | None  # that it leads to
    sort: str | None
    remark: str
    classes: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row: by what a reader may filter it, and whether the first choice leaves it out."""

    facets: Mapping[str, str]
    aside: bool  # so that it is not shown before the script runs
    cells: Sequence[ShownCell]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as it stands on a page; a column has its name and whether it holds words, which stand on the left."""

    columns: Sequence[tuple[str, bool]]
    rows: Sequence[ShownRow]
    same: str  # what is true of every row
    explained: bool  # in the glossary, to which it leads


def laid_out(table: Table, links: Mapping[str, Html], up: str, local: Set[str]) -> ShownTable:
    """Return a table as it stands on a page; `links` gives addresses for the texts of cells without a record.

    The page lies `up` below the site's root; records of `local` campaigns are not among the published ones.
    """
    table = table if table.words else condensed(table)
    # The first column names the rows and stands on the left whatever it holds.
    of_words = [i > 0 and _of_words([row[i] for row in table.rows]) for i in range(len(table.columns))]
    rows = [
        ShownRow(
            facets,
            any(facets.get(name) != value for name, value in table.chosen.items()) if facets else False,
            [
                ShownCell(
                    cell.text,
                    _address(cell, links, up, local),
                    None if cell.sort is None else repr(cell.sort),
                    cell.remark,
                    _classes(cell, words),
                )
                for cell, words in zip(row, of_words, strict=True)
            ],
        )
        for row, facets in zip(table.rows, table.facets or ({},) * len(table.rows), strict=True)
    ]
    explained = bool({STATUS, ON_ONE_HOST} & {*table.columns})
    return ShownTable(list(zip(table.columns, of_words, strict=True)), rows, table.same, explained)


def _of_words(column: Sequence[Cell]) -> bool:
    """Return whether a column holds words, which stand on the left; numbers, their intervals too, on the right."""
    return all(cell.sort is None for cell in column) and any(_WORDS.search(cell.text) for cell in column)


def _address(cell: Cell, links: Mapping[str, Html], up: str, local: Set[str]) -> Html | None:
    if cell.record is not None and plain_name(cell.record.campaign) and cell.sort is not None:
        return record_address(cell.record, up, cell.record.campaign in local)
    return links.get(cell.text)


def _classes(cell: Cell, of_words: bool) -> str:
    length = next((name for least, name in _LENGTHS if len(cell.text) >= least), "short")
    shown = of_words or length != "phrase" or _WORDS.search(cell.text) is not None
    return " ".join(filter(None, ("text" * of_words, length * shown)))

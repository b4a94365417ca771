"""HTML from results: the one place where text from a record is made harmless."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from suite.results.records.record import Record, plain_name
from suite.results.views.table import ON_ONE_HOST, STATUS, Cell, Table, condensed

_LONGEST = 2000
# From how many characters on a cell's text is broken into lines, always or among words, and below which it needs no
# width of its own among words.
_LENGTHS = ((46, "long"), (21, "phrase"), (4, ""))
UNSEARCHED = " data-search-exclude"  # nobody looks for a number, and every page loads the index of the search
_WORDS = re.compile(r"^[^\W\d_]|[a-z]{4}")  # no unit has four small letters in a row
_HARMLESS = {ord(character): f"&#{ord(character)};" for character in "<>&\"'`*_{}[]\\|~#"}
_CODE = re.compile(r"`([^`]*)`")


def safe(text: object) -> str:
    """Return text that means nothing to HTML, to Markdown or to a template."""
    short = str(text)[:_LONGEST]
    if not short.isprintable():  # which also ends bidirectional tricks
        short = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in short)
    return short.translate(_HARMLESS)


def marked(line: str) -> str:
    """Return a line as harmless HTML, what stands between backticks as code."""
    parts = _CODE.split(line)
    return "".join(f"<code>{safe(part)}</code>" if index % 2 else safe(part) for index, part in enumerate(parts))


def anchor(heading: str) -> str:
    """Return the address of a heading on its page."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def record_address(record: Record, up: str, local: bool) -> str:
    """Return the relative address of a record's file from a page that lies `up` below the site's root."""
    return f"{up}{'local' if local else 'records'}/{quote(record.campaign)}/{quote(record.name)}.json"


def _data(facets: Mapping[str, str]) -> str:
    return "".join(f' data-{name}="{safe(value)}"' for name, value in facets.items())


def _aside(facets: Mapping[str, str], chosen: Mapping[str, str]) -> str:
    """Return the mark of a row that the first choice leaves out, so that it is not shown before the script runs."""
    return ' class="aside"' if any(facets.get(name) != value for name, value in chosen.items()) else ""


def _filters(table: Table) -> str:
    """Return what the script needs to know to let a reader filter the table's rows."""
    if not table.facets:
        return ""
    return f' data-filters="{" ".join(table.facets[0])}"' + _data({f"first-{k}": v for k, v in table.chosen.items()})


def _of_words(column: Sequence[Cell]) -> bool:
    """Return whether a column holds words, which stand on the left; numbers, their intervals too, on the right."""
    return all(cell.sort is None for cell in column) and any(_WORDS.search(cell.text) for cell in column)


def _classes(*names: str) -> str:
    kept = " ".join(filter(None, names))
    return f' class="{kept}"' if kept else ""


class Page:
    """Collects a page's parts and knows where it lies, so that links come out right."""

    def __init__(self, title: str, up: str, local: frozenset[str], searched: bool = True) -> None:
        self._up, self._local = up, local  # campaigns that are not published
        unsearched = "" if searched else "search:\n  exclude: true\n"
        self._parts = [f'---\ntitle: "{safe(title)}"\n{unsearched}---\n', f"<h1>{safe(title)}</h1>\n"]

    def add(self, *html: str) -> None:
        """Add parts of HTML, each a block of its own."""
        self._parts += [f"{part}\n" for part in html]

    def heading(self, text: str) -> None:
        """Add a second-level heading with an address of its own."""
        self.add(f'<h2 id="{anchor(text)}">{safe(text)}</h2>')

    def linked(self, text: str, links: dict[str, str]) -> str:
        """Return plain text as HTML, a link where there is an address for it."""
        return f'<a href="{links[text]}">{safe(text)}</a>' if text in links else safe(text)

    def paragraph(self, text: str) -> None:
        """Add a paragraph of plain text."""
        self.add(f"<p>{safe(text)}</p>")

    def facts(self, pairs: list[tuple[str, str]], links: dict[str, str] | None = None) -> None:
        """Add a list of names and values; values are plain text, `links` gives addresses for some of them."""
        items = "".join(
            f"<div><dt>{safe(name)}</dt><dd>{self.linked(value, links or {})}</dd></div>" for name, value in pairs
        )
        self.add(f'<dl class="facts"{UNSEARCHED}>{items}</dl>')

    def table(self, table: Table, links: dict[str, str] | None = None, folded: str = "") -> None:
        """Add a sortable table; `links` gives addresses for the texts of cells without a record.

        One that is `folded` shows that line alone until it is opened.
        """
        table = table if table.words else condensed(table)
        # The first column names the rows and stands on the left whatever it holds.
        of_words = [i > 0 and _of_words([row[i] for row in table.rows]) for i in range(len(table.columns))]
        head = "".join(
            f'<th scope="col"{_classes("text" * text)}>{safe(column)}</th>'
            for column, text in zip(table.columns, of_words, strict=True)
        )
        facets = [_data(facets) + _aside(facets, table.chosen) for facets in table.facets] or [""] * len(table.rows)
        rows = "".join(
            f"<tr{data}>{''.join(self._cell(c, i, of_words[i], links or {}) for i, c in enumerate(row))}</tr>"
            for row, data in zip(table.rows, facets, strict=True)
        )
        notes = "".join(f"<p class='note'>{safe(note)}</p>" for note in table.notes)
        place = '<div class="choices"></div>' if table.facets else ""  # where the script puts the filters
        kind = " words" * table.words
        unsearched = UNSEARCHED * (not table.searched)
        caption = safe(table.title) + (
            f' <a href="{self._up}glossary.html">what the words mean</a>'
            * bool({STATUS, ON_ONE_HOST} & {*table.columns})
        )
        caption += f'<span class="same">{safe(table.same)}</span>' if table.same else ""
        whole = (
            f'{place}<div class="scroll" tabindex="0" role="region" aria-label="{safe(table.title)}">'
            f'<table class="results{kind}"{_filters(table)}{unsearched}><caption>{caption}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{notes}"
        )
        self.add(f"<details><summary>{safe(folded)}</summary>{whole}</details>" if folded else whole)

    def _cell(self, cell: Cell, index: int, of_words: bool, links: dict[str, str]) -> str:
        text = safe(cell.text)
        if cell.record is not None and plain_name(cell.record.campaign) and cell.sort is not None:
            local = cell.record.campaign in self._local
            text = f'<a href="{record_address(cell.record, self._up, local)}">{text}</a>'
        else:
            text = self.linked(cell.text, links)
        sort = "" if cell.sort is None else f' data-sort="{cell.sort!r}"'
        title = f' title="{safe(cell.remark)}"' if cell.remark else ""
        length = next((name for least, name in _LENGTHS if len(cell.text) >= least), "short")
        title += _classes(
            "text" * of_words, length * (of_words or length != "phrase" or _WORDS.search(cell.text) is not None)
        )
        tag = "th scope='row'" if index == 0 else "td"
        return f"<{tag}{sort}{title}>{text}</{tag.split()[0]}>"

    def chart(self, name: str, alternative: str, caption: str, spec: str) -> None:
        """Add a chart: static pictures for both palettes, the specification for the script, a caption."""
        pictures = "".join(
            f'<img src="{self._up}charts/{name}.{palette}.svg#only-{palette}" alt="{safe(alternative)}" loading="lazy">'
            for palette in ("light", "dark")
        )
        data = spec.replace("<", "\\u003c").replace("&", "\\u0026")
        kinds = (("csv", "data (CSV)"), ("light.svg", "picture (SVG)"), ("json", "specification (JSON)"))
        files = " ".join(f'<a href="{self._up}charts/{name}.{end}" download>{said}</a>' for end, said in kinds)
        self.add(
            f'<figure class="chart" data-root="{self._up}"{UNSEARCHED}>{pictures}<div class="live"></div>'
            f'<script type="application/json">{data}</script>'
            f"<figcaption>{safe(caption)} {files}</figcaption></figure>"
        )

    def text(self) -> str:
        """Return the page as Markdown."""
        return "\n".join(self._parts)

"""The page that shows the data: stand-ins, augmentations and published sets."""

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.templates import render
from suite.results.evidence.gallery import PICTURES, Gallery, Published, Reviews, Rows, Sheet
from suite.results.views.rows import number_cell, row_of
from suite.results.views.table import Cell, Table

PATH = "data.md"
_QUANTILES = ("least", "lower quartile", "median", "upper quartile", "largest")


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: _page(facts.drawn) if facts.drawn else render(PATH, found=None)}


def _page(gallery: Gallery) -> str:
    return render(
        PATH,
        found=gallery,
        folder=PICTURES.as_posix(),
        file=Gallery.PLACE,
        words=words,
        reviews=[(some.dataset, review_table(some)) for some in gallery.reviews],
        tables=[
            (table.dataset, units.count(table.features), units.percent(table.positive), units.count(table.rows),
             row_table(table), spread_table(table))
            for table in gallery.tables
        ],
        published=published_table(gallery.published),
        links={one.source: Html.escape(one.source) for one in gallery.published if one.source.startswith("https://")},
    )  # fmt: skip


def words(sheet: Sheet) -> str:
    """Return the labels of a sheet's undistorted pictures, separated by commas."""
    return ", ".join(one for one in sheet.labels if not one.endswith("distorted"))


def review_table(some: Reviews) -> Table:
    """Return reviews as a table."""
    rows = tuple(row_of(one.label, one.text, units.count(one.words)) for one in some.reviews)
    title = f"Twelve reviews of the stand-in for {some.dataset}, seed {some.seed}"
    return Table(title=title, columns=("opinion", "beginning", "words"), rows=rows, words=True)


def row_table(table: Rows) -> Table:
    """Return the table of the first rows."""
    numbers = zip(*(column.values for column in table.columns), strict=True)
    rows = tuple(
        row_of(str(number), *(number_cell(value, units.number) for value in values), str(label))
        for number, (values, label) in enumerate(zip(numbers, table.labels, strict=True), 1)
    )
    title = f"The first rows of the stand-in for {table.dataset}, seed {table.seed}"
    return Table(title=title, columns=("row", *(column.name for column in table.columns), "label"), rows=rows)


def spread_table(table: Rows) -> Table:
    """Return the table of the spread of each column."""
    rows = tuple(
        row_of(column.name, *(number_cell(value, units.number) for value in column.quantiles))
        for column in table.columns
    )
    return Table(title=f"Quartiles of {units.count(table.rows)} rows", columns=("column", *_QUANTILES), rows=rows)


def published_table(published: tuple[Published, ...]) -> Table:
    """Return the table of the published sets, a row each."""
    rows = tuple(map(_published, published))
    columns = ("data set", "TFDS builder", "download", "training", "validation", "source", "licence")
    note = "Where TFDS states no licence, the source's own page says under which terms the data may be used."
    return Table(title="What --data tfds loads", columns=columns, rows=rows, notes=(note,), words=True)


def _published(one: Published) -> tuple[Cell, ...]:
    size = units.quantity(one.download_bytes, "B") if one.download_bytes else "a part of it, streamed"
    builder, licence = f"{one.builder} {one.version}", one.licence or "TFDS states none"
    return row_of(one.dataset, builder, size, one.training, one.validation, one.source, licence)

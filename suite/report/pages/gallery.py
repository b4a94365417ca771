"""The page that shows the data: stand-ins, augmentations, and what is published."""

from suite import units
from suite.report.parts.html import Page, safe
from suite.results.evidence.gallery import FILE, PICTURES, Gallery, Published, Reviews, Rows, Sheet
from suite.results.views.table import Cell, Table

TITLE = "What the data looks like"
_QUANTILES = ("least", "lower quartile", "median", "upper quartile", "largest")


def page(found: Gallery | None) -> str:
    """Return the page as Markdown."""
    made = Page(TITLE, "", frozenset())
    made.add(
        '<p class="lead">Unless a page says otherwise, the models are timed on <strong>stand-ins</strong>: data sets '
        "that this project draws and writes itself, from a seed. No picture, word or row shown here is from a "
        "published set.</p>"
    )
    made.paragraph(
        "What they are for: a benchmark has to run without a network and to find the same work everywhere. Shapes, "
        "types and file formats are those of the published sets, photographs are of similar size, and there is "
        "something in them that a network can learn, so that a run that learns nothing is noticed."
    )
    made.paragraph(
        "What they are not: real photographs, handwriting, opinions, collisions or loans. They say nothing about how "
        "well a network does on the published sets, and no accuracy reached on them stands beside a documented one."
    )
    if found is None:
        made.add("<p>Nothing has been drawn yet: <code>suite data gallery</code> makes this page's pictures.</p>")
        return made.text()
    for sheet in found.sheets:
        made.heading(sheet.dataset)
        made.add(figure(sheet, f"The stand-in for {sheet.dataset}"))
    for some in found.reviews:
        made.heading(some.dataset)
        made.paragraph("Reviews from a grammar, whose words of praise and blame carry the label. Their beginnings:")
        made.table(review_table(some))
    for table in found.tables:
        made.heading(table.dataset)
        made.paragraph(
            f"{units.count(table.features)} columns of four kinds in turn: a bell, a long tail, a few levels, a cyclic "
            f"angle; the first of each is shown. Label 1 has {units.percent(table.positive)} of "
            f"{units.count(table.rows)} rows."
        )
        made.table(row_table(table))
        made.table(spread_table(table))
    made.heading("Augmentation")
    made.paragraph(
        "What training does to its pictures, as documented. It is done on the host, in the input pipeline, or with the "
        "same distortions on the device, inside the step."
    )
    for sheet in found.augmentations:
        made.add(f"<h3>{safe(sheet.title)}</h3>", figure(sheet, f"{sheet.title}, on the stand-in for {sheet.dataset}"))
    made.heading("The published sets")
    made.add(
        "<p><code>--data tfds</code> takes these instead, downloaded once from their publishers and read into what "
        "TFDS' own builder of that version writes. Their records then say so.</p>"
    )
    made.table(published_table(found.published), {one.source: one.source for one in found.published if secure(one)})
    made.add(
        f'<p class="note">Edition {found.drawing} of the drawings. <code>suite data gallery</code> makes all of this '
        f'anew; <a href="evidence/{FILE}" download>seeds, digests and captions as JSON</a>.</p>'
    )
    return made.text()


def secure(one: Published) -> bool:
    """Return whether a publication's home page may be linked."""
    return one.source.startswith("https://")


def figure(sheet: Sheet, what: str) -> str:
    """Return a sheet with its caption, as HTML."""
    alternative = f"{what}, in rows of {sheet.columns}: {', '.join(sheet.labels)}"
    width, height = sheet.width * sheet.enlarged, sheet.height * sheet.enlarged
    crisp = ' class="crisp"' if sheet.enlarged > 1 else ""
    seeds = ", ".join(map(str, sheet.seeds))
    return (
        f'<figure class="sheet"><img{crisp} src="{PICTURES.as_posix()}/{safe(sheet.file)}" width="{width}" '
        f'height="{height}" alt="{safe(alternative)}">'
        f"<figcaption>{safe(sheet.caption)} In reading order: {safe(words(sheet))}. Seed {seeds}.</figcaption></figure>"
    )


def words(sheet: Sheet) -> str:
    """Return the labels of a sheet; those of a row whose first is distorted in the others, once."""
    return ", ".join(one for one in sheet.labels if not one.endswith("distorted"))


def review_table(some: Reviews) -> Table:
    """Return reviews as a table."""
    rows = tuple((Cell(text=one.label), Cell(text=one.text), Cell(text=units.count(one.words))) for one in some.reviews)
    title = f"Twelve reviews of the stand-in for {some.dataset}, seed {some.seed}"
    return Table(title=title, columns=("the film", "beginning", "words in all"), rows=rows, words=True)


def row_table(table: Rows) -> Table:
    """Return the first rows."""
    numbers = zip(*(column.values for column in table.columns), strict=True)
    rows = tuple(
        (
            Cell(text=str(number)),
            *(Cell(text=units.number(value), sort=value) for value in values),
            Cell(text=str(label)),
        )
        for number, (values, label) in enumerate(zip(numbers, table.labels, strict=True), 1)
    )
    title = f"The first rows of the stand-in for {table.dataset}, seed {table.seed}"
    return Table(title=title, columns=("row", *(column.name for column in table.columns), "label"), rows=rows)


def spread_table(table: Rows) -> Table:
    """Return how the columns shown are spread."""
    rows = tuple(
        (Cell(text=column.name), *(Cell(text=units.number(value), sort=value) for value in column.quantiles))
        for column in table.columns
    )
    return Table(title=f"How {units.count(table.rows)} rows are spread", columns=("column", *_QUANTILES), rows=rows)


def published_table(found: tuple[Published, ...]) -> Table:
    """Return a line for each published set."""
    rows = tuple(
        (
            Cell(text=one.dataset),
            Cell(text=f"{one.builder} {one.version}"),
            Cell(text=units.quantity(one.download_bytes, "B") if one.download_bytes else "a part of it, streamed"),
            Cell(text=one.training),
            Cell(text=one.validation),
            Cell(text=one.source),
            Cell(text=one.licence or "TFDS states none"),
        )
        for one in found
    )
    columns = ("data set", "TFDS builder", "download", "training", "validation", "source", "licence")
    note = "Where TFDS states no licence, the source's own page says under which terms the data may be used."
    return Table(title="What --data tfds loads", columns=columns, rows=rows, notes=(note,), words=True)

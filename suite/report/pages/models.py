"""The page of all models: their names, what they learn from, their size, and the article that describes them."""

from collections.abc import Iterable

from suite import units
from suite.report.parts.facts import Facts
from suite.results.records.record import Record
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import Table
from suite.workload import Description

PATH = "models.md"
_COLUMNS = ("model", "name in keys", "family", "parameters", "batch", "data", "article")


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: facts.page(PATH, table=models(facts.measured))}


def models(records: Iterable[Record]) -> Table:
    """Return each measured model as its newest record describes it, by family and name."""
    newest: dict[str, Description] = {}
    for record in sorted(records, key=lambda record: record.created):
        newest[record.workload] = record.description
    order = sorted(newest.values(), key=lambda about: (about.family, about.title))
    rows = (
        row_of(
            about.title, about.name, about.family, count_cell(about.parameters), count_cell(about.batch),
            about.dataset or units.DASH, f"{about.source.author}, {about.source.year}",
        )
        for about in order
    )  # fmt: skip
    title = f"{units.pluralize(len(order), 'model')} of articles that time CPU and GPU"
    return Table(title=title, columns=_COLUMNS, rows=tuple(rows), searched=True)

"""The page of all models: their names, size, data and article, and how much faster a GPU takes a step of each."""

from collections.abc import Iterable, Mapping

from suite import units
from suite.report.parts import rungs
from suite.report.parts.facts import Facts
from suite.report.parts.overview import first
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import Table, times_cells
from suite.workload import Description

PATH = "models.md"


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    machine = first(facts.speedups)
    step = rungs.step(rungs.rungs(item for item in facts.speedups if item.machine == machine))
    table = models(facts.measured, step.by_workload if step else {})
    number = units.pluralize(len(table.rows), "model")
    return {PATH: facts.page(PATH, table=table, lead=f"{number} come from articles that timed CPU and GPU.")}


def models(records: Iterable[Record], steps: Mapping[str, PooledSpeedUp]) -> Table:
    """Return each measured model as its newest record describes it, by family and name, with its step's speed-up."""
    newest: dict[str, Description] = {}
    for record in sorted(records, key=lambda record: record.created):
        newest[record.workload] = record.description
    order = sorted(newest.values(), key=lambda about: (about.family, about.title))
    machine = next((f" on {item.record.machine.name}" for item in steps.values()), "")
    rows = (
        row_of(
            about.title, about.name, about.family, count_cell(about.parameters), about.dataset or units.DASH,
            times_cells(item.ratio.estimate if (item := steps.get(about.name)) else None)[0],
            f"{about.source.author}, {about.source.year}",
        )
        for about in order
    )  # fmt: skip
    return Table(
        title="The models, by family",
        columns=("model", "name in keys", "family", "parameters", "data", f"a step{machine}", "article"),
        rows=tuple(rows),
        words=True,
        searched=True,
    )

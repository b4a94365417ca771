"""The experiments' pages: question, each machine's answer with chart and table, and how to run it."""

from collections.abc import Iterator

from suite import experiments
from suite.experiments import needs_data
from suite.report.charts import plots
from suite.report.charts.vega import Figure
from suite.report.parts.facts import Facts
from suite.results.views.experiment_result import Chart, ExperimentResult, HeatMap

FOLDER = "experiments"


def files(facts: Facts) -> dict[str, str]:
    """Return every experiment's page and charts."""
    return {path: text for name in facts.answers for path, text in _files(facts, name).items()}


def _files(facts: Facts, name: str) -> dict[str, str]:
    experiment, path = experiments.load(name), f"{FOLDER}/{name}.md"
    machines = [
        (machine, result, list(_figures(f"{FOLDER}.{name}.{machine.slug}", result)))
        for machine, result in facts.answers[name]
    ]
    page = facts.page(
        path,
        "experiment.md.j2",
        name=name,
        experiment=experiment,
        needs=needs_data(name),
        machines=machines,
    )
    charts = {path: text for *_, figures in machines for each in figures for path, text in each.files.items()}
    return charts | {path: page}


def _figures(name: str, result: ExperimentResult) -> Iterator[Figure]:
    if result.chart is not None:
        yield _figure(name, result.chart, " ".join(result.answers))
    for chart in result.beside:
        yield _figure(f"{name}.{chart.name}", chart, chart.caption)


def _figure(name: str, chart: Chart | HeatMap, alternative: str) -> Figure:
    return Figure(name=name, spec=plots.plot(chart), caption=chart.caption + _marks(chart), alternative=alternative)


def _marks(chart: Chart | HeatMap) -> str:
    """Return how the chart marks intervals and values that are not quotable."""
    doubtful = "not to be quoted, or something speaks against it."
    if isinstance(chart, HeatMap):
        return "" if all(square.solid for square in chart.squares) else f" In brackets: {doubtful}"
    bars = " With 95 % intervals." if any(point.low is not None for point in chart.points) else ""
    return bars + ("" if all(point.solid for point in chart.points) else f" Hollow: {doubtful}")

"""The charts of an experiment's result on one machine, under the names by which all pages show them."""

from collections.abc import Iterator

from suite.report.charts import plots
from suite.report.charts.vega import Figure
from suite.results.views.experiment_result import Chart, ExperimentResult, HeatMap


def figures(experiment: str, machine: str, result: ExperimentResult) -> Iterator[Figure]:
    """Yield the charts of a machine's result, `machine` being its name in addresses."""
    name = f"experiments.{experiment}.{machine}"
    if result.chart is not None:
        yield figure(name, result.chart, " ".join(result.answers))
    for chart in result.beside:
        yield figure(f"{name}.{chart.name}", chart, chart.caption)


def figure(name: str, chart: Chart | HeatMap, alternative: str, title: str = "") -> Figure:
    """Return a chart under a name, with what its marks mean."""
    caption = chart.caption + _marks(chart)
    return Figure(name=name, spec=plots.plot(chart), caption=caption, alternative=alternative, title=title)


def _marks(chart: Chart | HeatMap) -> str:
    """Return how the chart marks intervals and values that are not quotable."""
    doubtful = "not to be quoted; the table has the reason."
    if isinstance(chart, HeatMap):
        return "" if all(square.solid for square in chart.squares) else f" In brackets: {doubtful}"
    bars = " With 95 % intervals." if any(point.low is not None for point in chart.points) else ""
    return bars + ("" if all(point.solid for point in chart.points) else f" Hollow: {doubtful}")

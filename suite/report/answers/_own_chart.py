"""A chart of an answer's own, with a table of its numbers."""

from collections.abc import Mapping
from dataclasses import dataclass

from suite import units
from suite.report.charts.vega import Figure
from suite.report.parts.experiment_figures import drawn
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import row_of
from suite.results.views.table import INTERVAL, Cell, Table


@dataclass(frozen=True, kw_only=True)
class OwnChart:
    """A chart of one answer alone, whose points lie in named rows."""

    name: str  # of the answer, in addresses
    title: str
    chart: Chart
    titles: Mapping[str, str]  # the models' names for people, by workload
    columns: tuple[str, str, str] = ("model", "which", "value")  # of its table: row, series and value

    def figures(self) -> tuple[Figure, ...]:
        """Return it for wide and for narrow screens."""
        alternative = "; ".join(f"{', '.join(self._names(point))}: {point.text}" for point in self.chart.points)
        return tuple(drawn(f"answers.{self.name}", self.chart, alternative, self.titles, self.title))

    @property
    def table(self) -> Table:
        """Its numbers."""
        several = len({point.series for point in self.chart.points}) > 1
        rows = (self._row(point, several) for point in self.chart.points)
        row, series, value = self.columns
        columns = (row, *([series] if several else []), value, INTERVAL, "may be quoted")
        return Table(title=self.chart.caption.rstrip("."), columns=columns, rows=tuple(rows))

    def _names(self, point: Point) -> tuple[str, ...]:
        return tuple(filter(None, (self.titles.get(point.row, point.row), point.series)))

    def _row(self, point: Point, several: bool) -> tuple[Cell, ...]:
        within = units.seconds_interval if self.chart.seconds else units.interval
        return row_of(
            self.titles.get(point.row, point.row),
            *([point.series] if several else []),
            Cell(text=point.text, sort=point.value),
            within(point.low, point.high),
            "yes" if point.solid else "no",
        )

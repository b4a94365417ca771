"""A chart of an answer's own, with a table of its numbers."""

from collections.abc import Mapping, Sequence
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
    doubts: Sequence[str] = ()  # why each point may not be quoted, '' if it may
    columns: tuple[str, str, str] = ("model", "which", "value")  # of its table: row, series and value

    def figures(self) -> tuple[Figure, ...]:
        """Return it for wide and for narrow screens."""
        alternative = "; ".join(f"{', '.join(self._names(point))}: {point.text}" for point in self.chart.points)
        return tuple(drawn(f"answers.{self.name}", self.chart, alternative, self.titles, self.title))

    @property
    def table(self) -> Table:
        """Its numbers."""
        several = len({point.series for point in self.chart.points}) > 1
        doubts = self.doubts or [""] * len(self.chart.points)
        rows = (self._row(*pair, several) for pair in zip(self.chart.points, doubts, strict=True))
        row, series, value = self.columns
        columns = (row, *([series] if several else []), value, INTERVAL, "may be quoted")
        return Table(title=self.chart.caption.rstrip("."), columns=columns, rows=tuple(rows))

    def _names(self, point: Point) -> tuple[str, ...]:
        return tuple(filter(None, (self.titles.get(point.row, point.row), point.series)))

    def _row(self, point: Point, doubt: str, several: bool) -> tuple[Cell, ...]:
        within = units.seconds_interval if self.chart.seconds else units.interval
        return row_of(
            self.titles.get(point.row, point.row),
            *([point.series] if several else []),
            Cell(text=point.text, sort=point.value),
            within(point.low, point.high),
            Cell(text="yes" if point.solid else "no", remark=doubt),
        )

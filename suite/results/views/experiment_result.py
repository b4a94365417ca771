"""An experiment's result on one machine: sentences, tables and charts."""

import re
from dataclasses import dataclass
from typing import Literal

from suite.results.views.table import Table


@dataclass(frozen=True, kw_only=True)
class Point:
    """A measured value with its interval, `at` a place on the axis or in the row of that name."""

    series: str
    value: float
    at: float | None = None
    row: str = ""
    panel: str = ""  # the small multiple that it is in, '' if the chart has one plot
    low: float | None = None
    high: float | None = None
    text: str = ""
    solid: bool = True  # False: unsteady or incomplete, drawn hollow


@dataclass(frozen=True, kw_only=True)
class ChartLine:
    """A line through points (place, value): a fit, a ceiling, an interval on a level."""

    series: str
    ends: tuple[tuple[float, float], ...]
    text: str = ""  # label at its last end
    thick: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Points and lines on logarithmic axes, or in named rows if the points have no place on an axis.

    An axis of shares is linear.
    """

    caption: str
    across: str  # title of the horizontal axis
    up: str = ""  # title of the vertical axis; '' for rows
    points: tuple[Point, ...]
    lines: tuple[ChartLine, ...] = ()
    level: float | None = None  # the value without gain
    whole: float | None = None  # end of the axis of shares, which begins at 0
    joined: bool = False  # whether points of one series are connected
    numbered: bool = False  # whether the points of a line have their numbers beside them
    name: str = ""  # of its files, if it is not the first
    finding: str = ""  # its title; '{span}' stands for the least and the greatest value, '{most}' for the greatest
    seconds: bool = False  # whether the values are times
    ends: str = "95 % intervals"  # what the lines beside the points are

    @property
    def unit(self) -> Literal["", "x", "s"]:
        """What stands behind the numbers of its axis: x of ratios, s of seconds."""
        return "s" if self.seconds else "" if self.level is None else "x"


@dataclass(frozen=True, kw_only=True)
class Square:
    """One place of a heat map; `value` is None if nothing was measured."""

    panel: str
    row: str
    column: str
    value: float | None
    text: str
    solid: bool = True  # False: unsteady or incomplete, text in brackets


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Values over two sets of words, in stacked panels; colours follow the logarithm of the value."""

    caption: str
    across: str  # title of the columns
    up: str  # title of the rows
    squares: tuple[Square, ...]  # panels, rows and columns are in order of first appearance


@dataclass(frozen=True, kw_only=True)
class ExperimentResult:
    """An experiment's result on one machine."""

    answers: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    chart: Chart | HeatMap | None = None
    beside: tuple[Chart, ...] = ()  # further charts
    lead: str = ""  # the answer to the experiment's title after "On this machine,"; '' if people ask just that question

    def names(self, model: str) -> bool:
        """Return whether an answer, a filled table's title or a cell names a model."""
        name = re.compile(rf"\b{re.escape(model)}\b")
        cells = (cell.text for table in self.tables for row in table.rows for cell in row)
        return (
            any(map(name.search, (*self.answers, *(table.title for table in self.tables if table.rows))))
            or model in cells
        )

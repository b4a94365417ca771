"""What an experiment reads off one machine's records: sentences, tables, and what a chart has to show."""

import re
from dataclasses import dataclass

from suite.results.views.table import Table


@dataclass(frozen=True, kw_only=True)
class Point:
    """A measured value with its interval, `at` a place on a scale or in the row of that name."""

    series: str
    value: float
    at: float | None = None
    row: str = ""
    low: float | None = None
    high: float | None = None
    text: str = ""
    solid: bool = True  # False: not steady or not whole, drawn hollow


@dataclass(frozen=True, kw_only=True)
class ChartLine:
    """A line through places and values: a fit, a ceiling, an interval on a level."""

    series: str
    ends: tuple[tuple[float, float], ...]
    text: str = ""  # written at its last end
    thick: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Points and lines on logarithmic axes; in rows by name where the points have no place on a scale.

    The axis of values that are shares is linear.
    """

    caption: str
    across: str  # title of the axis that goes across
    up: str = ""  # of the one that goes up; rows have none
    points: tuple[Point, ...]
    lines: tuple[ChartLine, ...] = ()
    level: float | None = None  # the value at which nothing is gained
    whole: float | None = None  # where the axis of values ends that begins at 0: they are shares of this
    joined: bool = False  # whether points of one series are connected
    name: str = ""  # of its files, where it is not the first


@dataclass(frozen=True, kw_only=True)
class Square:
    """What was measured at one place of a heat map; without a value where nothing came out."""

    panel: str
    row: str
    column: str
    value: float | None
    text: str
    solid: bool = True  # False: not steady or not whole, its text in brackets


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Values over two sets of words, in panels below each other; their colours go with the logarithm of the value."""

    caption: str
    across: str  # what the columns are
    up: str  # what the rows are
    squares: tuple[Square, ...]  # panels, rows and columns come in the order in which they are met


@dataclass(frozen=True, kw_only=True)
class ExperimentResult:
    """What one machine answers."""

    answers: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    chart: Chart | HeatMap | None = None
    beside: tuple[Chart, ...] = ()  # more charts, by what each is about

    def names(self, model: str) -> bool:
        """Return whether a model is among what is answered: a word of an answer or a filled table's title, a cell."""
        name = re.compile(rf"\b{re.escape(model)}\b")
        cells = (cell.text for table in self.tables for row in table.rows for cell in row)
        return (
            any(map(name.search, (*self.answers, *(table.title for table in self.tables if table.rows))))
            or model in cells
        )

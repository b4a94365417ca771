"""Charts of points over a size on an axis: lines named at their ends, or clouds whose points are named; in panels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import altair as alt

from suite.report.charts import axes, look, vega
from suite.report.charts.axes import Scale
from suite.report.charts.labels import BESIDE, FONT, LETTER, WIDE, Label, at_ends, padding, rows_of, with_room, wrapped
from suite.report.charts.marks import bars, data, dots, level, values
from suite.report.charts.vega import layered
from suite.results.views.experiment_result import Chart, ChartLine, Point

_HEIGHT, _NARROW = 360, (270, 250)  # pixels of the plot without its axes
_PANEL, _COLUMNS = (245, 170), 3  # of a small multiple; as many beside each other on a wide screen
_AXIS = 80  # pixels of the axis of values
_MARK, _NUMBER = (16, 16), (32, 32)  # pixels left and right of what the outermost points need
_PARTS = 40  # of a line, none of which a label covers
_OF_ALL = ("fit", "ideal")  # lines that are no series of points

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Plot:
    """One plot of a chart: its points and lines on two axes."""

    points: Sequence[Point]
    lines: Sequence[ChartLine]
    across: Scale
    up: Scale
    joined: bool
    level: float | None
    numbered: bool
    named: bool  # whether the series are named at their ends, rather than in a legend

    @property
    def series(self) -> list[str]:
        """The series, in their order."""
        names = [point.series for point in self.points]
        return list(dict.fromkeys([*names, *(line.series for line in self.lines if line.series not in _OF_ALL)]))


def on_scales(chart: Chart, narrow: bool) -> Row:
    """Return the chart's specification: a plot, or one for each panel if the chart has panels or too many series."""
    chart = _in_panels(chart)
    panels = list(dict.fromkeys(point.panel for point in chart.points))
    if len(panels) < 2:
        width, height = _NARROW if narrow else (_wide(chart), _HEIGHT)
        plot = _plot(chart, chart.points, width, height, not narrow)
        room = padding(right=LETTER * _longest(chart) / (1 + narrow))
        return layered(*_layers(plot, narrow), width=width, height=height, padding=room)
    width, height = (_NARROW[0], _PANEL[1]) if narrow else _PANEL
    drawn = [_panel(chart, name, width, height, narrow) for name in panels]
    return vega.wrapped(*drawn, columns=1 if narrow else _COLUMNS, spacing=24)


def _wide(chart: Chart) -> int:
    """Return the pixels of the plot, so that the names at the ends of its lines fit beside it."""
    return round(WIDE - _AXIS - LETTER * _longest(chart) * chart.joined)


def _longest(chart: Chart) -> int:
    """Return the letters of the longest name of several series."""
    names = {point.series for point in chart.points}
    return max(map(len, names)) if len(names) > 1 else 0


def _in_panels(chart: Chart) -> Chart:
    """Return the chart with a panel for each series if they are more than colours and shapes tell apart."""
    series = dict.fromkeys(point.series for point in chart.points)
    if len(series) <= look.MOST or any(point.panel for point in chart.points):
        return chart
    return replace(chart, points=tuple(replace(point, panel=point.series) for point in chart.points))


def _panel(chart: Chart, name: str, width: int, height: int, narrow: bool) -> Row:
    points = [point for point in chart.points if point.panel == name]
    lines = tuple(line for line in chart.lines if line.series in _OF_ALL or line.series in {p.series for p in points})
    plot = _plot(replace(chart, lines=lines), points, width, height, True)
    title = {"text": wrapped(name, 30), "anchor": "start", "fontSize": FONT, "fontWeight": "bold"}
    single = [name] == plot.series
    return layered(*_layers(replace(plot, named=not single), narrow), width=width, height=height, title=title)


def _plot(chart: Chart, points: Sequence[Point], width: int, height: int, named: bool) -> _Plot:
    """Return a plot on the axes of the whole chart."""
    ends = [end for line in chart.lines for end in line.ends]
    values_across = [*(point.at for point in chart.points), *(at for at, _ in ends)]
    reach = [end for point in chart.points for end in (point.low, point.value, point.high)]
    reach += [chart.level, *(value for _, value in ends)]
    if chart.whole:
        up = axes.shares(chart.up, chart.whole, height)
    else:
        up = axes.logarithmic(chart.up, reach, height, chart.unit, way="up")
    room = _NUMBER if chart.numbered else _MARK
    across = axes.logarithmic(chart.across, values_across, width, room=room)
    return _Plot(
        points=points, lines=chart.lines, across=across, up=up, joined=chart.joined, numbered=chart.numbered,
        level=chart.level, named=named,
    )  # fmt: skip


def _layers(plot: _Plot, narrow: bool) -> Iterator[Any]:
    x, y = alt.X("at:Q", **plot.across.channel), alt.Y("value:Q", **plot.up.channel)
    in_words = not plot.named or not plot.joined
    channels = look.look(plot.series, _legend(plot.series, narrow) if in_words else None)
    rows, place = values(plot.points), {"x": x, "y": y, "color": channels["color"]}
    yield from level(plot.level, y=y)
    for line in plot.lines:
        yield _line(line, place)
    if plot.joined and rows:
        yield data(rows).mark_line(strokeWidth=1.5, opacity=0.7).encode(**place)
    ends: Row = {"y": alt.Y("low:Q", **plot.up.channel), "y2": alt.Y2("high:Q")}
    yield from bars(rows, place | ends)
    yield from dots(rows, {"x": x, "y": y} | channels)
    yield from _texts(plot, place)


def _texts(plot: _Plot, place: Row) -> Iterator[Any]:
    """Yield the names of series at the ends of their lines, of points beside them, and of lines at their ends."""
    pixel = plot.across.pixel
    marks = [(pixel(point.at or 1), plot.up.pixel(point.value)) for point in plot.points]
    marks += [spot for line in plot.lines for spot in _along([(pixel(x), plot.up.pixel(y)) for x, y in line.ends])]
    if plot.joined and plot.named:
        last = {point.series: point for point in sorted(plot.points, key=lambda point: point.at or 0)}
        ends = [_at_edge(plot, point) for point in last.values() if point.series]
        shown = at_ends(ends) if len(plot.series) > 1 else []
    elif plot.named:
        clouds = [_label(plot, point, point.row) for point in plot.points if point.row and point.row != point.series]
        shown = list(with_room(clouds, marks, plot.across.pixels + 60))
    else:
        shown = []
    rows, y = rows_of(shown, plot.across, plot.up), alt.Y("place:Q", **plot.up.channel)
    if moved := [row for row in rows if row["moved"]]:
        lead = data(moved).mark_rule(
            strokeWidth=1, strokeDash=[1, 4], color=look.GREY, xOffset=6, x2Offset=8, aria=False
        )
        ends_at = {"x": alt.X("end:Q", **plot.across.channel), "x2": alt.X2("at:Q"), "y2": alt.Y2("place:Q")}
        yield lead.encode(**{"y": place["y"]} | ends_at)  # in no series' colour: it is no measured line
    if rows:
        text = data(rows).mark_text(align="left", dx=BESIDE, fontSize=FONT, aria=False)
        yield text.encode(x=place["x"], y=y, text=alt.Text("text:N"))
    if plot.numbered:
        for aside, some in ((-16, plot.points[::2]), (18, plot.points[1::2])):  # neighbours' numbers stay apart
            if some:
                numbers = data(values(some)).mark_text(dy=aside, fontSize=FONT, aria=False)
                yield numbers.encode(x=place["x"], y=place["y"], text=alt.Text("text:N"))
    named = [line for line in plot.lines if line.text]
    if named:
        rows = [{"at": line.ends[-1][0], "value": line.ends[-1][1], "text": line.text} for line in named]
        text = data(rows).mark_text(align="right", dy=-9, fontSize=FONT, aria=False)
        yield text.encode(x=place["x"], y=place["y"], text=alt.Text("text:N"))


def _at_edge(plot: _Plot, point: Point) -> Label:
    label = _label(plot, point, point.series)
    return replace(label, x=max(map(plot.across.pixel, _places(plot))), end=label.x)


def _places(plot: _Plot) -> list[float]:
    return [point.at for point in plot.points if point.at]


def _label(plot: _Plot, point: Point, text: str) -> Label:
    x, y = plot.across.pixel(point.at or 1), plot.up.pixel(point.value)
    return Label(text=text, x=x, y=y, series=point.series)


def _along(ends: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield places close to each other on a line."""
    for (x, y), (end, top) in pairwise(ends):
        for part in range(_PARTS + 1):
            yield x + (end - x) * part / _PARTS, y + (top - y) * part / _PARTS


def _line(line: ChartLine, place: Row) -> Any:
    rows = [{"series": line.series, "at": at, "value": value} for at, value in line.ends]
    if line.series in _OF_ALL:
        return data(rows).mark_line(strokeWidth=2, color=look.GREY).encode(x=place["x"], y=place["y"])
    wide: Row = {"strokeWidth": 8, "opacity": 0.5} if line.thick else {"strokeWidth": 2}
    return data(rows).mark_line(**wide).encode(**place)


def _legend(series: Sequence[str], narrow: bool) -> alt.Legend | None:
    if len(series) < 2:
        return None
    columns = 1 if narrow else max(1, min(len(series), 84 // (max(map(len, series)) + 4)))
    return alt.Legend(orient="top", title=None, columnPadding=16, symbolOpacity=1, columns=columns, labelLimit=300)

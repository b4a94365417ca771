"""Charts of values in named rows, a line of its own for each series of a row, the number right of its interval."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from suite.report.charts import axes, look
from suite.report.charts.labels import FONT, LETTER, WIDE, padding, wrapped
from suite.report.charts.marks import bars, data, dots, level, values
from suite.report.charts.vega import layered
from suite.results.views.experiment_result import Chart, Point

APART = "\n"  # between the lines of a row's name
_TALL = 500  # pixels of the rows from which on the axis is on top, too
_NARROW = 330  # pixels of the axis
_NAMES = {"wide": 36, "narrow": 46}  # letters of a name's line, left of its row and above it
_LANE, _GAP, _LEFT, _LINE = (
    20,
    12,
    12,
    16,
)  # pixels: of a series, between rows, left of all, of text

Row = dict[str, Any]


def in_rows(chart: Chart, narrow: bool) -> Row:
    """Return the chart's specification: names left of their rows, or above them if it is narrow."""
    points = list(map(_with_series_in_its_name, chart.points)) if _is_crowded(chart.points) else chart.points
    rows = [row | {"name": _lines(row["name"], narrow)} for row in values(points)]
    names, series = ([*dict.fromkeys(row[field] for row in rows)] for field in ("name", "series"))
    several = len(names) < len(rows)  # points share a row
    above = _titles(names) if narrow else []
    own = [name for name in look.ordered(series) if name in series] if several else series[:1]
    lanes = [*above, *own] if several or narrow else []
    lines = max(name.count(APART) + 1 for name in names)
    left = 0 if narrow else LETTER * max(len(line) for name in names for line in name.split(APART))
    right = LETTER * max(len(point.text) for point in points) + 12
    pixels = _NARROW if narrow else round(WIDE - left)
    if chart.whole:
        along = axes.shares(chart.across, chart.whole, pixels)
    else:
        reach = [end for point in points for end in (point.low, point.value, point.high)]
        along = axes.logarithmic(chart.across, [*reach, chart.level], pixels, chart.unit, (_LEFT, round(right)))
    shown = [row | {"lane": row["series"] if several else own[0]} for row in rows]
    height = len(names) * max(len(lanes or own) * _LANE + _GAP, 0 if narrow else lines * _LINE + 10)
    tall = height > _TALL
    layers = [*_layers(chart, shown, along.without_axis if tall else along.channel, names, lanes, above)]
    layers += [_axis(along.at(side)) for side in ("bottom", "top") if tall]
    return layered(*layers, width=pixels, height=max(70, height), padding=padding(left, right))


def _axis(along: Row) -> Any:
    """Return a layer of nothing but an axis: a tall chart's is on top too, else the first rows are far from it."""
    anywhere = data([{"value": along["scale"].domain[0]}])
    return anywhere.mark_point(opacity=0, aria=False).encode(x=alt.X("value:Q", **along))


def _lines(name: str, narrow: bool) -> str:
    return APART.join(wrapped(name.replace(APART, ", ") if narrow else name, _NAMES["narrow" if narrow else "wide"]))


def _titles(names: Sequence[str]) -> list[str]:
    """Return what stands for the lines of a row's name among its series: spaces."""
    return [" " * (line + 1) for line in range(max(name.count(APART) + 1 for name in names))]


def _is_crowded(points: Sequence[Point]) -> bool:
    """Return whether there are more series than colours and shapes tell apart."""
    return len({point.series for point in points}) > look.MOST


def _with_series_in_its_name(point: Point) -> Point:
    return replace(point, series="", row=APART.join(filter(None, (point.row, point.series))))


def _layers(
    chart: Chart, rows: Sequence[Row], along: Row, names: Sequence[str], lanes: Sequence[str], above: Sequence[str]
) -> Iterator[Any]:
    series = [row["series"] for row in rows]
    x, channels = alt.X("value:Q", **along), look.look(series, _legend(series, bool(above)))
    y = alt.Y("name:N", sort=list(names), title=None, axis=None)
    place: Row = {"y": y}
    if lanes:
        place["yOffset"] = alt.YOffset("lane:N", sort=list(lanes), scale=alt.Scale(domain=list(lanes)))
    ends: Row = {"x": alt.X("low:Q", **along), "x2": alt.X2("high:Q"), "color": channels["color"]}
    yield from level(chart.level, x=x)
    yield from bars(rows, place | ends)
    yield from dots(rows, place | {"x": x} | channels)
    number: Row = place | {"x": alt.X("high:Q", **along), "text": alt.Text("text:N")}
    yield data(rows).mark_text(align="left", dx=9, fontSize=FONT, aria=False).encode(**number)
    yield from _above(names, above[0], place) if above else _beside(names, y)


def _above(names: Sequence[str], lane: str, place: Row) -> Iterator[Any]:
    """Yield the names in lines of their own."""
    rows = [{"name": name, "lane": lane} for name in names]
    text = data(rows).mark_text(align="left", fontSize=FONT, lineBreak=APART, lineHeight=_LANE, aria=False)
    yield text.encode(**place | {"x": alt.value(0), "text": alt.Text("name:N")})


def _beside(names: Sequence[str], y: alt.Y) -> Iterator[Any]:
    """Yield the names left of the axis, each in the middle of its row, however many lines it has."""
    for lines in sorted({name.count(APART) for name in names}):
        some = [{"name": name} for name in names if name.count(APART) == lines]
        middle = -_LINE * lines / 2
        text = data(some).mark_text(
            align="right", baseline="middle", dx=-10, dy=middle, fontSize=FONT, lineBreak=APART,
            lineHeight=_LINE, aria=False,
        )  # fmt: skip
        yield text.encode(x=alt.value(0), y=y, text=alt.Text("name:N"))


def _legend(series: Sequence[str], narrow: bool) -> alt.Legend | None:
    names = [*dict.fromkeys(series)]
    if len(names) < 2:
        return None
    columns = max(1, min(len(names), (44 if narrow else 84) // (max(map(len, names)) + 4)))
    return alt.Legend(orient="top", title=None, columnPadding=16, symbolOpacity=1, columns=columns, labelLimit=320)

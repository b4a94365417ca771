"""Charts of experiments' answers: points with intervals on a logarithmic scale or in named rows; heat maps."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from suite.report.charts.vega import APART, COLOURS, inline, layered, stacked
from suite.results.views.experiment_result import Chart, ChartLine, HeatMap, Point, Square

_WIDTH, _HEIGHT, _ROW, _LINE, _FONT = 320, 260, 34, 15, 13
_FEW, _DECADES = 8, 2.5  # ticks; over more decades only powers of ten
_BESIDE_TEXT = 30  # pixels at a scale's ends, so that the number above a point crosses no axis
_BESIDE_NAME = 17  # letters of the longest name in a two-column legend that is no wider than its chart
_GREY = "#888888"
_SHAPES = ("circle", "square", "triangle-up", "diamond")  # of series beyond the palette's colours, which repeat
_BESIDE = ("fit", "ideal")  # lines that are not series of points
_DASHED = {"color": _GREY, "strokeDash": [5, 4]}

# Dark blue to yellow with even lightness: ordered for the colour-blind and in grey print. Source: Nuñez, Anderton and
# Renslow, Optimizing colormaps with consideration for color vision deficiency (2018).
_SCHEME, _INK_TURNS = "cividis", 0.42  # from here on black is more legible than white
_SQUARE = (58, 36)

Row = dict[str, Any]


def plot(chart: Chart | HeatMap) -> Row:
    """Return the chart's Vega-Lite specification."""
    if isinstance(chart, HeatMap):
        return _heat(chart)
    in_rows = bool(chart.points) and all(point.at is None for point in chart.points)
    return (_in_rows if in_rows else _on_a_scale)(chart)


def _on_a_scale(chart: Chart) -> Row:
    rows, names = _values(chart.points), [point.series for point in chart.points]
    names += [line.series for line in chart.lines if line.series not in _BESIDE]
    ends = [end for line in chart.lines for end in line.ends]
    along = _log(chart.across, [point.at for point in chart.points] or [at for at, _ in ends])
    reach = [*_reach(chart), *(value for _, value in ends)]
    up = _shares(chart.up, chart.whole) if chart.whole else _log(chart.up, reach)
    x, y = alt.X("at:Q", **along), alt.Y("value:Q", **up)
    place: Row = {"x": x, "y": y, "color": _colour(names)}
    layers = _level(chart, y=y)
    layers += [_line(line, place) for line in chart.lines]
    if chart.joined and rows:
        layers.append(_drawn(rows).mark_line(strokeWidth=1.5, opacity=0.7).encode(**place))
    layers += _bars(rows, place | {"y": alt.Y("low:Q", **up), "y2": alt.Y2("high:Q")})
    layers += _points(rows, place | _shape(names))
    named = [
        {"at": line.ends[-1][0], "value": line.ends[-1][1], "text": line.text} for line in chart.lines if line.text
    ]
    if named:
        text = _drawn(named).mark_text(align="right", dy=-9, fontSize=_FONT)
        layers.append(text.encode(x=x, y=y, text=alt.Text("text:N")))
    return layered(*layers, width=_WIDTH, height=_HEIGHT)


def _in_rows(chart: Chart) -> Row:
    rows, series = _values(chart.points), list(dict.fromkeys(point.series for point in chart.points))
    names = list(dict.fromkeys(row["name"] for row in rows))
    lines = max(name.count(", ") for name in names) + 1  # one for each part of a name
    broken: Row = {"labelExpr": "split(datum.label, ', ')", "labelLineHeight": _LINE, "labelBaseline": "middle"}
    middle = -_LINE * (lines - 1) / 2
    name = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=190, labelOffset=middle, **broken))
    along = _shares(chart.across, chart.whole) if chart.whole else _log(chart.across, _reach(chart), _BESIDE_TEXT)
    place: Row = {"x": alt.X("value:Q", **along), "y": name, "color": _colour(series)}
    several = len(names) < len(rows)  # points share a row; their numbers stand below each other
    if several:
        place["yOffset"] = alt.YOffset("series:N", sort=series)
    layers = _level(chart, x=place["x"])
    layers += _bars(rows, place | {"x": alt.X("low:Q", **along), "x2": alt.X2("high:Q")})
    layers += _points(rows, place | _shape(series))
    words: Row = {key: value for key, value in place.items() if key != "color"} | {"text": alt.Text("text:N")}
    side = "left" if chart.whole else "center"  # a share near 0 stands at the axis
    layers.append(_drawn(rows).mark_text(dy=-11, align=side, fontSize=_FONT).encode(**words))
    row = max(_ROW, _LINE * (lines + 1))
    height = row * (len(names) * len(series) if several else len(names))
    return layered(*layers, width=_WIDTH - 40, height=max(90, height))


def _heat(chart: HeatMap) -> Row:
    panels = dict.fromkeys(square.panel for square in chart.squares)
    values = [square.value for square in chart.squares if square.value]
    ends = (min(values), max(values)) if values else (1.0, 1.0)
    drawn = [_panel(chart, name, [s for s in chart.squares if s.panel == name], ends) for name in panels]
    return stacked(*drawn, spacing=18)


def _panel(chart: HeatMap, title: str, squares: Sequence[Square], ends: tuple[float, float]) -> Row:
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*((s.row, s.column) for s in squares), strict=True))
    values = [_square(square, ends) for square in squares]
    place: Row = {
        "x": alt.X("column:N", sort=columns, title=chart.across, axis=alt.Axis(labelAngle=0)),
        "y": alt.Y("row:N", sort=rows, title=chart.up),
    }
    tips = [alt.Tooltip("row:N"), alt.Tooltip("column:N"), alt.Tooltip("text:N", title="value")]
    scale = alt.Scale(type="log", scheme=_SCHEME, domain=list(ends))
    filled: Row = place | {"color": alt.Color("value:Q", scale=scale, legend=None), "tooltip": tips}
    layers = []
    if some := [value for value in values if value["value"]]:
        layers.append(_drawn(some).mark_rect().encode(**filled))
    if some := [value for value in values if not value["value"]]:
        layers.append(_drawn(some).mark_rect(color=_GREY, opacity=0.3).encode(**place))
    for ink in ("black", "white"):
        some = [value for value in values if value["ink"] == ink]
        if some:
            layers.append(_drawn(some).mark_text(fontSize=_FONT, color=ink).encode(**place, text=alt.Text("text:N")))
    heading = {"text": title, "anchor": "start", "fontSize": _FONT, "fontWeight": "normal", "limit": _WIDTH}
    width, height = _SQUARE[0] * len(columns), _SQUARE[1] * len(rows)
    return layered(*layers, width=width, height=height, title=heading)


def _square(square: Square, ends: tuple[float, float]) -> Row:
    low, high = map(math.log, ends)
    place = (math.log(square.value) - low) / (high - low) if square.value and high > low else 1.0
    return {
        "row": square.row,
        "column": square.column,
        "value": square.value,
        "text": square.text if square.solid else f"({square.text})",
        "ink": "black" if place >= _INK_TURNS else "white",
    }


def _reach(chart: Chart) -> list[float | None]:
    ends = [end for point in chart.points for end in (point.low, point.value, point.high)]
    return [*ends, chart.level]


def _values(points: Sequence[Point]) -> list[Row]:
    return [
        {
            "series": point.series,
            "name": point.row or point.series,
            "at": point.at,
            "value": point.value,
            "low": point.low or point.value,
            "high": point.high or point.value,
            "text": point.text,
            "solid": point.solid,
        }
        for point in points
    ]


def _drawn(rows: Sequence[Row]) -> alt.Chart:
    return alt.Chart(inline(list(rows)))


def _level(chart: Chart, **axis: Any) -> list[alt.Chart]:
    """Return the dashed line of the value without gain; nothing if the chart has none."""
    return [_drawn([{"value": chart.level}]).mark_rule(**_DASHED).encode(**axis)] if chart.level is not None else []


def _bars(rows: Sequence[Row], place: Row) -> list[alt.Chart]:
    bars = [row for row in rows if row["low"] < row["high"]]
    return [_drawn(bars).mark_rule(strokeWidth=2.5).encode(**place)] if bars else []


def _line(line: ChartLine, place: Row) -> alt.Chart:
    rows = [{"series": line.series, "at": at, "value": value} for at, value in line.ends]
    if line.series in _BESIDE:
        return _drawn(rows).mark_line(strokeWidth=2, color=_GREY).encode(x=place["x"], y=place["y"])
    wide: Row = {"strokeWidth": 8, "opacity": 0.5} if line.thick else {"strokeWidth": 2}
    return _drawn(rows).mark_line(**wide).encode(**place)


def _points(rows: Sequence[Row], place: Row) -> list[alt.Chart]:
    """Return filled points, and hollow ones if there are any: Vega warns of a layer without rows."""
    place = place | {"tooltip": [alt.Tooltip("name:N"), alt.Tooltip("series:N"), alt.Tooltip("text:N", title="value")]}
    look: Row = {"size": 80, "strokeWidth": 2.5, "opacity": 1}
    kinds = [(solid, [row for row in rows if row["solid"] is solid]) for solid in (True, False)]
    return [_drawn(some).mark_point(filled=solid, **look).encode(**place) for solid, some in kinds if some]


def _colour(names: Sequence[str]) -> alt.Color:
    series = list(dict.fromkeys(names))
    return alt.Color("series:N", scale=alt.Scale(domain=series), legend=_legend(series))


def _shape(names: Sequence[str]) -> Row:
    """Return the channel of a point's shape, which tells series of one colour apart; {} if each has its own."""
    series = list(dict.fromkeys(names))
    if len(series) <= COLOURS:
        return {}
    shapes = [_SHAPES[index // COLOURS % len(_SHAPES)] for index in range(len(series))]
    return {"shape": alt.Shape("series:N", scale=alt.Scale(domain=series, range=shapes), legend=_legend(series))}


def _legend(series: Sequence[str]) -> alt.Legend | None:
    if len(series) < 2:
        return None
    beside = max(map(len, series), default=0) <= _BESIDE_NAME
    look: Row = {"labelLimit": 200, "columns": 2} if beside else {"labelLimit": _WIDTH, "columns": 1}
    return alt.Legend(orient="top", title=None, columnPadding=16, symbolOpacity=1, **look)


def _shares(title: str, most: float) -> Row:
    scale = alt.Scale(domain=[0, most], nice=False)
    return {"scale": scale, "title": title, "axis": alt.Axis(values=[most * part / 4 for part in range(5)])}


def _log(title: str, values: Sequence[float | None], padding: int = 16) -> Row:
    shown = sorted({value for value in values if value is not None and value > 0})
    form = "~s" if shown and shown[-1] >= 10_000 else "~g"
    axis = alt.Axis(labelOverlap="greedy", labelSeparation=APART, format=form, values=ticks(shown))
    return {"scale": alt.Scale(type="log", nice=False, padding=padding), "title": title, "axis": axis}


def ticks(values: Sequence[float]) -> list[float]:
    """Return the ticks of an axis over these sorted values, few enough to read."""
    if len(values) <= _FEW and all(value >= 1 and math.log2(value).is_integer() for value in values):
        return list(values)  # thread counts, small batch sweeps
    first, last = (math.log10(value) for value in (values[0], values[-1])) if values else (0.0, 1.0)
    decades = range(math.floor(first), math.ceil(last) + 1)
    if last - first > _DECADES:
        return [10.0**power for power in decades[:: 1 + len(decades) // 7]]
    steps = (1, 2, 5) if last - first > 1 else (1, 1.5, 2, 3, 4, 5, 7)
    return [step * 10.0**power for power in decades for step in steps]

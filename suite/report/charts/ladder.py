"""The chart of a machine's speed-ups: a row a model, a mark for each amount of the work that is counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from suite.report.charts.ladder_labels import Axis, Labels, Number
from suite.report.charts.vega import APART, joined
from suite.results.views.experiment_result import Point

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")  # of as many series at most
_GREY, _FONT, _BAR = "#888888", 14, 2.5
_WIDER = 1.1  # pixels by which a reader's font may be wider than the one that drew, for each letter of a name
_TICKS = [10.0**power for power in range(-6, 7)]
_ACROSS = "GPU slower  \N{LEFTWARDS ARROW}  1x  \N{RIGHTWARDS ARROW}  GPU faster"

Row = dict[str, Any]

_AXIS = {
    "labelExpr": "format(datum.value, '~g') + 'x'",
    "labelOverlap": "greedy",
    "labelSeparation": APART,
    "values": _TICKS,
}
_NAMES = {"domain": False, "labelLimit": 520, "labelPadding": 10, "ticks": False}
_TIPS = [
    {"field": name, "title": title, "type": "nominal"}
    for name, title in (("row", "model"), ("series", "what"), ("text", "speed-up"))
]


@dataclass(frozen=True, kw_only=True)
class _Form:
    """The sizes of a chart in pixels: names stand left of their marks, or on a telephone above them."""

    width: int
    beside: bool
    mean: int  # height of a mean's row
    model: int  # height of a model's row
    numbers: tuple[int, int]  # from a mark down to its number: of two that are near, the second has the other place


_WIDE = _Form(width=540, beside=True, mean=32, model=46, numbers=(-11, 20))
_NARROW = _Form(width=370, beside=False, mean=60, model=68, numbers=(14, 27))


def ladder(means: Sequence[Point], points: Sequence[Point], claims: Sequence[Point], narrow: bool = False) -> Row:
    """Return the chart: the means on top, which name each series, then the models in the points' order.

    A series has the colour and shape of its mean. Hollow points may not be quoted; claims are grey ticks.
    """
    form, series = _NARROW if narrow else _WIDE, [mean.series for mean in means]
    ends = [end for p in (*means, *points, *claims) for end in (p.low, p.value, p.high) if end]
    across = {"domain": [min(ends) / 1.4, max(ends) * 1.4], "nice": False, "type": "log"}
    models = list(dict.fromkeys(point.row for point in points))
    ticks = list(map(_tick, claims))
    look = _look(series)
    marks = [_row(point) for point in points]
    lower = [*_ticks(ticks), *_marks(marks, look), *_placed(marks, ticks, form, across)]
    panels = [_panel(lower, models, form, form.model, across, _ACROSS)]
    if len(models) > 1 or len(series) > 1:
        of_all = [_row(mean, row=mean.series) for mean in means]
        upper = [*_marks(of_all, look), _numbers(of_all, form.numbers[0])]
        panels.insert(0, _panel(upper, series, form, form.mean, across, None))
    room = _WIDER * max((len(name) for name in (*series, *models)), default=0) if form.beside else 0
    return joined("vconcat", panels, {"spacing": 20, "padding": {"left": 14 + room, "right": 8, "top": 5, "bottom": 5}})


def _layer(rows: Sequence[Row], mark: str, look: Row, **channels: Any) -> Row:
    """Return rows as marks. Each machine has this chart: altair's objects would take a hundred times as long."""
    return {
        "data": {"values": list(rows)},
        "mark": {"type": mark, **dict(sorted(look.items()))},
        "encoding": dict(sorted(channels.items())),
    }


def _panel(layers: list[Row], rows: Sequence[str], form: _Form, height: int, across: Row, title: str | None) -> Row:
    """Return layers of marks in named rows on a logarithmic axis, with a line where both sides take equally long."""
    x = {"axis": _AXIS, "field": "value", "scale": across, "title": title, "type": "quantitative"}
    names = _NAMES if form.beside else None
    y = {"axis": names, "field": "row", "sort": list(rows), "title": None, "type": "nominal"}
    placed = [layer | {"encoding": dict(sorted(({"x": x, "y": y} | layer["encoding"]).items()))} for layer in layers]
    drawn = [_layer([{"value": 1}], "rule", {"color": _GREY, "strokeDash": [5, 4]}, x=x), *placed]
    if not form.beside:
        above = {"align": "left", "dy": 16 - height / 2, "fontSize": _FONT, "limit": 0.85 * form.width}
        drawn.append(_layer([{"row": name} for name in rows], "text", above, x={"value": 0}, y=y, text=_named("row")))
    return {"layer": drawn, "height": height * len(rows), "width": form.width}


def _named(field: str, **about: Any) -> Row:
    """Return the channel of a field of names."""
    return {"field": field, **about, "type": "nominal"}


def _look(series: Sequence[str]) -> Row:
    """Return the colour and the shape of each series; no two share one."""
    domain = list(series)
    shapes = {"domain": domain, "range": list(SHAPES[: len(domain)])}
    return {
        "color": _named("series", legend=None, scale={"domain": domain}),
        "shape": _named("series", legend=None, scale=shapes),
    }


def _marks(rows: Sequence[Row], look: Row) -> Iterator[Row]:
    """Yield intervals, filled and hollow points; Vega warns of a layer without rows."""
    if bars := [row for row in rows if row["low"] < row["high"]]:
        ends = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}
        yield _layer(bars, "rule", {"strokeWidth": _BAR, "opacity": 0.6}, **ends, color=look["color"])
    for solid in (True, False):
        if some := [row for row in rows if row["solid"] is solid]:
            point = {"filled": solid, "size": 80, "strokeWidth": 2, "opacity": 1}
            yield _layer(some, "point", point, **look, tooltip=_TIPS)


def _ticks(rows: Sequence[Row]) -> Iterator[Row]:
    if rows:
        yield _layer(rows, "tick", {"thickness": 2, "size": 18, "color": _GREY}, tooltip=_TIPS)


def _numbers(rows: Sequence[Row], down: int, **look: Any) -> Row:
    return _layer(rows, "text", {"fontSize": _FONT - 1, "dy": down, **look}, text=_named("text"))


def _row(point: Point, row: str = "") -> Row:
    return {
        "row": row or point.row,
        "series": point.series,
        "value": point.value,
        "low": point.low or point.value,
        "high": point.high or point.value,
        "text": point.text,
        "solid": point.solid,
    }


def _tick(claim: Point) -> Row:
    number, *_ = claim.text.partition(",")
    return {"row": claim.row, "value": claim.value, "series": claim.series, "text": claim.text, "number": number}


def _placed(marks: Sequence[Row], ticks: Sequence[Row], form: _Form, across: Row) -> Iterator[Row]:
    """Yield the numbers of marks, and in grey the labels of ticks, at places where none runs into another."""
    low, high = across["domain"]
    labels = Labels(Axis(low=low, high=high, pixels=form.width), form.numbers)
    of_marks = list(labels.of_marks([_number(row, row["text"]) for row in marks]))
    of_ticks = list(labels.of_ticks([_number(row, row["number"]) for row in ticks]))
    grey = {"color": _GREY, "fontStyle": "italic"}
    for some, look in ((of_marks, {}), (of_ticks, grey)):
        for down in form.numbers:
            if rows := [{"row": one.row, "value": one.value, "text": one.text} for one in some if one.down == down]:
                yield _numbers(rows, down, aria=False, **look)


def _number(row: Row, text: str) -> Number:
    return Number(row=row["row"], value=row["value"], text=text)

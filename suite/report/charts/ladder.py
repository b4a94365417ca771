"""The chart of a machine's speed-ups: a row a model, a mark for each amount of the work that is counted."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from suite.report.charts.vega import APART, finished, inline
from suite.results.views.experiment_result import Point

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")  # of as many series at most
_GREY, _FONT, _BAR = "#888888", 14, 2.5
_WIDER = 1.1  # pixels by which a reader's font may be wider than the one that drew, for each letter of a name
_TICKS = [10.0**power for power in range(-6, 7)]
_ACROSS = "GPU slower  \N{LEFTWARDS ARROW}  1x  \N{RIGHTWARDS ARROW}  GPU faster"

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Form:
    """The sizes of a chart in pixels: names stand left of their marks, or on a telephone above them."""

    width: int
    beside: bool
    mean: int  # height of a mean's row
    model: int  # height of a model's row
    number: int  # from a mark down to its number
    apart: float  # decades between two numbers of a row, which would run into each other


_WIDE = _Form(width=540, beside=True, mean=32, model=32, number=-13, apart=0.3)
_NARROW = _Form(width=370, beside=False, mean=60, model=60, number=15, apart=0.45)


def ladder(means: Sequence[Point], points: Sequence[Point], claims: Sequence[Point], narrow: bool = False) -> Row:
    """Return the chart: the means on top, which name each series, then the models in the points' order.

    A series has the colour and shape of its mean. Hollow points may not be quoted; claims are grey ticks.
    """
    form, series = _NARROW if narrow else _WIDE, [mean.series for mean in means]
    ends = [end for p in (*means, *points, *claims) for end in (p.low, p.value, p.high) if end]
    across = alt.Scale(type="log", domain=[min(ends) / 1.4, max(ends) * 1.4], nice=False)
    models = list(dict.fromkeys(point.row for point in points))
    ticks = [{"row": claim.row, "value": claim.value, "series": claim.series, "text": claim.text} for claim in claims]
    look = _look(series)
    numbered = list(_numbered(points, form.apart))
    lower = [*_ticks(ticks), *_marks([_row(point) for point in points], look), _numbers(numbered, form)]
    panels = [_panel(lower, models, form, form.model, across, _ACROSS)]
    if len(models) > 1 or len(series) > 1:
        of_all = [_row(mean, row=mean.series) for mean in means]
        upper = [*_marks(of_all, look), _numbers(of_all, form)]
        panels.insert(0, _panel(upper, series, form, form.mean, across, None))
    room = _WIDER * max((len(name) for name in (*series, *models)), default=0) if form.beside else 0
    return finished(alt.vconcat(*panels, spacing=20, padding={"left": 14 + room, "right": 8, "top": 5, "bottom": 5}))


def _panel(
    layers: list[Any], rows: Sequence[str], form: _Form, height: int, across: alt.Scale, title: str | None
) -> Any:
    """Return layers of marks in named rows on a logarithmic axis, with a line where both sides take equally long."""
    axis = alt.Axis(
        values=_TICKS, labelExpr="format(datum.value, '~g') + 'x'", labelOverlap="greedy", labelSeparation=APART
    )
    x = alt.X("value:Q", title=title, scale=across, axis=axis)
    names = alt.Axis(labelLimit=520, domain=False, ticks=False, labelPadding=10) if form.beside else None
    y = alt.Y("row:N", sort=list(rows), title=None, axis=names)
    even = alt.Chart(inline([{"value": 1}])).mark_rule(color=_GREY, strokeDash=[5, 4]).encode(x=x)
    drawn = [even, *(layer.encode(x=x, y=y) if _is_unplaced(layer) else layer.encode(y=y) for layer in layers)]
    if not form.beside:
        above = alt.Chart(inline([{"row": name} for name in rows]))
        text = above.mark_text(align="left", dy=16 - height / 2, fontSize=_FONT, limit=0.85 * form.width)
        drawn.append(text.encode(x=alt.value(0), y=y, text=alt.Text("row:N")))
    return alt.layer(*drawn).properties(width=form.width, height=height * len(rows))


def _is_unplaced(layer: Any) -> bool:
    return layer.encoding.x is alt.Undefined


def _look(series: Sequence[str]) -> Row:
    """Return the colour and the shape of each series; no two share one."""
    domain = list(series)
    shapes = alt.Scale(domain=domain, range=list(SHAPES[: len(domain)]))
    return {
        "color": alt.Color("series:N", scale=alt.Scale(domain=domain), legend=None),
        "shape": alt.Shape("series:N", scale=shapes, legend=None),
    }


def _marks(rows: Sequence[Row], look: Row) -> Iterator[Any]:
    """Yield intervals, filled and hollow points; Vega warns of a layer without rows."""
    if bars := [row for row in rows if row["low"] < row["high"]]:
        bar = alt.Chart(inline(bars)).mark_rule(strokeWidth=_BAR, opacity=0.6)
        yield bar.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=look["color"])
    for solid in (True, False):
        if some := [row for row in rows if row["solid"] is solid]:
            point = alt.Chart(inline(some)).mark_point(filled=solid, size=80, strokeWidth=2, opacity=1)
            yield point.encode(**look, tooltip=_tips())


def _ticks(rows: Sequence[Row]) -> Iterator[Any]:
    if rows:
        tick = alt.Chart(inline(rows)).mark_tick(thickness=2, size=18, color=_GREY)
        yield tick.encode(tooltip=_tips())


def _tips() -> list[alt.Tooltip]:
    titles = {"row": "model", "series": "what", "text": "speed-up"}
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]


def _numbers(rows: Sequence[Row], form: _Form) -> Any:
    return alt.Chart(inline(rows)).mark_text(fontSize=_FONT - 1, dy=form.number).encode(text=alt.Text("text:N"))


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


def _numbered(points: Sequence[Point], apart: float) -> Iterator[Row]:
    """Yield the points whose number has room: none before it in its row stands too near."""
    taken: dict[str, list[float]] = {}
    for point in points:
        near = taken.setdefault(point.row, [])
        if all(abs(math.log10(point.value / other)) >= apart for other in near):
            near.append(point.value)
            yield _row(point)

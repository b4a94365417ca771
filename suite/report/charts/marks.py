"""Marks that charts share: intervals, filled and hollow points, the line without gain."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from suite.report.charts.look import GREY
from suite.report.charts.vega import inline
from suite.results.views.experiment_result import Point

Row = dict[str, Any]
_DASHED = {"color": GREY, "strokeDash": [5, 4]}


def values(points: Sequence[Point]) -> list[Row]:
    """Return the rows of a chart's data, one for each point."""
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


def data(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """Return a chart of these rows."""
    return alt.Chart(inline(list(rows)))


def level(value: float | None, **axis: Any) -> Iterator[alt.Chart]:
    """Yield the dashed line of the value without gain; nothing if the chart has none."""
    if value is not None:
        yield data([{"value": value}]).mark_rule(**_DASHED).encode(**axis)


def bars(rows: Sequence[Row], place: Row) -> Iterator[alt.Chart]:
    """Yield the intervals."""
    if drawn := [row for row in rows if row["low"] < row["high"]]:
        yield data(drawn).mark_rule(strokeWidth=2.5, opacity=0.7).encode(**place)


def dots(rows: Sequence[Row], place: Row) -> Iterator[alt.Chart]:
    """Yield filled points, and hollow ones if there are any: Vega warns of a layer without rows."""
    place = place | {"tooltip": [alt.Tooltip("name:N"), alt.Tooltip("series:N"), alt.Tooltip("text:N", title="value")]}
    look: Row = {"size": 80, "strokeWidth": 2.5, "opacity": 1}
    for solid in (True, False):
        if some := [row for row in rows if row["solid"] is solid]:
            yield data(some).mark_point(filled=solid, **look).encode(**place)

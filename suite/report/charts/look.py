"""The colour and the shape of each series of a chart; no two series of one chart share either."""

from collections.abc import Sequence
from typing import Any

import altair as alt

_STAR = "M0,-1L0.24,-0.32L0.95,-0.31L0.38,0.12L0.59,0.81L0,0.4L-0.59,0.81L-0.38,0.12L-0.95,-0.31L-0.24,-0.32Z"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", _STAR, "triangle-right")
MOST = len(SHAPES)  # series of one chart; more are drawn in panels
GREY = "#888888"
_SIDES = ("GPU", "CPU")  # of every chart: the GPU has the first colour and shape, the CPU the second

Channels = dict[str, Any]


def ordered(names: Sequence[str]) -> list[str]:
    """Return the series in the order of their colours: GPU and CPU keep theirs, even if one of them is missing."""
    series = list(dict.fromkeys(names))
    if set(series) <= set(_SIDES):
        return list(_SIDES)
    sides = {side: [name for name in series if name.split(" ")[0] == side] for side in _SIDES}
    if sum(map(len, sides.values())) < len(series) or not all(sides.values()):
        return series
    first = [own[0] for own in sides.values()]
    return [*first, *(name for name in series if name not in first)]


def colour(names: Sequence[str], legend: alt.Legend | None = None) -> alt.Color:
    """Return the channel of the colour of each series."""
    return alt.Color("series:N", scale=alt.Scale(domain=ordered(names)), legend=legend)


def look(names: Sequence[str], legend: alt.Legend | None = None) -> Channels:
    """Return the channels of colour and shape of at most MOST series."""
    series = ordered(names)
    shapes = alt.Scale(domain=series, range=list(SHAPES[: len(series)]))
    return {"color": colour(series, legend), "shape": alt.Shape("series:N", scale=shapes, legend=legend)}

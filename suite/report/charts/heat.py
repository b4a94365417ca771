"""Heat maps of experiments' answers."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from suite.report.charts.look import GREY
from suite.report.charts.vega import inline, layered, stacked
from suite.results.views.experiment_result import HeatMap, Square

_WIDTH, _FONT = 320, 13

# Dark blue to yellow with even lightness: ordered for the colour-blind and in grey print. Source: Nuñez, Anderton and
# Renslow, Optimizing colormaps with consideration for color vision deficiency (2018).
_SCHEME, _INK_TURNS = "cividis", 0.42  # from here on black is more legible than white
_SQUARE = (58, 36)

Row = dict[str, Any]


def heat(chart: HeatMap) -> Row:
    """Return the heat map's Vega-Lite specification."""
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
        layers.append(alt.Chart(inline(some)).mark_rect().encode(**filled))
    if some := [value for value in values if not value["value"]]:
        layers.append(alt.Chart(inline(some)).mark_rect(color=GREY, opacity=0.3).encode(**place))
    for ink in ("black", "white"):
        some = [value for value in values if value["ink"] == ink]
        if some:
            layers.append(
                alt.Chart(inline(some)).mark_text(fontSize=_FONT, color=ink).encode(**place, text=alt.Text("text:N"))
            )
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

"""Charts of experiments' answers: points with intervals on a scale or in named rows; heat maps."""

from functools import lru_cache
from typing import Any

from suite.report.charts.heat import heat
from suite.report.charts.rows import in_rows
from suite.report.charts.scales import on_scales
from suite.results.views.experiment_result import Chart, HeatMap

_HOLLOW = "Hollow: not to be quoted"
_KEPT = 512  # specifications: an answer shows the chart of an experiment

Row = dict[str, Any]


@lru_cache(_KEPT)
def plot(chart: Chart | HeatMap, narrow: bool = False) -> Row:
    """Return the chart's Vega-Lite specification, for a wide screen or a telephone; nobody may change it."""
    if isinstance(chart, HeatMap):
        return heat(chart)
    is_in_rows = bool(chart.points) and all(point.at is None for point in chart.points)
    spec = (in_rows if is_in_rows else on_scales)(chart, narrow)
    return spec if all(point.solid for point in chart.points) else _noted(spec, _HOLLOW)


def _noted(spec: Row, note: str) -> Row:
    """Return the specification with a note below the plots."""
    title = {"text": note, "orient": "bottom", "anchor": "start", "fontSize": 12, "fontWeight": "normal", "offset": 8}
    return {**spec, "title": title}

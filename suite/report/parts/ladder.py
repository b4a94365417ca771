"""The clock ladder as a table and a curve."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from suite import units
from suite.case import Case
from suite.report.charts import plots
from suite.report.charts.vega import WIDTH, inline, layered
from suite.results.pooled.ladder import Amortised, Rung
from suite.results.single.selection import campaigns_note
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import row_of
from suite.results.views.table import Cell, Table, one_host_cell, time_cell, times_cells
from suite.scopes import SCOPES
from suite.workload import Description

_FEWEST = 2  # rungs of a chart
_ONE_CAMPAIGN = "one campaign"
_HEIGHTS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]


def words(case: Case, about: Description, compiling: bool = True, blocking: bool = False) -> str:
    """Return what a rung includes."""
    run, grid = about.run, about.grid
    if blocking:
        return "latency: one blocking step"
    if not compiling:
        return "the same run without its compilations"
    if case.scope != "run" or run is None:
        return SCOPES[case.scope].rungs[case.cache].long
    if grid is not None:
        points = len(grid.hidden) * len(grid.epochs)
        way = "side by side" if case.variant == "stacked" else "one after another"
        return f"run: the whole search, {points} points of {grid.folds} fits each, {way}, compiling included"
    epochs = f"{run.epochs} epoch{'s' if run.epochs > 1 else ''}"
    after = ", validation after each" if run.test else ""
    return f"run: building, compiling and {epochs} of {units.count(run.train)} examples{after}"


def table(rungs: Sequence[Rung], about: Description, machine: str) -> Table:
    """Return a row for each rung, with the speed-up if it is known."""
    return Table(
        title=f"The clock ladder, {machine}: CPU and GPU times as more of the work is counted",
        columns=("what is timed", "CPU", "GPU", "speed-up", "95 % interval", "status", "hosts"),
        rows=tuple(row_of(words(rung.case, about, rung.compiling, rung.blocking), *_cells(rung)) for rung in rungs),
        notes=_notes(rungs),
    )


def _cells(rung: Rung) -> tuple[Cell, ...]:
    item = rung.pooled
    if item is None:
        sides = [side for side in (rung.cpu, rung.gpu) if side]
        state = "invalid" if any(side.state == "invalid" for side in sides) else "open"
        return (
            time_cell(rung.cpu),
            time_cell(rung.gpu),
            *times_cells(rung.ratio, remark="" if len(sides) < 2 else "CPU and GPU are of two campaigns"),
            Cell(text=state, remark=one_host_cell(*sides).remark),
            Cell(text=_ONE_CAMPAIGN),
        )
    return (
        time_cell(item.cpu),
        time_cell(item.gpu),
        *times_cells(item.ratio.estimate, item.record),
        Cell(text=item.state, remark="; ".join(item.reasons)),
        Cell(text=units.count(item.hosts)),
    )


def _notes(rungs: Sequence[Rung]) -> tuple[str, ...]:
    alone = [side.record for rung in rungs for side in (rung.cpu, rung.gpu) if side]
    one = ("In a row of one campaign the interval is of one host, not of the kind of machine.",) if alone else ()
    none = ("A row without an interval has one process, or too few hosts to estimate how much they differ.",)
    lacking = any(rung.ratio is not None and rung.ratio.low is None for rung in rungs)
    return (*one, *(none if lacking else ()), *campaigns_note(alone))


def chart(rungs: Sequence[Rung]) -> dict[str, Any] | None:
    """Return the speed-up of each rung, the step on top; None if fewer than two rungs have both sides."""
    points = tuple(
        Point(
            series="speed-up",
            row=_name(rung),
            value=ratio.value,
            low=ratio.low,
            high=ratio.high,
            text=units.ratio(ratio.value, ratio.low, ratio.high),
            solid=rung.pooled is not None and rung.pooled.quotable,
        )
        for rung in rungs
        if (ratio := rung.ratio) is not None
    )
    if len(points) < _FEWEST:
        return None
    return plots.plot(Chart(caption="", across="CPU time / GPU time, log scale", points=points, level=1.0))


def _name(rung: Rung) -> str:
    if rung.blocking:
        return "latency"
    if not rung.compiling:
        return "run, compiled before"
    return f"{rung.case.scope}, cache warm" if rung.case.cache == "warm" else rung.case.scope


def curve(amortised: Sequence[Amortised]) -> dict[str, Any]:
    """Return the effective speed-up after n calls as points with intervals, on two logarithmic axes."""
    rows = [
        {
            "calls": one.calls,
            "what": "effective speed-up",
            "speed-up": one.ratio.value,
            "low": one.ratio.low or one.ratio.value,
            "high": one.ratio.high or one.ratio.value,
            "text": _after(one),
        }
        for one in amortised
    ]
    data = inline(rows)
    calls = alt.X(
        "calls:Q",
        scale=alt.Scale(type="log", domain=[0.3 * amortised[0].calls, 1.7 * amortised[-1].calls], nice=False),
        title="steps taken, the first with its compilation",
        axis=alt.Axis(values=[one.calls for one in amortised], format="~s"),
    )
    height = alt.Y(
        "speed-up:Q",
        scale=alt.Scale(type="log"),
        title="CPU time / GPU time",
        axis=alt.Axis(values=_HEIGHTS, labelOverlap=True, format="~g"),
    )
    colour = alt.Color("what:N", legend=None)
    base = alt.Chart(data)
    even = alt.Chart(inline([{"even": 1}])).mark_rule(strokeDash=[4, 4], color="#888888").encode(y="even:Q")
    layers = (
        even,
        base.mark_line().encode(x=calls, y=height, color=colour),
        base.mark_rule(strokeWidth=3).encode(x=calls, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour),
        base.mark_point(filled=amortised[0].quotable, size=110, strokeWidth=2.5, opacity=1).encode(
            x=calls, y=height, color=colour, tooltip=[alt.Tooltip("calls:Q"), alt.Tooltip("text:N", title="speed-up")]
        ),
        base.mark_text(dy=-16).encode(x=calls, y=height, text=alt.Text("text:N")),
    )
    return layered(*layers, width=WIDTH, height=200)


def alternative(amortised: Sequence[Amortised]) -> str:
    """Return the curve in words."""
    return "; ".join(f"after {units.pluralize(one.calls, 'step')} {_after(one)}" for one in amortised)


def _after(one: Amortised) -> str:
    return units.ratio(one.ratio.value, one.ratio.low, one.ratio.high)

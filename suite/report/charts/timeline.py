"""Telemetry over time during a process's samples, one panel for each quantity."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from suite import units
from suite.report.charts.vega import finished, inline
from suite.results.records.record import Record
from suite.results.records.run import Moment, Run

_WIDTH, _HEIGHT, _FEWEST = 320, 70, 4  # fewer points than this show nothing
_QUANTITIES: tuple[tuple[str, Callable[[Moment], float | None]], ...] = (
    ("CPU, % of granted cores", lambda m: None if m.cpu_utilisation is None else 100 * m.cpu_utilisation),
    ("GPU, % of time", lambda m: None if m.gpu_utilisation is None else 100 * m.gpu_utilisation),
    ("GPU power, W", lambda m: m.gpu_watts),
    ("SM clock, MHz", lambda m: m.gpu_clock_mhz),
    ("GPU, °C", lambda m: m.gpu_celsius),
)


def longest(records: Sequence[Record]) -> tuple[Record, Run] | None:
    """Return the process with the longest telemetry; None if there is nothing to draw."""
    watched_runs = [
        (record, run)
        for record in records
        for run in record.runs
        if not run.reason and run.telemetry is not None and len(run.telemetry.course) >= _FEWEST
    ]
    return max(watched_runs, key=lambda pair: pair[1].telemetry.seconds if pair[1].telemetry else 0.0, default=None)


def process_name(record: Record, run: Run) -> str:
    """Return the name of the process drawn."""
    return f"{record.label}, scope {record.case.scope}, process {run.round + 1}"


def finding(run: Run) -> str:
    """Return the mean of what was watched during the samples; '' if neither side was."""
    course = run.telemetry.course if run.telemetry is not None else ()
    words = []
    for side, quantity in (("CPU", _QUANTITIES[0][1]), ("GPU", _QUANTITIES[1][1])):
        values = [value for moment in course if (value := quantity(moment)) is not None]
        if values:
            words.append(f"the {side} {units.percent(fmean(values) / 100)}")
    return f"Busy on average: {', '.join(words)}" if words else ""


def chart(run: Run) -> dict[str, Any]:
    """Return the chart of a run's telemetry over the seconds of its samples."""
    course = run.telemetry.course if run.telemetry is not None else ()
    series = {
        name: [{"seconds": m.seconds, name: value} for m in course if (value := quantity(m)) is not None]
        for name, quantity in _QUANTITIES
    }
    known = {name: rows for name, rows in series.items() if rows}
    last = next(reversed(known), "")
    lines = [_line(name, rows, labelled=name == last) for name, rows in known.items()]
    return finished(alt.vconcat(*lines, spacing=14))


def _line(name: str, rows: Sequence[dict[str, float]], labelled: bool) -> alt.Chart:
    """Return the panel of a quantity; only the lowest one says the seconds."""
    still = not any(row[name] for row in rows)  # an axis with only zeros would be labelled in millionths
    seconds = alt.X(
        "seconds:Q",
        scale=alt.Scale(domainMin=0),
        title="seconds of the samples" if labelled else None,
        axis=alt.Axis() if labelled else alt.Axis(labels=False, ticks=False),
    )
    value = alt.Y(
        field=name,
        type="quantitative",
        title=None,
        axis=alt.Axis(tickCount=1 if still else 3),
        scale=alt.Scale(domain=[0, 1]) if still else alt.Undefined,
    )
    line = alt.Chart(inline(rows), title=alt.TitleParams(name, anchor="start", fontWeight="normal"))
    drawn = line.mark_line(interpolate="step-before", strokeWidth=2).encode(x=seconds, y=value)
    return drawn.properties(width=_WIDTH, height=_HEIGHT)

"""Every sample of a workload's steps, a row for each process below its record's name."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from suite import units
from suite.report.charts import axes, look
from suite.report.charts.vega import joined
from suite.results.records.record import Record
from suite.results.records.run import Run

_WIDTH, _ROW = 320, 15  # pixels of the plot and of a process
_FONT = 12
_PART = ": "  # between a record and the number of its process


def chart(records: Sequence[Record]) -> dict[str, Any]:
    """Return the chart of the samples; the GPU's have another colour and shape than the CPU's."""
    rows = [
        {
            "process": f"{_name(record)}{_PART}{run.round + 1}",
            "seconds": seconds,
            "series": record.backend.upper(),
        }
        for record, run in _runs(records)
        for seconds in _seconds(run)
    ]
    names = list(dict.fromkeys(part for row in rows for part in (row["process"].split(_PART)[0], row["process"])))
    scale = axes.logarithmic("time of a step, log scale", [row["seconds"] for row in rows], _WIDTH, "s")
    number = f"split(datum.label, '{_PART}')[1] || ''"
    numbers = {"labelExpr": number, "labelFontSize": _FONT, "ticks": False, "domain": False, "labelOverlap": False}
    process = {"field": "process", "type": "nominal"}
    y = {**process, "sort": None, "scale": {"domain": names}, "title": None, "axis": numbers}
    x = {**_plain(alt.X("seconds:Q", **scale.channel)), "field": "seconds", "type": "quantitative"}
    looks = {
        channel: {**_plain(each), "field": "series", "type": "nominal"}
        for channel, each in look.look([row["series"] for row in rows]).items()
    }
    tips = [
        process,
        {"field": "seconds", "type": "quantitative", "title": "seconds a step"},
    ]
    heads = [{"process": name} for name in names if _PART not in name]
    dots = {
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.7},
        "encoding": {"x": x, "y": y, **looks, "tooltip": tips},
    }
    titles = {
        "data": {"values": heads},
        "mark": {"type": "text", "align": "left", "fontSize": _FONT, "limit": _WIDTH, "aria": False},
        "encoding": {"x": {"value": 0}, "y": y, "text": process},
    }
    return joined("layer", [dots, titles], {"width": _WIDTH, "height": _ROW * len(names)})


def _plain(channel: Any) -> dict[str, Any]:
    return channel.to_dict(validate=False)


def _name(record: Record) -> str:
    """Return a record's name, the side first."""
    return f"{record.backend.upper()}, {record.label.removeprefix(record.backend).strip()}"


def finding(records: Sequence[Record]) -> str:
    """Return how far the samples of one process lie apart at most; '' if none has two."""
    processes = [seconds for _, run in _runs(records) if len(seconds := _seconds(run)) > 1]
    if not processes:
        return ""
    most = max(max(seconds) / min(seconds) for seconds in processes)
    return f"The slowest sample of a process takes at most {units.ratio(most)} as long as its fastest"


def _runs(records: Sequence[Record]) -> Iterator[tuple[Record, Run]]:
    for record in records:
        for run in record.runs:
            if not run.reason and run.steps_per_sample:
                yield record, run


def _seconds(run: Run) -> list[float]:
    return [sample.wall_seconds / run.steps_per_sample for sample in run.samples]

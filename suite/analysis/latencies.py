"""Latencies of requests as sentences, rows and points, for every implementation."""

from collections.abc import Iterator, Sequence

from suite import units
from suite.analysis.steps import caveat, steady, value_point
from suite.results.records.record import Record
from suite.results.single.latency import Latency, latency
from suite.results.single.selection import campaigns_note, current_cases, fastest_of_each_case
from suite.results.single.summary import Summary
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import ON_ONE_HOST, Cell, Table, one_host_cell, rate_cells

_LATENCIES = (
    "model", "backend", "way", "half of requests", "95 % interval", "99 of 100", "95 % interval", "pictures/s",
    "95 % interval", "requests", ON_ONE_HOST,
)  # fmt: skip


def latencies(records: Sequence[Record]) -> tuple[Latency, ...]:
    """Return the current results of requests of each case with its faster allocator, by size of the network."""
    found = fastest_of_each_case(current_cases(record for record in records if record.case.scope == "serve"))
    return tuple(latency(record) for record in sorted((item.record for item in found), key=_place))


def said(served: Sequence[Latency]) -> list[str]:
    """Return a sentence for each network and backend with requests answered by JAX."""
    return [_said(item) for item in served if item.summary.complete and _plain(item.summary)]


def latency_table(served: Sequence[Latency]) -> Table:
    """Return the table of requests, one row per case."""
    rows = []
    for item in served:
        record = item.summary.record
        way = " ".join([record.case.implementation, *record.case.non_default_axes(record.description.data)])
        seconds = (*_seconds_cells(item.median, item.summary), *_seconds_cells(item.tail, item.summary))
        numbers = (*seconds, *rate_cells(item.rate, item.summary), count_cell(item.requests))
        rows.append(row_of(record.workload, record.backend.upper(), way, *numbers, one_host_cell(item.summary)))
    title = "Requests of one picture, four always under way"
    apart = campaigns_note(item.summary.record for item in served)
    return Table(title=title, columns=_LATENCIES, rows=tuple(rows), notes=apart)


def latency_chart(served: Sequence[Latency]) -> Chart | None:
    """Return the chart of JAX's latencies on each backend; None if there are none."""
    points = tuple(point for item in served if _plain(item.summary) for point in _points(item))
    if not points:
        return None
    caption = "Latency of a request of one picture, four always under way."
    return Chart(caption=caption, across="seconds, log scale", points=points, name="latency")


def _place(record: Record) -> tuple[int, str, str, str, str]:
    case = record.case
    return record.description.flop_per_example, record.workload, case.backend, case.implementation, case.variant


def _plain(item: Summary) -> bool:
    case = item.record.case
    return (case.implementation, case.precision) == ("jax", "float32-highest")


def _said(item: Latency) -> str:
    record = item.summary.record
    return (
        f"{record.workload} on the {record.backend.upper()}: half of the requests are answered within "
        f"{_seconds(item.median)}, 99 of 100 within {_seconds(item.tail)}; "
        f"{number(item.rate)} pictures/s with four under way.{caveat([item.summary])}"
    )


def _points(item: Latency) -> Iterator[Point]:
    record = item.summary.record
    for series, value in (("half of requests", item.median), ("99 of 100", item.tail)):
        if value is not None:
            row = f"{record.workload} {record.backend.upper()}"
            yield value_point(series, value, _seconds(value), steady(item.summary), row=row)


def _seconds(value: Estimate | None) -> str:
    return units.DASH if value is None else units.seconds(value.value, units.half_width(value.low, value.high))


def number(value: Estimate | None) -> str:
    """Return a rate with its decimal prefix, without digits below the half-width of its interval; a dash for None."""
    return units.DASH if value is None else units.quantity(value.value, "", units.half_width(value.low, value.high))


def _seconds_cells(value: Estimate | None, item: Summary) -> tuple[Cell, Cell]:
    if value is None:
        return Cell(text=units.DASH, remark="; ".join(item.reasons), record=item.record), Cell(text=units.DASH)
    shown = Cell(text=_seconds(value), sort=value.value, record=item.record)
    return shown, Cell(text=units.seconds_interval(value.low, value.high))

"""Answers to requests: pools and speed-ups by way, derived clusters, and latencies as sentences, rows and points."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from suite import units
from suite.analysis.steps import caveat, value_point, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.latency import Latency, latency
from suite.results.single.selection import campaigns_note, current_cases, fastest_of_each_case
from suite.results.single.summary import Summary, time_ratio
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import ON_ONE_HOST, Cell, Table, one_host_cell, rate_cells
from suite.scopes import Scope

BATCHES = (1, 8, 32, 128)

Way = tuple[Scope, int]  # scope, and pictures per step or request
Networks = dict[str, dict[Way, dict[str, Pool]]]  # by name, then by backend

REQUESTS: Way = ("serve", 1)


def plain_requests(record: Record) -> bool:
    """Return whether a record is of JAX's requests in the headline setting."""
    return record.usual("batch") and (record.case.scope, record.case.batch) == REQUESTS


def sides_of(evidence: Evidence) -> Networks:
    """Return each inference network's pools, the smallest network first: requests, then steps by batch."""
    fits = list(evidence.fitting(lambda r: not r.description.trained and asked(r)))
    networks: Networks = {}
    for pool in sorted(fits, key=lambda pool: (pool.newest.description.flop_per_example, _order(way_of(pool.case)))):
        backends = networks.setdefault(pool.case.workload, {}).setdefault(way_of(pool.case), {})
        other = backends.setdefault(pool.case.backend, pool)
        if pool.hosts > other.hosts:  # of two allocators the one with more hosts
            backends[pool.case.backend] = pool
    return networks


def served(speedups: Iterable[PooledSpeedUp]) -> dict[str, dict[Way, PooledSpeedUp]]:
    """Return each inference network's valid speed-ups, the smallest network first: requests, then steps by batch."""
    networks: dict[str, dict[Way, PooledSpeedUp]] = defaultdict(dict)
    valid = (item for item in speedups if not item.record.description.trained and item.state != "invalid")
    fits = (item for item in valid if asked(item.record))
    for item in sorted(fits, key=lambda item: (item.record.description.flop_per_example, _order(way_of(item.case)))):
        networks[item.workload][way_of(item.case)] = item
    return networks


def asked(record: Record) -> bool:
    """Return whether a record is of requests or of a step in the headline setting."""
    return plain_requests(record) or record.headline_step("batch")


def way_of(case: Case) -> Way:
    """Return a case's scope and batch."""
    return case.scope, case.batch


def _order(way: Way) -> tuple[bool, int]:
    return way != REQUESTS, way[1]


def cluster(gain: Estimate, gpus: int, machines: int) -> Estimate:
    """Return the derived throughput of so many GPUs over the CPUs of so many machines, if both scale perfectly."""
    return gain.times(gpus / machines)


BLOCKING = "one waited for"  # name of a column
_NOT_TIMED = "this campaign timed no request that is waited for"
_LATENCIES = (
    "model", "backend", "way", BLOCKING, "95 % interval", "half of requests", "95 % interval", "99 of 100",
    "95 % interval", "pictures/s", "95 % interval", "requests", ON_ONE_HOST,
)  # fmt: skip


def latencies(records: Sequence[Record]) -> tuple[Latency, ...]:
    """Return the current results of requests of each case with its faster allocator, by size of the network."""
    found = fastest_of_each_case(current_cases(record for record in records if record.case.scope == "serve"))
    return tuple(latency(record) for record in sorted((item.record for item in found), key=_place))


def said(served: Sequence[Latency]) -> list[str]:
    """Return a sentence for each network and backend with requests answered by JAX."""
    return [_said(item) for item in served if item.summary.complete and _plain(item.summary)]


def blocking_said(served: Sequence[Latency]) -> list[str]:
    """Return a sentence for each network on how long JAX takes for one picture that is waited for, on each side."""
    sides: dict[str, dict[str, Summary]] = defaultdict(dict)
    for item in served:
        if item.blocking is not None and item.summary.complete and _plain(item.summary):
            sides[item.summary.record.workload][item.summary.record.backend] = item.blocking
    return [f"{name}: {_blocking_said(both)}" for name, both in sides.items()]


def _blocking_said(sides: Mapping[str, Summary]) -> str:
    taken = " and ".join(f"{_seconds(item.seconds)} on the {side.upper()}" for side, item in sides.items())
    text = f"one picture that is waited for takes {taken}"
    ratio = time_ratio(sides["cpu"], sides["gpu"]) if sides.keys() >= {"cpu", "gpu"} else None
    gain = f"; the GPU answers it {words(ratio)} as fast" if ratio else ""
    return f"{text}{gain}.{caveat(sides.values())}"


def latency_table(served: Sequence[Latency]) -> Table:
    """Return the table of requests, one row per case."""
    rows = []
    for item in served:
        record = item.summary.record
        way = " ".join([record.case.implementation, *record.case.non_default_axes(record.description.data)])
        seconds = (*_seconds_cells(item.median, item.summary), *_seconds_cells(item.tail, item.summary))
        waited = _waited_cells(item)
        numbers = (*waited, *seconds, *rate_cells(item.rate, item.summary), count_cell(item.requests))
        rows.append(row_of(record.workload, record.backend.upper(), way, *numbers, one_host_cell(item.summary)))
    title = "Requests of one picture: each waited for, then four always under way"
    apart = campaigns_note(item.summary.record for item in served)
    return Table(title=title, columns=_LATENCIES, rows=tuple(rows), notes=apart)


def latency_chart(served: Sequence[Latency]) -> Chart | None:
    """Return the chart of JAX's latencies on each backend; None if there are none."""
    points = tuple(point for item in served if _plain(item.summary) for point in _points(item))
    if not points:
        return None
    caption = "Latency of a request of one picture: waited for before the next is sent, and with four always under way."
    return Chart(
        caption=caption,
        across="latency, log scale",
        points=points,
        name="latency",
        seconds=True,
        finding="Answers take {span}",
    )


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
    waited = item.blocking.seconds if item.blocking else None
    for series, value in ((BLOCKING, waited), ("half of requests", item.median), ("99 of 100", item.tail)):
        if value is not None:
            row = f"{record.workload}, {record.backend.upper()}"
            yield value_point(series, value, _seconds(value), solid=False, row=row)  # of one campaign


def _seconds(value: Estimate | None) -> str:
    return units.DASH if value is None else units.seconds(value.value, units.half_width(value.low, value.high))


def number(value: Estimate | None) -> str:
    """Return a rate with its decimal prefix, without digits below the half-width of its interval; a dash for None."""
    return units.DASH if value is None else units.quantity(value.value, "", units.half_width(value.low, value.high))


def _waited_cells(item: Latency) -> tuple[Cell, Cell]:
    if item.blocking is None and item.summary.complete:
        return Cell(text=units.DASH, remark=_NOT_TIMED, record=item.summary.record), Cell(text=units.DASH)
    return _seconds_cells(item.blocking and item.blocking.seconds, item.summary)


def _seconds_cells(value: Estimate | None, item: Summary) -> tuple[Cell, Cell]:
    if value is None:
        return Cell(text=units.DASH, remark="; ".join(item.reasons), record=item.record), Cell(text=units.DASH)
    shown = Cell(text=_seconds(value), sort=value.value, record=item.record)
    return shown, Cell(text=units.seconds_interval(value.low, value.high))

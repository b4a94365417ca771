"""How fast are pictures answered, and how many? Latency and throughput of the inference networks."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

import msgspec

from suite import units
from suite.inquiry.here import Here
from suite.inquiry.latencies import drawn, latencies, latency_chart, latency_table, number, said
from suite.inquiry.served import BATCHES, REQUESTS, Way, campaigns, cluster, gains, side, ways
from suite.inquiry.steps import caveat, point, step, words
from suite.results.reading import Chart, Point, Reading
from suite.results.record import Record
from suite.results.speedup import SpeedUp
from suite.results.summary import Summary
from suite.results.table import ON_ONE_HOST, Cell, Table, filled, one_host_cell, rate_cells, times_cells
from suite.workload import Case, Description

TITLE = "How fast are pictures answered, and how many?"
TESTS = ("O12",)
LONGEST_STEP_SECONDS = 10.0
METHOD = (
    "A request is the copy of one picture from the host, the inference, and the copy of its answer, the probability of "
    "the likeliest class, back to the host. One process always has four requests under way: as soon as the oldest has "
    "its answer the next is sent, with the next of 64 pictures. A request's latency lasts from its dispatch until its "
    "answer is on the host, so it contains the wait for those before it; at least 200 are kept of each process, after "
    "the warm-up. Of each process the latency that half of its requests, and that 99 of 100, did not exceed is one "
    "number, and intervals are over processes. Every answer is compared with that of the same picture asked alone. "
    "Pictures a second at a batch are those of the step in steady state, its batch on the device. A case whose first "
    "step takes more than 10 s is left out. There is no web service around it. Several GPUs against the CPUs of "
    "several machines were not measured: these figures are derived from one GPU and one machine's cores, if all scale "
    "perfectly, and cannot be cited."
)
WORKLOADS = ("serve_mobilenet_v2", "serve_nasnet_mobile", "serve_resnet50", "serve_resnet152", "serve_nasnet_large")

_CLUSTERS = ((1, 5), (3, 5))  # GPUs and CPU machines
_DOCUMENTED = (3, 5)  # in the article
_RATES = ("model", "pictures at a time", "CPU pictures/s", "95 % interval", "GPU pictures/s", "95 % interval",
          "speed-up", "95 % interval", ON_ONE_HOST)  # fmt: skip
_DERIVED = ("model", "pictures at a time", "GPUs", "CPU machines", "derived ratio", "95 % interval", "documented")


def cases(catalogue: Sequence[Description], here: Here) -> tuple[Case, ...]:
    """Return requests, and steps at each batch, on every backend. Raises ValueError if no network infers."""
    chosen = [about for about in catalogue if not about.trained]
    if not chosen:
        raise ValueError(
            "experiment 'serving' asks about inference, these networks are trained: "
            f"{', '.join(about.name for about in catalogue)}; name one such as '{WORKLOADS[0]}'"
        )
    return tuple(
        case
        for about in chosen
        for backend in here.backends
        for case in (
            msgspec.structs.replace(step(about, backend, here, batch=1), scope="serve"),
            *(step(about, backend, here, batch=batch) for batch in BATCHES),
        )
    )


def read(records: Sequence[Record]) -> Reading | None:
    """Return latencies, throughput and what the GPU gains by network; None if nothing was served."""
    groups, served = campaigns(records), latencies(records)
    if not groups and not served:
        return None
    answers, derived, rates, speeds = said(served), [], [], []
    for name, group in groups.items():
        answers += _gained(name, group)
        derived += _derived_rows(name, group)
        rates += _rate_points(name, group)
        speeds += [point(_way(way), item.ratio, item, row=name) for way, item in gains(group).items()]
    tables = [latency_table(served)] if served else []
    tables += [_rate_table(groups)] if groups else []
    tables += [_derived_table(derived)] if derived else []
    timed = groups.keys() | {item.summary.record.workload for item in served}
    tables[0] = replace(tables[0], notes=(*tables[0].notes, *_untimed(timed)))
    charts = (latency_chart(served), _speed_chart(speeds))
    return Reading(
        answers=tuple(answers),
        tables=tuple(tables),
        chart=_rate_chart(rates),
        beside=tuple(chart for chart in charts if chart is not None),
    )


def _untimed(timed: Container[str]) -> Iterator[str]:
    """Yield a note that names the networks without a row; in an answer they would count as answered."""
    missing = [name for name in WORKLOADS if name not in timed]
    if missing:
        yield f"Not timed here by this experiment: {', '.join(missing)}."


def _counted(group: Sequence[Record]) -> dict[Way, SpeedUp]:
    """Return the speed-ups of whole results, requests first, then steps by their batch."""
    return {way: item for way, item in gains(group).items() if item.whole}


def _gained(name: str, group: Sequence[Record]) -> Iterator[str]:
    found = _counted(group)
    doubt = caveat(found.values())
    if found:
        by_way = "; ".join(f"{_way(way)}: {words(item.ratio)}" for way, item in found.items())
        yield f"{name}: the GPU's pictures/s over the CPU's, by pictures at a time: {by_way}.{doubt}"
    if REQUESTS in found:
        gpus, machines = _DOCUMENTED
        value = words(cluster(found[REQUESTS].ratio, gpus, machines))
        yield (
            f"{name}, derived: {gpus} such GPUs answer {value} as many requests as the CPUs of {machines} such "
            f"machines, if both scale perfectly; documented, for a network that is not named: {_claimed(group[0])}."
        )


def _claimed(record: Record) -> str:
    values = sorted(c.speedup for c in record.description.claims if c.metric == "throughput_gain" and c.speedup)
    return " or ".join(units.times(value) for value in values) or units.DASH


def _rate_table(groups: dict[str, list[Record]]) -> Table:
    rows = [_rate_row(name, group, way) for name, group in groups.items() for way in ways(group)]
    return filled(Table(title="Pictures a second, one at a time and in batches", columns=_RATES, rows=tuple(rows)))


def _rate_row(name: str, group: Sequence[Record], way: Way) -> tuple[Cell, ...]:
    sides = [side(group, way, backend) for backend in ("cpu", "gpu")]
    there = [item for item in sides if item is not None]
    gain = gains(group).get(way)
    why = "; ".join(reason for item in there for reason in item.reasons) or "one side was not measured"
    return (
        Cell(text=name),
        Cell(text=_way(way), sort=way[1]),
        *(cell for item in sides for cell in _rate(item)),
        *times_cells(gain and gain.ratio, gain.gpu.record if gain else None, why),
        one_host_cell(gain) if gain else one_host_cell(*there),
    )


def _rate(item: Summary | None) -> tuple[Cell, Cell]:
    if item is None:
        return Cell(text=units.DASH, remark="not measured"), Cell(text=units.DASH)
    return rate_cells(item.examples_per_second_estimate, item)


def _derived_rows(name: str, group: Sequence[Record]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each cluster, by requests and by the largest batch that both sides have."""
    found = _counted(group)
    for way in dict.fromkeys(way for way in (REQUESTS, *list(found)[-1:]) if way in found):
        for gpus, machines in _CLUSTERS:
            same = (gpus, machines) == _DOCUMENTED
            yield (
                Cell(text=name),
                Cell(text=_way(way), sort=way[1]),
                Cell(text=units.count(gpus), sort=gpus),
                Cell(text=units.count(machines), sort=machines),
                *times_cells(cluster(found[way].ratio, gpus, machines)),
                Cell(text=_claimed(group[0]) if same else units.DASH, remark="" if same else "nothing is documented"),
            )


def _derived_table(rows: Sequence[tuple[Cell, ...]]) -> Table:
    note = (
        "Derived, not measured, and not to be cited: the measured speed-up of one GPU over the cores of this machine, "
        "times GPUs over machines, as if both scaled perfectly."
    )
    title = "Derived: several GPUs against the CPUs of several such machines"
    return Table(title=title, columns=_DERIVED, rows=tuple(rows), notes=(note,))


def _rate_points(name: str, group: Sequence[Record]) -> Iterator[Point]:
    for way in ways(group):
        for backend in ("cpu", "gpu") if way != REQUESTS else ():
            item = side(group, way, backend)
            rate = item.examples_per_second_estimate if item is not None else None
            if item is not None and rate is not None:
                yield drawn(f"{name}, {backend.upper()}", rate, item, f"{number(rate)} pictures/s", at=way[1])


def _rate_chart(rates: Sequence[Point]) -> Chart | None:
    if not rates:
        return None
    caption = "Pictures a second of the step over its batch, which lies on the device."
    return Chart(
        caption=caption, across="batch, log scale", up="pictures/s, log scale", points=tuple(rates), joined=True
    )


def _speed_chart(speeds: Sequence[Point]) -> Chart | None:
    if not speeds:
        return None
    caption = "CPU time over GPU time of a picture, by pictures at a time; above 1 the GPU is faster."
    across = "CPU time / GPU time, log scale"
    return Chart(caption=caption, across=across, points=tuple(speeds), level=1.0, name="speedups")


def _way(way: Way) -> str:
    return "1, four under way" if way == REQUESTS else f"batch {units.count(way[1])}"

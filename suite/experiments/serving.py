"""How fast are pictures answered, and how many? Latency and throughput of the inference networks."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from suite import units
from suite.analysis import serving
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import pooled_point, said_of, usual_case, value_point, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp, lacking
from suite.results.single.summary import summary
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.rows import count_cell, row_of, state_cells
from suite.results.views.table import Cell, Table, filled, pooled_rate_cells, times_cells
from suite.workload import Description

TITLE = "How fast are pictures answered, and how many?"
TESTS = ("O12",)
LONGEST_STEP_SECONDS = 10.0
METHOD = (
    "A request is the copy of one picture from the host, the inference, and the copy of its answer, the probability of "
    "the likeliest class, back to the host. One process always has four requests under way: as soon as the oldest has "
    "its answer the next is sent, with the next of 64 pictures. A request's latency lasts from its dispatch until its "
    "answer is on the host, so it contains the wait for those before it; at least 200 are kept of each process, after "
    "the warm-up. Then requests are sent one at a time, each once the one before has its answer, up to 30 of them or "
    "for a second: their mean is the time of one picture that is waited for. Of each process the latency that half of "
    "its requests, and that 99 of 100, did not exceed is one number, and intervals are over processes. Every answer is "
    "compared with that of the same picture asked alone. Pictures a second at a batch are those of the step in steady "
    "state, its batch on the device. A case whose first step takes more than 10 s is left out. There is no web service "
    "around it. Several GPUs against the CPUs of several machines were not measured: these figures are derived from "
    "one GPU and one machine's cores, if all scale perfectly, and cannot be cited."
)
WORKLOADS = ("serve_mobilenet_v2", "serve_nasnet_mobile", "serve_resnet50", "serve_resnet152", "serve_nasnet_large")

Reasons = Mapping[tuple[str, serving.Way, str], str]  # by network, way and backend

_CLUSTERS = ((1, 5), (3, 5))  # GPUs and CPU machines
_DOCUMENTED = (3, 5)  # in the article
_RATES = ("model", "pictures at a time", "CPU pictures/s", "95 % interval", "GPU pictures/s", "95 % interval",
          "speed-up", "95 % interval", "status", "hosts")  # fmt: skip
_DERIVED = ("model", "pictures at a time", "GPUs", "CPU machines", "derived ratio", "95 % interval", "documented")


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
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
            usual_case(about, backend, here, "serve", batch=1),
            *(usual_case(about, backend, here, batch=batch) for batch in serving.BATCHES),
        )
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return latencies, throughput and what the GPU gains by network; None if nothing was served."""
    requests = serving.latencies(evidence.records)
    sides, gained = serving.sides_of(evidence), serving.served(evidence.speedups)
    if not sides and not requests:
        return None
    answers, derived = [*serving.blocking_said(requests), *serving.said(requests)], []
    for name, ways in gained.items():
        answers += _gained(name, ways)
        derived += _derived_rows(name, ways)
    rates = [point for name, ways in sides.items() for point in _rate_points(name, ways)]
    speeds = [pooled_point(item, _words(way), row=name) for name, ways in gained.items() for way, item in ways.items()]
    tables = [serving.latency_table(requests)] if requests else []
    tables += [_rate_table(sides, gained, _reasons(evidence))] if sides else []
    tables += [_derived_table(derived)] if derived else []
    timed = sides.keys() | {item.summary.record.workload for item in requests}
    tables[0] = replace(tables[0], notes=(*tables[0].notes, *_untimed(timed)))
    chart = Chart(
        caption="Pictures a second of the step over its batch, which lies on the device.",
        across="batch, log scale",
        up="pictures/s, log scale",
        points=tuple(rates),
        joined=True,
        finding="Up to {most}",
    )
    gains = Chart(
        name="speedups",
        caption="CPU time over GPU time of a picture, by pictures at a time; above 1 the GPU is faster.",
        across="CPU time / GPU time, log scale",
        points=tuple(speeds),
        level=1.0,
        finding="The GPU answers {span} as fast as the CPU",
    )
    charts = (serving.latency_chart(requests), gains if speeds else None)
    return ExperimentResult(
        answers=tuple(answers),
        tables=tuple(tables),
        chart=chart if rates else None,
        beside=tuple(chart for chart in charts if chart is not None),
    )


def _untimed(timed: Container[str]) -> Iterator[str]:
    """Yield a note that names the networks without a row; in an answer they would count as answered."""
    missing = [name for name in WORKLOADS if name not in timed]
    if missing:
        yield f"Not timed here by this experiment: {', '.join(missing)}."


def _gained(name: str, found: Mapping[serving.Way, PooledSpeedUp]) -> Iterator[str]:
    by_way = "; ".join(f"{_words(way)}: {words(item.ratio.estimate)}" for way, item in found.items())
    yield f"{name}: the GPU's pictures/s over the CPU's, by pictures at a time: {by_way}.{said_of(found.values())}"
    if serving.REQUESTS in found:
        gpus, machines = _DOCUMENTED
        value = words(serving.cluster(found[serving.REQUESTS].ratio.estimate, gpus, machines))
        yield (
            f"{name}, derived: {gpus} such GPUs answer {value} as many requests as the CPUs of {machines} such "
            "machines, if both scale perfectly; documented, for a network that is not named: "
            f"{_claimed(found[serving.REQUESTS])}."
        )


def _claimed(item: PooledSpeedUp) -> str:
    values = sorted(c.speedup for c in item.record.description.claims if c.metric == "throughput_gain" and c.speedup)
    return " or ".join(units.ratio(value) for value in values) or units.DASH


def _reasons(evidence: Evidence) -> Reasons:
    """Return what was said of each side of each way when it was last measured."""
    last = sorted(evidence.records, key=lambda record: record.created)
    return {
        (r.workload, serving.way_of(r.case), r.backend): "; ".join(summary(r).reasons) for r in last if serving.asked(r)
    }


def _rate_table(
    sides: serving.Networks, gained: Mapping[str, Mapping[serving.Way, PooledSpeedUp]], reasons: Reasons
) -> Table:
    rows = [
        _rate_row(name, way, pools, gained.get(name, {}).get(way), reasons)
        for name, ways in sides.items()
        for way, pools in ways.items()
    ]
    return filled(Table(title="Pictures a second, one at a time and in batches", columns=_RATES, rows=tuple(rows)))


def _rate_row(
    name: str, way: serving.Way, pools: Mapping[str, Pool], gain: PooledSpeedUp | None, reasons: Reasons
) -> tuple[Cell, ...]:
    hosts = gain.hosts if gain else min(pool.hosts for pool in pools.values())
    cpu, gpu = (pooled_rate_cells(pools.get(side), reasons.get((name, way, side), "")) for side in ("cpu", "gpu"))
    ratio = times_cells(gain and gain.ratio.estimate, gain.record if gain else None, "one side was not measured")
    state = state_cells(gain)[0] if gain else units.DASH
    return row_of(name, _way_cell(way), *cpu, *gpu, *ratio, state, count_cell(hosts))


def _derived_rows(name: str, found: Mapping[serving.Way, PooledSpeedUp]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each cluster, by requests and by the largest batch that both sides have."""
    for way in dict.fromkeys(way for way in (serving.REQUESTS, *list(found)[-1:]) if way in found):
        for gpus, machines in _CLUSTERS:
            same = (gpus, machines) == _DOCUMENTED
            value = times_cells(serving.cluster(found[way].ratio.estimate, gpus, machines))
            documented = (
                Cell(text=_claimed(found[way])) if same else Cell(text=units.DASH, remark="nothing is documented")
            )
            yield row_of(name, _way_cell(way), count_cell(gpus), count_cell(machines), *value, documented)


def _derived_table(rows: Sequence[tuple[Cell, ...]]) -> Table:
    note = (
        "Derived, not measured, and not to be cited: the speed-up of one GPU over the cores of this kind of machine, "
        "times GPUs over machines, as if both scaled perfectly."
    )
    title = "Derived: several GPUs against the CPUs of several such machines"
    return Table(title=title, columns=_DERIVED, rows=tuple(rows), notes=(note,))


def _rate_points(name: str, ways: Mapping[serving.Way, Mapping[str, Pool]]) -> Iterator[Point]:
    for way, pools in ways.items():
        for backend, pool in pools.items() if way != serving.REQUESTS else ():
            rate = pool.seconds.per(way[1])
            solid = not any(lacking(pool.pooled))
            text = f"{serving.number(rate)} pictures/s"
            yield value_point(backend.upper(), rate, text, solid, at=way[1], panel=name)


def _way_cell(way: serving.Way) -> Cell:
    return Cell(text=_words(way), sort=way[1])


def _words(way: serving.Way) -> str:
    return "1, four under way" if way == serving.REQUESTS else f"batch {units.count(way[1])}"

"""What does a deeper network cost when its photographs come from storage? Six networks, with input and without."""

from collections.abc import Iterator, Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import change, claimed, epoch, from_storage, gain, share_cell
from suite.analysis.steps import caveat, said_of, steady, step, together, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence, of_one_machine
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.campaigns import notes
from suite.results.single.input_pipeline import input_pipeline
from suite.results.single.summary import Summary
from suite.results.single.telemetry_summary import averaged, gpu_share, gpu_telemetry_mean, telemetry_mean
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.table import ON_ONE_HOST, Cell, Table, filled, one_host_cell, rate_cells, times_cells
from suite.workload import Description

TITLE = "What does a deeper network cost when its photographs come from storage?"
TESTS = ("O18", "O19", "O20", "O21", "O22")
METHOD = (
    "Each network takes its steps from storage on, with as many workers as cores, and in another process of the same "
    "round with its batch on the device alone. Another process watches the machine meanwhile: how busy the GPU is is "
    "the share of the driver's sampling periods in which a kernel ran, not how much of it was used. The documented "
    "speeds were measured with an input of another machine, so where the input bounds both networks a change of speed "
    "says more about that machine than about the networks; the rate of the device alone is free of it."
)
WORKLOADS = (
    "catdog_cnn_base",
    "catdog_cnn_conv64",
    "catdog_cnn_dropout",
    "catdog_cnn_noaug",
    "catdog_cnn_128",
    "catdog_cnn_deep",
)

# Which network is set against which, and under which name its change of speed is documented.
_PAIRS = (
    ("catdog_cnn_conv64", "catdog_cnn_base", ""),
    ("catdog_cnn_dropout", "catdog_cnn_conv64", ""),
    ("catdog_cnn_128", "catdog_cnn_dropout", "change_from_dropout_net"),
    ("catdog_cnn_deep", "catdog_cnn_128", ""),
)
_COLUMNS = ("model", "backend", "examples/s", "95 % interval", "device alone, examples/s", "step's share", "bound by",
            ON_ONE_HOST)  # fmt: skip
_WATCHED = ("model", "backend", "GPU busy", "documented", "GPU power", "GPU temperature", "CPU busy")
_UNWATCHED = {"model", "backend", "documented"}
_SIDES = ("model", "GPU / CPU from storage", "95 % interval", "GPU / CPU alone", "95 % interval", "documented",
          "status", "hosts")  # fmt: skip

_SHARE = (
    "The step's share is of the step alone as the process from storage timed it; the rate alone is that of processes "
    "of its own where there are some."
)

Networks = dict[tuple[str, str], dict[str, Summary]]  # by workload and backend, then by scope


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return each network with its input and without, on each backend."""
    return tuple(
        case
        for about in catalogue
        if about.stored
        for backend in here.backends
        for case in (epoch(about, backend, here), step(about, backend, here))
    )


def read(records: Sequence[Record]) -> ExperimentResult | None:
    """Return what depth costs from storage on and on the device alone; None if nothing was timed from storage."""
    return of_evidence(of_one_machine(records))


def of_evidence(evidence: Evidence) -> ExperimentResult | None:
    """Return what one machine answers; GPU over CPU is pooled, what depth costs a side is of one campaign."""
    found, pooled = networks(evidence.records), _pooled(evidence.speedups)
    if not found:
        return None
    said = (_SHARE, *notes(item.record for scopes in found.values() for item in scopes.values()))
    title = "From storage, and on the device alone"
    tables = [Table(title=title, columns=_COLUMNS, rows=tuple(_rows(found)), notes=said)]
    seen = filled(Table(title="What the machine does meanwhile", columns=_WATCHED, rows=tuple(_seen(found))))
    if set(seen.columns) - _UNWATCHED:
        tables.append(seen)
    if sides := tuple(_sides(pooled)):
        tables.append(Table(title="GPU and CPU of the same kind of machine", columns=_SIDES, rows=sides))
    chart = Chart(
        caption="Examples a second of each network, from storage on and with its batch on the device alone.",
        across="examples/s, log scale",
        points=tuple(_points(found)),
    )
    answers = (*_ratios(pooled), *_changes(found), *_utilisation(found))
    return ExperimentResult(answers=answers, tables=tuple(tables), chart=chart if chart.points else None)


def networks(records: Sequence[Record]) -> Networks:
    """Return the newest campaign of each network and backend that has it from storage, in the order of depth."""
    found: Networks = {}
    for group in together(records, _fits, least=1):
        scopes = {item.record.case.scope: item for item in group}
        if "epoch" in scopes:
            found[group[0].record.workload, group[0].record.backend] = scopes
    place = {name: index for index, name in enumerate(WORKLOADS)}
    return {key: found[key] for key in sorted(found, key=lambda key: (place.get(key[0], len(place)), key))}


def _fits(record: Record) -> bool:
    # Another experiment's newer campaign of one network would take it from the others that it is set against.
    return record.experiment == "depth" and (record.headline_step() or from_storage(record))


def _rows(found: Networks) -> Iterator[tuple[Cell, ...]]:
    for (name, backend), scopes in found.items():
        pipeline, alone = input_pipeline(scopes["epoch"].record), scopes.get("step")
        yield (
            Cell(text=name),
            Cell(text=backend),
            *rate_cells(pipeline.rate, scopes["epoch"]),
            _device_alone(scopes)[0],
            share_cell(pipeline.share.value if pipeline.share else None),
            Cell(text=pipeline.bound or units.DASH),
            one_host_cell(*(item for item in (scopes["epoch"], alone) if item is not None)),
        )


def _device_alone(scopes: dict[str, Summary]) -> tuple[Cell, Cell]:
    """Return the device's own rate: of the case of its own, else as the process from storage on saw it."""
    if "step" in scopes:
        return rate_cells(scopes["step"].examples_per_second_estimate, scopes["step"])
    return rate_cells(input_pipeline(scopes["epoch"].record).device_rate, scopes["epoch"])


def _seen(found: Networks) -> Iterator[tuple[Cell, ...]]:
    for (name, backend), scopes in found.items():
        record = scopes["epoch"].record
        watts = gpu_telemetry_mean(averaged(record), lambda gpu: gpu.power_watts)
        warm = gpu_telemetry_mean(record, lambda gpu: gpu.temperature_celsius)
        claim = claimed(record.description, "gpu_utilisation") if backend == "gpu" else None
        yield (
            Cell(text=name),
            Cell(text=backend),
            share_cell(gpu_share(record)),
            share_cell(claim.gpu_value / 100 if claim and claim.gpu_value else None),
            Cell(text=units.small(watts, "W") if watts is not None else units.DASH, sort=watts),
            Cell(text=f"{units.number(warm)} °C" if warm is not None else units.DASH, sort=warm),
            share_cell(telemetry_mean(record, lambda seen: seen.cpu_utilisation)),
        )


def _pooled(speedups: Sequence[PooledSpeedUp]) -> list[tuple[PooledSpeedUp, PooledSpeedUp | None]]:
    """Return each network's speed-up from storage on and, if there is one, with its batch on the device."""
    valid = [item for item in speedups if item.record.usual() and item.state != "invalid"]
    found = {(item.workload, item.case.scope): item for item in valid}
    return [(found[name, "epoch"], found.get((name, "step"))) for name in WORKLOADS if (name, "epoch") in found]


def _sides(found: Sequence[tuple[PooledSpeedUp, PooledSpeedUp | None]]) -> Iterator[tuple[Cell, ...]]:
    for stored, step_alone in found:
        documented = _documented_ratio(stored.record.description)
        yield (
            Cell(text=stored.workload),
            *times_cells(stored.ratio.estimate, stored.record),
            *times_cells(step_alone and step_alone.ratio.estimate, step_alone and step_alone.record),
            Cell(text=units.documented(documented), sort=documented),
            Cell(text=stored.state, remark="; ".join(stored.reasons)),
            Cell(text=units.count(stored.hosts), sort=stored.hosts),
        )


def _documented_ratio(about: Description) -> float | None:
    claims = [claimed(about, metric) for metric in ("gpu_vs_bare_metal", "throughput")]
    return next((claim.speedup for claim in claims if claim is not None and claim.speedup), None)


def _ratios(found: Sequence[tuple[PooledSpeedUp, PooledSpeedUp | None]]) -> Iterator[str]:
    for stored, step_alone in found:
        documented = _documented_ratio(stored.record.description)
        beside = f"; documented from storage are {units.documented(documented)}" if documented else ""
        bare = f", and {words(step_alone.ratio.estimate)} with the batch on the device" if step_alone else ""
        ratio, counted = words(stored.ratio.estimate), [item for item in (stored, step_alone) if item]
        yield f"{stored.workload}: from storage the GPU is {ratio} as fast as the CPU{bare}{beside}.{said_of(counted)}"


def _changes(found: Networks) -> Iterator[str]:
    for name, base, metric in _PAIRS:
        for backend in ("gpu", "cpu"):
            mine, theirs = found.get((name, backend), {}), found.get((base, backend), {})
            said = [
                f"{change(value)} {where}"
                for scope, where in (("epoch", "from storage"), ("step", "with the batch on the device"))
                if scope in mine and scope in theirs and mine[scope].complete and theirs[scope].complete
                if (value := gain(mine[scope], theirs[scope])) is not None
            ]
            if said:
                claim = claimed(mine["epoch"].record.description, metric)
                documented = (claim.gpu_value if backend == "gpu" else claim.cpu_value) if claim else None
                beside = f"; documented {units.percent(documented / 100)}" if documented else ""
                yield (
                    f"From {base} to {name} the {backend.upper()}'s speed changes by {', '.join(said)}{beside}."
                    + caveat((*mine.values(), *theirs.values()))
                )


def _utilisation(found: Networks) -> Iterator[str]:
    said = []
    for (name, backend), scopes in found.items():
        record = scopes["epoch"].record
        share, claim = gpu_share(record), claimed(record.description, "gpu_utilisation")
        if backend == "gpu" and share is not None:
            beside = f" (documented {units.percent(claim.gpu_value / 100)})" if claim and claim.gpu_value else ""
            said.append(f"{units.percent(share)} for {name}{beside}")
    if said:
        yield f"From storage on the GPU is busy {', '.join(said)}."


def _points(found: Networks) -> Iterator[Point]:
    for (name, backend), scopes in found.items():
        pipeline = input_pipeline(scopes["epoch"].record)
        alone = scopes.get("step")
        rates = {"from storage": (pipeline.rate, scopes["epoch"])}
        if alone is not None:
            rates["alone"] = (alone.examples_per_second_estimate, alone)
        for way, (value, item) in rates.items():
            if value is not None:
                yield Point(
                    series=f"{backend.upper()}, {way}",
                    row=name,
                    value=value.value,
                    low=value.low,
                    high=value.high,
                    text=units.quantity(value.value, "", units.half_width(value.low, value.high)),
                    solid=steady(item),
                )

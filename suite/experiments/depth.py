"""What does a deeper network cost when its photographs come from storage? Six networks, with input and without."""

from collections.abc import Iterator, Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import change, claimed, from_storage, gpu_busy, step_share
from suite.analysis.steps import said_of, said_of_pooled, untimed, usual_case, value_point, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence, rate_over, share
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp, lacking
from suite.results.records.record import Record
from suite.results.single.input_pipeline import bound_by, input_pipeline
from suite.results.single.telemetry_summary import averaged, gpu_telemetry_mean, telemetry_mean
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.rows import number_cell, row_of, share_cell, state_cells, step_share_cell
from suite.results.views.table import HOSTS, STATUS, Cell, Table, filled, pooled_rate_cells, standing_cells, times_cells
from suite.workload import Description

TITLE = "What does a deeper network cost when its photographs come from storage?"
TESTS = ("O18", "O19", "O20", "O21", "O22")
METHOD = (
    "Each network takes steps from storage, with as many workers as cores. Another process of the same round takes "
    "steps with the batch on the device. GPU utilisation is the share of the driver's sampling periods in which a "
    "kernel ran, not how much of the GPU was used. The documented speeds had the input of another machine. If the "
    "input limits both networks, a change of speed says more about that machine than about the networks. The rate "
    "of the device alone does not depend on it."
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
            STATUS, HOSTS)  # fmt: skip
_WATCHED = ("model", "backend", "GPU busy", "documented", "GPU power", "GPU temperature", "CPU busy")
_UNWATCHED = {"model", "backend", "documented"}
_SIDES = ("model", "GPU / CPU from storage", "95 % interval", "GPU / CPU alone", "95 % interval", "documented",
          STATUS, HOSTS)  # fmt: skip

_SHARE = (
    "The step's share is of the step alone as the process from storage timed it; the rate alone is that of processes "
    "of its own where there are some."
)

Networks = dict[tuple[str, str], dict[str, Pool]]  # by workload and backend, then by scope


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return each network with its input and without, on each backend."""
    return tuple(
        case
        for about in catalogue
        if about.stored
        for backend in here.backends
        for case in (usual_case(about, backend, here, "epoch"), usual_case(about, backend, here))
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return what depth costs from storage on and on the device alone; None if nothing was timed from storage."""
    found, pooled = networks(evidence), _pooled(evidence.speedups)
    if not found:
        return None
    title = "From storage, and on the device alone"
    said = (_SHARE, *untimed(evidence, _fits, (tuple(scopes.values()) for scopes in found.values())))
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
        finding="Examples a second: up to {most}",
    )
    answers = (*_ratios(pooled), *_changes(found), *_utilisation(found))
    lead = _lead(found)
    return ExperimentResult(answers=answers, tables=tuple(tables), chart=chart if chart.points else None, lead=lead)


def _lead(timed: Networks) -> str:
    """Return the time of an example of the deepest network beside one of the first; '' if no side has both."""
    names = list(dict.fromkeys(name for name, _ in timed))
    base, deep = names[0], names[-1]
    clauses, gains = [], []
    for backend in ("gpu", "cpu"):
        sides = timed.get((base, backend), {}), timed.get((deep, backend), {})
        longer = {scope: rate_over(*(side[scope] for side in sides)) for scope in ("epoch", "step")
                  if all(scope in side for side in sides)}  # fmt: skip
        if "epoch" in longer and base != deep:
            alone = f", {words(longer['step'].estimate)} with the batch on the device" if "step" in longer else ""
            clauses.append(f"on the {backend.upper()} {words(longer['epoch'].estimate)} the time from storage{alone}")
            gains += longer.values()
    if not clauses:
        return ""
    beside = f"an example of {deep} takes, beside one of {base}"
    return f"{beside}, {'; '.join(clauses)}.{said_of_pooled(gains)}"


def networks(evidence: Evidence) -> Networks:
    """Return the pools of each network and backend that was timed from storage, in the order of depth."""
    found: Networks = {}
    for group in evidence.sides(_fits):
        scopes: dict[str, Pool] = {pool.case.scope: pool for pool in group}
        if "epoch" in scopes:
            found[group[0].case.workload, group[0].case.backend] = scopes
    return {key: found[key] for key in sorted(found, key=lambda key: (WORKLOADS.index(key[0]), key[1]))}


def _fits(record: Record) -> bool:
    return record.workload in WORKLOADS and (record.headline_step() or from_storage(record))


def _rows(found: Networks) -> Iterator[tuple[Cell, ...]]:
    for (name, backend), scopes in found.items():
        stored = scopes["epoch"]
        own = step_share(stored)
        rate, alone = pooled_rate_cells(stored), _device_alone(scopes)
        bound = bound_by(own) if own else units.DASH
        yield row_of(name, backend, *rate, alone, step_share_cell(own), bound, *standing_cells(stored.pooled))


def _device_alone(scopes: dict[str, Pool]) -> Cell:
    """Return the device's own rate: of the case of its own, else as the process from storage on saw it."""
    if "step" in scopes:
        return pooled_rate_cells(scopes["step"])[0]
    rate = share(scopes["epoch"], _device_rate)
    return Cell(text=units.quantity(rate.value, "") if rate else units.DASH, sort=rate and rate.value)


def _device_rate(record: Record) -> float | None:
    rate = input_pipeline(record).device_rate
    return rate and rate.value


def _seen(found: Networks) -> Iterator[tuple[Cell, ...]]:
    for (name, backend), scopes in found.items():
        record = scopes["epoch"].newest
        watts = gpu_telemetry_mean(averaged(record), lambda gpu: gpu.power_watts)
        warm = gpu_telemetry_mean(record, lambda gpu: gpu.temperature_celsius)
        claim = claimed(record.description, "gpu_utilisation") if backend == "gpu" else None
        busy, documented = gpu_busy(scopes["epoch"]), claim.gpu_value / 100 if claim and claim.gpu_value else None
        power = number_cell(watts, lambda value: units.small(value, "W"))
        heat = Cell(text=f"{units.number(warm)} °C" if warm is not None else units.DASH, sort=warm)
        cpu = telemetry_mean(record, lambda seen: seen.cpu_utilisation)
        yield row_of(name, backend, share_cell(busy), share_cell(documented), power, heat, share_cell(cpu))


def _pooled(speedups: Sequence[PooledSpeedUp]) -> list[tuple[PooledSpeedUp, PooledSpeedUp | None]]:
    """Return each network's speed-up from storage on and, if there is one, with its batch on the device."""
    valid = [item for item in speedups if item.record.usual() and item.state != "invalid"]
    found = {(item.workload, item.case.scope): item for item in valid}
    return [(found[name, "epoch"], found.get((name, "step"))) for name in WORKLOADS if (name, "epoch") in found]


def _sides(found: Sequence[tuple[PooledSpeedUp, PooledSpeedUp | None]]) -> Iterator[tuple[Cell, ...]]:
    for stored, step_alone in found:
        alone = times_cells(step_alone and step_alone.ratio.estimate, step_alone and step_alone.record)
        documented = number_cell(_documented_ratio(stored.record.description), units.documented)
        from_storage_cells = times_cells(stored.ratio.estimate, stored.record)
        yield row_of(stored.workload, *from_storage_cells, *alone, documented, *state_cells(stored))


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
            changes = {
                where: rate_over(mine[scope], theirs[scope])
                for scope, where in (("epoch", "from storage"), ("step", "with the batch on the device"))
                if scope in mine and scope in theirs
            }
            if changes:
                claim = claimed(mine["epoch"].newest.description, metric)
                documented = (claim.gpu_value if backend == "gpu" else claim.cpu_value) if claim else None
                beside = f"; documented {units.percent(documented / 100)}" if documented else ""
                said = ", ".join(f"{change(value.estimate)} {where}" for where, value in changes.items())
                yield (
                    f"From {base} to {name} the {backend.upper()}'s speed changes by {said}{beside}."
                    + said_of_pooled(changes.values())
                )


def _utilisation(found: Networks) -> Iterator[str]:
    said = []
    for (name, backend), scopes in found.items():
        busy, claim = gpu_busy(scopes["epoch"]), claimed(scopes["epoch"].newest.description, "gpu_utilisation")
        if backend == "gpu" and busy is not None:
            beside = f" (documented {units.percent(claim.gpu_value / 100)})" if claim and claim.gpu_value else ""
            said.append(f"{units.percent(busy.value)} for {name}{beside}")
    if said:
        yield f"From storage on the GPU is busy {', '.join(said)}."


def _points(found: Networks) -> Iterator[Point]:
    for (name, backend), scopes in found.items():
        for scope, way in (("epoch", "from storage"), ("step", "alone")):
            if pool := scopes.get(scope):
                rate = pool.seconds.per(pool.case.batch)
                text = units.quantity(rate.value, "", units.half_width(rate.low, rate.high))
                solid = not any(lacking(pool.pooled))
                yield value_point(backend.upper(), rate, text, solid, row=f"{name}, {way}")

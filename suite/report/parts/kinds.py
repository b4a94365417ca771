"""Every kind of GPU against every kind of CPU, as sentences, a chart and tables."""

from collections.abc import Sequence

from suite import units
from suite.report.parts import lead
from suite.results.pooled.kinds import Pair
from suite.results.records.machine import Machine
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import status
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import HOSTS, INTERVAL, STATUS, Cell, Table, times_cells

COLUMNS = (
    "CPU", "GPU", "CPU time / GPU time", INTERVAL, STATUS, "models", HOSTS, "machines", "JAX, CPU side",
    "JAX, GPU side",
)  # fmt: skip
MODEL_COLUMNS = ("model", *(column for column in COLUMNS if column != "models"))


def finding(pairs: Sequence[Pair]) -> str:
    """Return the least and the most by which the GPU with most models is faster, and than which CPU; '' of no pair.

    All are over the same models.
    """
    if not pairs:
        return ""
    models = pairs[0].by_workload.keys()
    same = [pair for pair in pairs if pair.other is pairs[0].other and pair.by_workload.keys() == models]
    low, high = (choose(same, key=lambda pair: pair.mean.value) for choose in (min, max))
    card = gpu_name(pairs[0])
    sides = [
        f"{_mean_words(pair.mean)} as fast as on {_place(pair)}" for pair in ((low,) if low is high else (low, high))
    ]
    return f"A step on one {card} is {', and '.join(sides)}."


def beside(pair: Pair | None) -> str:
    """Return how fast a GPU's host is beside a CPU with fewer cores; '' without such a pair."""
    if pair is None:
        return ""
    few, jax = pair.other.machine, pair.versions()
    versions = f" JAX {jax[0]} is compared with {jax[1]}." if jax[0] != jax[1] else ""
    models = units.pluralize(len(pair.by_workload), "model")
    speed = ratio_words(pair.mean.per(1))
    return f"{cores_of(pair.cpu.machine, 'The')} are {speed} as fast as {cores_of(few)}, over {models}.{versions}"


def chart(pairs: Sequence[Pair]) -> Chart:
    """Return the means, a row for each CPU and a series for each GPU; the slowest CPU first."""
    order = sorted(pairs, key=lambda pair: -pair.mean.value)
    rows = {cpu_name(pair): None for pair in order}
    points = (_point(pair) for name in rows for pair in pairs if cpu_name(pair) == name)
    return Chart(
        caption="Geometric mean over models of the CPU's time of a step over the GPU's, in float32. Most pairs are of "
        "two machines.",
        across="CPU time / GPU time, log scale",
        points=tuple(points),
        level=1.0,
        finding="A step is {span} as fast on a GPU",
    )


def _point(pair: Pair) -> Point:
    mean = pair.mean
    return Point(
        series=gpu_name(pair),
        row=cpu_name(pair),
        value=mean.value,
        low=mean.low,
        high=mean.high,
        text=lead.short(mean.value),
        solid=pair.standing()[0] == "quotable",
    )


def table(pairs: Sequence[Pair]) -> Table:
    """Return the mean of each pair."""
    return Table(
        title="One step of the GPU against one of the CPU, in float32: geometric means over models",
        columns=COLUMNS,
        rows=tuple(_row(pair, pair.mean, "", count_cell(len(pair.by_workload))) for pair in pairs),
    )


def models(pairs: Sequence[Pair]) -> Table:
    """Return the ratio of each model in each pair, to filter by CPU and GPU; the first pair's are shown first."""
    rows, facets = [], []
    for pair in pairs:
        for name, value in pair.by_workload.items():
            title = pair.other.steps[name].newest.description.title
            rows.append(row_of(title, *_row(pair, value, name)))
            facets.append({"cpu": cpu_name(pair), "gpu": gpu_name(pair)})
    return Table(
        title="One step of the GPU against one of the CPU, in float32, by model",
        columns=MODEL_COLUMNS,
        rows=tuple(rows),
        facets=tuple(facets),
        chosen=facets[0] if facets else {},
    )


def _row(pair: Pair, value: Pooled, workload: str, *number: Cell) -> tuple[Cell, ...]:
    state, reasons = pair.standing(workload)
    slow = pair.cpu.slow.get(workload, "")
    word = status(state, outdated=value.outdated, slow_cpu=bool(slow))
    ratio = times_cells(value.estimate) if workload else _mean_cells(value)
    cells = (cpu_name(pair), gpu_name(pair), *ratio, Cell(text=word, remark="; ".join(filter(None, [*reasons, slow]))))
    hosts, machines = count_cell(value.hosts), "one" if pair.one_machine else "two"
    versions = (jax or units.DASH for jax in pair.versions(*filter(None, [workload])))
    return row_of(*cells, *number, hosts, machines, *versions)


def gpu_name(pair: Pair) -> str:
    """Return the card's name, with its slice if it is one."""
    card = pair.other.machine.gpus[0]
    return f"{card.name} {card.slice}".strip()


def cpu_name(pair: Pair) -> str:
    """Return the CPU's name, with its generation if that is known, and its cores."""
    machine = pair.cpu.machine
    return f"{machine.processor}, {units.pluralize(machine.cores, 'core')}"


def cores_of(machine: Machine, the: str = "the") -> str:
    """Return a CPU in a sentence: by the card beside it if there is one, else by its model."""
    cores = units.pluralize(machine.cores, "virtual core" if machine.virtual else "core")
    if machine.gpus:
        return f"{the} {machine.gpus[0].name.removeprefix('NVIDIA ')}'s own {cores}"
    return f"{cores} of {machine.processor}"


def _place(pair: Pair) -> str:
    return cores_of(pair.cpu.machine) + ("" if pair.one_machine else " in another machine")


def _mean_words(mean: Pooled) -> str:
    """Return a mean over models with its interval, if it has one, rounded as on the home page."""
    value, within = (cell.text for cell in _mean_cells(mean))
    return value if within == units.DASH else f"{value} ({within})"


def _mean_cells(mean: Pooled) -> tuple[Cell, Cell]:
    ends = (units.number(end, digits=2) for end in (mean.low, mean.high) if end is not None)
    return Cell(text=lead.short(mean.value), sort=mean.value), Cell(text=" to ".join(ends) or units.DASH)


def ratio_words(mean: Pooled | Estimate) -> str:
    """Return a ratio with its interval, if it has one."""
    within = _interval(mean)
    return units.ratio(mean.value, mean.low, mean.high) + (f" ({within})" if within else "")


def _interval(mean: Pooled | Estimate) -> str:
    return "" if mean.low is None else units.interval(mean.low, mean.high)

"""Models and machines on one screen: a value in each cell, shaded by its logarithm; grey if there is none, with why."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean

from suite import units
from suite.report.parts.facts import Facts
from suite.results.pooled.kinds import headline_steps
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp, lacking, state_of
from suite.results.records.record import Record

SHADES = 7
_Place = tuple[str, str]  # a workload, and a machine by its name in addresses


@dataclass(frozen=True, kw_only=True)
class Square:
    """One cell: its text, its shade from 0 to SHADES - 1, None without a value; and what to know."""

    text: str
    shade: int | None = None
    remark: str = ""
    sort: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A row for each model, a column for each machine."""

    title: str
    note: str
    machines: Mapping[str, str] = field(default_factory=dict)  # names by those in addresses
    models: Mapping[str, str] = field(default_factory=dict)  # titles by name
    rows: Sequence[Sequence[Square]] = ()


@dataclass(frozen=True, kw_only=True)
class _Value:
    value: float
    text: str
    remark: str


def matrices(facts: Facts) -> Sequence[Matrix]:
    """Return the matrices of speed-ups and of the CPU's step times, without those that have no value."""
    headline = [record for record in facts.measured if record.headline_step()]
    speedups = {(item.workload, item.machine): _speedup(item) for item in facts.speedups if item.headline}
    steps = headline_steps(facts.current, "cpu")
    times = {(model, machine): _time(pool) for machine, pools in steps.items() for model, pool in pools.items()}
    drawn = (
        _matrix(
            "How much faster is the GPU? One step in steady state",
            "Darker: the GPU gains more.",
            speedups,
            [record for record in headline if record.machine.gpus],
        ),
        _matrix(
            "One step on the CPU",
            "Darker: the step takes longer.",
            times,
            [record for record in headline if record.backend == "cpu"],
        ),
    )
    return [matrix for matrix in drawn if matrix.rows]


def _speedup(item: PooledSpeedUp) -> _Value:
    return _Value(
        value=item.ratio.value,
        text=marked(units.ratio(item.ratio.value, item.ratio.low, item.ratio.high), item.quotable),
        remark="; ".join(item.reasons[:1]),
    )


def _time(pool: Pool) -> _Value:
    lacks = tuple(lacking(pool.pooled, pool.records))
    half_width = units.half_width(pool.pooled.low, pool.pooled.high)
    return _Value(
        value=pool.pooled.value,
        text=marked(units.seconds(pool.pooled.value, half_width), state_of(lacks) == "quotable"),
        remark="; ".join(lacks[:1]),
    )


def marked(text: str, quotable: bool) -> str:
    """Return a value as text, in brackets if it may not be quoted."""
    return text if quotable else f"({text})"


def _matrix(title: str, darker: str, values: Mapping[_Place, _Value], records: Iterable[Record]) -> Matrix:
    """Return the matrix of these values, with a row and a column for each model and machine of the records.

    The model of the largest values and the machine of most values come first.
    """
    if not values:
        return Matrix(title=title, note="")
    models, machines, failures = {}, {}, dict[_Place, str]()
    for record in sorted(records, key=lambda record: record.created):
        models[record.workload] = record.description.title
        machines[record.machine.slug] = record.machine.name
        if words := _failure(record):
            failures[record.workload, record.machine.slug] = words
    known = {model: [one.value for (of, _), one in values.items() if of == model] for model in models}
    rows = sorted(models, key=lambda model: -geometric_mean(known[model]) if known[model] else 0.0)
    timed = Counter(machine for _, machine in values)
    columns = sorted(machines, key=lambda machine: (-timed[machine], machine))
    low, high = (end(math.log(one.value) for one in values.values()) for end in (min, max))
    ends = [min(values.values(), key=lambda one: one.value), max(values.values(), key=lambda one: one.value)]
    return Matrix(
        title=title,
        note=f"{darker} From {ends[0].text.strip('()')} to {ends[1].text.strip('()')}, on a logarithmic scale. In "
        "brackets: not to be quoted yet. Grey: no value, since it failed, was disturbed or was not measured.",
        machines={machine: machines[machine] for machine in columns},
        models={model: models[model] for model in rows},
        rows=[[_square((model, machine), values, failures, low, high) for machine in columns] for model in rows],
    )


def _square(
    place: _Place, values: Mapping[_Place, _Value], failures: Mapping[_Place, str], low: float, high: float
) -> Square:
    if place not in values:
        failed = failures.get(place, "")
        return Square(text="failed" if failed else units.DASH, remark=failed or "not measured")
    one = values[place]
    share = (math.log(one.value) - low) / (high - low) if high > low else 0.0
    return Square(text=one.text, shade=min(int(share * SHADES), SHADES - 1), remark=one.remark, sort=one.value)


def _failure(record: Record) -> str:
    """Return why a record has no time; '' if it has one."""
    reasons = [run.reason for run in record.runs if run.reason]
    return "" if len(reasons) < len(record.runs) else record.reason or next(iter(reasons), "")

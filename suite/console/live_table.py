"""The live table of a running campaign: each workload's times, speed-up and interval so far."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from rich import box
from rich.markup import escape
from rich.table import Table

from suite import units
from suite.case import Backend, Case
from suite.results.records.record import Record
from suite.results.single.paired_speedup import speedups
from suite.results.single.selection import fastest_of_each_case
from suite.results.single.summary import summary
from suite.results.stats.statistics import Estimate
from suite.scopes import SCOPES, Scope


@dataclass(frozen=True, kw_only=True)
class Row:
    """A workload's results so far; None if not yet measured."""

    workload: str
    cpu: Estimate | None
    gpu: Estimate | None
    ratio: Estimate | None
    rounds: int


def rows(names: Sequence[str], records: Sequence[Record]) -> tuple[Row, ...]:
    """Return a row for each named workload, from the records of one scope."""
    of_jax = [record for record in records if record.case.implementation == "jax"]
    ratios = {item.gpu.record.workload: item.ratio for item in reversed(speedups(of_jax))}

    def time(name: str, backend: Backend) -> Estimate | None:
        own_records = [record for record in of_jax if (record.workload, record.backend) == (name, backend)]
        return next((item.seconds for item in fastest_of_each_case(map(summary, own_records))), None)

    def rounds(name: str) -> int:
        return max((len(record.runs) for record in of_jax if record.workload == name), default=0)

    return tuple(
        Row(workload=name, cpu=time(name, "cpu"), gpu=time(name, "gpu"), ratio=ratios.get(name), rounds=rounds(name))
        for name in names
    )


def shown_scope(cases: Iterable[Case]) -> Scope:
    """Return the scope that the table shows: the steady step if the plan has it."""
    scopes = {case.scope for case in cases}
    return next(each for each in SCOPES if each in scopes)


def table(cases: Sequence[Case], records: Iterable[Record], current: str = "") -> Table:
    """Return the terminal's table of a plan's cases; `current` is the workload being measured."""
    scope = shown_scope(cases)
    backends: list[Backend] = [each for each in get_args(Backend) if any(case.backend == each for case in cases)]
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    ratio = ["speed-up"] * (len(backends) > 1)
    shown.add_column("model", no_wrap=True)
    times = [f"{backend.upper()} {SCOPES[scope].heading}" for backend in backends]
    for name in (*times, *ratio, "95 % interval", "rounds"):
        shown.add_column(name, justify="right", no_wrap=True)
    names = tuple(dict.fromkeys(case.workload for case in cases))
    for row in rows(names, [record for record in records if record.case.scope == scope]):
        times_by_backend = [row.cpu if backend == "cpu" else row.gpu for backend in backends]
        cells = [*map(_seconds, times_by_backend), *[_ratio(row.ratio)] * len(ratio)]
        cells.append(_ends(row.ratio, units.interval) if ratio else _ends(times_by_backend[0], units.seconds_interval))
        name = escape(row.workload)
        shown.add_row(f"[bold]{name}[/]" if row.workload == current else name, *cells, str(row.rounds))
    return shown


def _seconds(value: Estimate | None) -> str:
    return units.seconds(value.value, units.half_width(value.low, value.high)) if value else units.DASH


def _ends(value: Estimate | None, text: Callable[[float | None, float | None], str]) -> str:
    return text(value.low, value.high) if value else units.DASH


def _ratio(value: Estimate | None) -> str:
    return units.ratio(value.value, value.low, value.high) if value else units.DASH

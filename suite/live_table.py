"""What a running campaign has found so far: a row a workload, its times and its speed-up as the interval narrows."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.markup import escape
from rich.table import Table

from suite import units
from suite.measure.campaign import records
from suite.results.journal import Done, Header
from suite.results.selection import fastest
from suite.results.speedup import speedups
from suite.results.statistics import Estimate
from suite.results.summary import summary
from suite.workload import Backend, Scope

_NAMES: dict[Scope, str] = {
    "step": "step", "transfer": "step, copied", "epoch": "step, from storage", "input": "batch, from storage",
    "cold": "cold start", "run": "whole run", "calls": "later call", "serve": "between answers", "learning": "training",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is known of a workload; None is not known yet."""

    workload: str
    cpu: Estimate | None
    gpu: Estimate | None
    ratio: Estimate | None
    rounds: int


def rows(header: Header, done: Sequence[Done]) -> tuple[Scope, tuple[Row, ...]]:
    """Return the scope that the rows show, the steady step if the plan has one, and a row for each workload."""
    scopes = {case.scope for case in header.cases}
    scope: Scope = next(each for each in _NAMES if each in scopes)
    found = [r for r in records(header, done) if r.case.scope == scope and r.case.implementation == "jax"]
    ratios = {item.gpu.record.workload: item.ratio for item in reversed(speedups(found))}

    def time(name: str, backend: Backend) -> Estimate | None:
        mine = [record for record in found if (record.workload, record.backend) == (name, backend)]
        return next((item.seconds for item in fastest(map(summary, mine))), None)

    def rounds(name: str) -> int:
        return max((len(record.runs) for record in found if record.workload == name), default=0)

    return scope, tuple(
        Row(
            workload=about.name,
            cpu=time(about.name, "cpu"),
            gpu=time(about.name, "gpu"),
            ratio=ratios.get(about.name),
            rounds=rounds(about.name),
        )
        for about in header.descriptions
    )


def table(header: Header, done: Sequence[Done], current: str = "") -> Table:
    """Return the rows as the terminal shows them; `current` is the workload that is measured now."""
    scope, found = rows(header, done)
    backends = [backend for backend in ("cpu", "gpu") if any(case.backend == backend for case in header.cases)]
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    shown.add_column("model", no_wrap=True)
    for backend in backends:
        shown.add_column(f"{backend.upper()} {_NAMES[scope]}", justify="right", no_wrap=True)
    if len(backends) > 1:
        shown.add_column("speed-up", justify="right", no_wrap=True)
    shown.add_column("95 % interval", justify="right", no_wrap=True)
    shown.add_column("rounds", justify="right", no_wrap=True)
    for row in found:
        times = [row.cpu if backend == "cpu" else row.gpu for backend in backends]
        cells = [_seconds(each) for each in times]
        if len(backends) > 1:
            cells.append(_ratio(row.ratio))
            interval = units.interval(row.ratio.low, row.ratio.high) if row.ratio else units.DASH
        else:
            interval = units.seconds_interval(times[0].low, times[0].high) if times[0] else units.DASH
        name = escape(row.workload)
        shown.add_row(f"[bold]{name}[/]" if row.workload == current else name, *cells, interval, str(row.rounds))
    return shown


def _seconds(value: Estimate | None) -> str:
    return units.seconds(value.value, units.half_width(value.low, value.high)) if value else units.DASH


def _ratio(value: Estimate | None) -> str:
    return units.times(value.value, value.low, value.high) if value else units.DASH

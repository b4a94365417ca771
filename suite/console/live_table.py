"""The live table of a running campaign: each workload's times, speed-up and interval so far.

README's first screen shows that of a stored campaign after some minutes, between marks:

<!-- terminal MINUTES -->
...
<!-- /terminal -->
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import get_args

import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from suite import units
from suite.case import Backend, Case
from suite.results.records import store
from suite.results.records.record import Record
from suite.results.records.run import Run
from suite.results.single.selection import fastest_of_each_case
from suite.results.single.speedup import speedups
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


FOLDER = Path("evidence/first_run")  # below the site's sources: one campaign's records
_BLOCK = re.compile(r"<!-- terminal (?P<minutes>\d+) -->\n.*?<!-- /terminal -->", re.DOTALL)
_WIDTH = 78


def renewed(text: str, site: Path) -> str:
    """Return the text with its blocks rendered from the stored campaign; unchanged if none is stored.

    Raises ValueError for an unreadable record.
    """
    records = [store.read(path) for path in sorted((site / FOLDER).glob("*.json"))]
    if not records:
        return text

    def block(mark: re.Match[str]) -> str:
        minutes = int(mark["minutes"])
        lines = f"```text\n{shown(records, minutes)}\n```"
        return f"<!-- terminal {minutes} -->\n{lines}\n<!-- /terminal -->"

    return _BLOCK.sub(block, text)


def renew(page: Path, site: Path) -> bool:
    """Update the blocks of a page; return whether it changed. Raises ValueError as `renewed` does."""
    before = page.read_text(encoding="utf-8")
    after = renewed(before, site)
    if after != before:
        page.write_text(after, encoding="utf-8")
    return after != before


def shown(records: Sequence[Record], minutes: float) -> str:
    """Return the table of the processes that had ended `minutes` after the campaign began."""
    until = datetime.fromisoformat(records[0].created) + timedelta(minutes=minutes)
    speedups = [
        msgspec.structs.replace(record, runs=runs, rounds=len(runs))
        for record in records
        if (runs := tuple(run for run in record.runs if _ended(run) <= until))
    ]
    out = StringIO()
    Console(file=out, width=_WIDTH, color_system=None).print(table([record.case for record in records], speedups))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


def _ended(run: Run) -> datetime:
    """Return when a process ended: its start plus all its stages."""
    seconds = sum(stage.wall_seconds for stage in run.stages)
    return datetime.fromisoformat(run.started) + timedelta(seconds=seconds)

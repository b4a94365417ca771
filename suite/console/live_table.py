"""The live table of a running campaign: each workload's times, speed-up and interval so far.

README's first screen shows that of a stored campaign after some minutes, between marks:

<!-- terminal MINUTES -->
...
<!-- /terminal -->
"""

import re
from collections.abc import Callable, Iterable, Sequence
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
from suite.results.single.paired_speedup import speedups
from suite.results.single.selection import fastest_of_each_case
from suite.results.single.summary import summary
from suite.results.stats.statistics import Estimate
from suite.scopes import SCOPES, Scope

PACK = Path("evidence/first_run.zip")  # below the site's sources: one campaign's records
_BLOCK = re.compile(r"<!-- terminal (?P<minutes>\d+) -->\n.*?<!-- /terminal -->", re.DOTALL)
_WIDTH = 78


def table(cases: Sequence[Case], records: Iterable[Record], current: str = "") -> Table:
    """Return the terminal's table of a plan's cases; `current` is the workload being measured."""
    scopes: set[Scope] = {case.scope for case in cases}
    scope: Scope = next(each for each in SCOPES if each in scopes)  # the steady step if the plan has it
    backends: list[Backend] = [each for each in get_args(Backend) if any(case.backend == each for case in cases)]
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    ratio = ["speed-up"] * (len(backends) > 1)
    shown.add_column("model", no_wrap=True)
    times = [f"{backend.upper()} {SCOPES[scope].heading}" for backend in backends]
    for name in (*times, *ratio, "95 % interval", "rounds"):
        shown.add_column(name, justify="right", no_wrap=True)
    of_jax = [each for each in records if (each.case.scope, each.case.implementation) == (scope, "jax")]
    ratios = {item.gpu.record.workload: item.ratio for item in reversed(speedups(of_jax))}
    for workload in dict.fromkeys(case.workload for case in cases):
        own = [record for record in of_jax if record.workload == workload]
        fastest = [_fastest([record for record in own if record.backend == backend]) for backend in backends]
        value = ratios.get(workload)
        cells = [*map(_seconds, fastest), *[_ratio(value)] * len(ratio)]
        cells.append(_ends(value, units.interval) if ratio else _ends(fastest[0], units.seconds_interval))
        name = f"[bold]{escape(workload)}[/]" if workload == current else escape(workload)
        shown.add_row(name, *cells, str(max((len(record.runs) for record in own), default=0)))
    return shown


def _fastest(records: Sequence[Record]) -> Estimate | None:
    return next((item.seconds for item in fastest_of_each_case(map(summary, records))), None)


def _seconds(value: Estimate | None) -> str:
    return units.seconds(value.value, units.half_width(value.low, value.high)) if value else units.DASH


def _ends(value: Estimate | None, text: Callable[[float | None, float | None], str]) -> str:
    return text(value.low, value.high) if value else units.DASH


def _ratio(value: Estimate | None) -> str:
    return units.ratio(value.value, value.low, value.high) if value else units.DASH


def renewed(text: str, site: Path) -> str:
    """Return the text with its blocks rendered from the stored campaign; unchanged if none is stored.

    Raises ValueError for an unreadable record.
    """
    records = [store.read(path) for path in store.of(site / PACK)]
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

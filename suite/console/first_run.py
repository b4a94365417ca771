"""README's first screen: the terminal's table of a stored campaign after some minutes, between marks.

<!-- terminal MINUTES -->
...
<!-- /terminal -->
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path

import msgspec
from rich.console import Console

from suite.console.live_table import table
from suite.results.records import store
from suite.results.records.record import Record
from suite.results.records.run import Run

PACK = Path("evidence/first_run.zip")  # below the site's sources: one campaign's records
_BLOCK = re.compile(r"<!-- terminal (?P<minutes>\d+) -->\n.*?<!-- /terminal -->", re.DOTALL)
_WIDTH = 78


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

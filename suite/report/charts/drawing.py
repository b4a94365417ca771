"""Files made from Vega-Lite specifications: tables of their numbers, and pictures, drawn on several cores.

As a program it takes a JSON list on standard input: one process renders its pictures one at a time.
"""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import vl_convert

from suite.child_imports import child_imports

CHARTS = ("layer", "concat", "vconcat", "hconcat")  # where a specification has further ones
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would compute these instead of showing them
_BOM = "\ufeff"
_FEWEST_FIELDS = 2  # of a row; a single field is a line of the chart, not a number


def csv_table(specification: dict[str, Any]) -> str:
    """Return each row that a specification draws, once, as comma-separated values; columns as they first appear.

    A byte order mark comes first if a character such as '°' is not ASCII: spreadsheets would show 'Â°'.
    """
    rows = [row for row in _rows(specification) if len(row) >= _FEWEST_FIELDS]
    distinct = {json.dumps(row, sort_keys=True): row for row in rows}.values()
    columns = dict.fromkeys(name for row in distinct for name in row)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in distinct)
    return out.getvalue() if out.getvalue().isascii() else f"{_BOM}{out.getvalue()}"


def _rows(specification: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stored = specification.get("datasets", {})
    for data in data_of(specification, decoration=False):
        yield from stored[data["name"]] if "name" in data else data.get("values", ())


def data_of(part: Any, decoration: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the data of each layer; without `decoration` not those of marks that repeat what others show."""
    if isinstance(part, list):
        for each in part:
            yield from data_of(each, decoration)
    elif isinstance(part, dict):
        if part.get("data") and (decoration or not _is_decoration(part.get("mark"))):
            yield part["data"]
        for name in CHARTS:
            yield from data_of(part.get(name, []), decoration)


def _is_decoration(mark: Any) -> bool:
    """Return whether a mark repeats what others show, such as a name beside a point."""
    return isinstance(mark, dict) and mark.get("aria") is False


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


_FEWEST_PICTURES, _MOST_PROCESSES = 20, 8  # pictures per process, which takes half a second to start; processes


def drawn(specifications: Sequence[str]) -> list[str]:
    """Return the picture of each specification.

    Raises RuntimeError if a rendering process fails.
    """
    processes = min(_cores(), _MOST_PROCESSES, len(specifications) // _FEWEST_PICTURES)
    if processes < 2:
        return _drawn_here(specifications)
    pictures = [""] * len(specifications)
    with ThreadPoolExecutor(processes) as pool:
        shares = [specifications[place::processes] for place in range(processes)]
        for place, share in enumerate(pool.map(_drawn_elsewhere, shares)):
            pictures[place::processes] = share
    return pictures


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS


def _drawn_here(specifications: Sequence[str]) -> list[str]:
    return list(map(vl_convert.vegalite_to_svg, specifications))


def _drawn_elsewhere(specifications: Sequence[str]) -> list[str]:
    command = [sys.executable, "-m", "suite.report.charts.drawing"]
    asked = json.dumps(specifications)
    answer = subprocess.run(
        command,
        input=asked,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **child_imports()},
        check=False,
    )
    if answer.returncode:
        words = (answer.stderr.strip().splitlines() or ["no word"])[-1]
        raise RuntimeError(f"{len(specifications)} charts were not drawn: {words}")
    return json.loads(answer.stdout)


if __name__ == "__main__":
    json.dump(_drawn_here(json.load(sys.stdin)), sys.stdout)

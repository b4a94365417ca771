"""A chart's numbers as comma-separated values."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would compute these instead of showing them
_FEWEST = 2  # fields of a row; a single field is a line of the chart, not a number


def table(specification: dict[str, Any]) -> str:
    """Return each row that a Vega-Lite specification draws, once, with columns in the order of appearance."""
    rows = [row for row in _rows(specification) if len(row) >= _FEWEST]
    distinct = {json.dumps(row, sort_keys=True): row for row in rows}.values()
    columns = dict.fromkeys(name for row in distinct for name in row)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in distinct)
    return out.getvalue()


def _rows(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, list):
        for each in part:
            yield from _rows(each)
    elif isinstance(part, dict):
        yield from part.get("data", {}).get("values", ())
        for name in ("layer", "vconcat", "hconcat"):
            yield from _rows(part.get(name, []))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value

"""Every current number in two files for programs: an index in JSON and a table in CSV."""

import msgspec

from suite.report.charts.drawing import csv_table
from suite.report.parts.facts import Facts
from suite.results.views import number_index

JSON, CSV = "numbers/index.json", "numbers/results.csv"


def files(facts: Facts) -> dict[str, str]:
    """Return the index and the table, with addresses of the published site if they are known."""
    index = number_index.indexed(facts.citations, facts.site)
    table = csv_table({"data": {"values": list(number_index.rows(index))}})  # safe from formulas, as of charts
    return {JSON: msgspec.json.encode(index).decode().replace('},{"key"', '},\n{"key"') + "\n", CSV: table}

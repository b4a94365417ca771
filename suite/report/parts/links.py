"""Addresses of the pages that names in tables link."""

from collections.abc import Iterable

from suite.report.parts.html import Html, address
from suite.results.records.record import Record
from suite.results.single.roofline import is_ceiling


def links(records: Iterable[Record], up: str) -> dict[str, Html]:
    """Return the addresses by name."""
    found = {r.workload: address(f"{up}workloads/{r.workload}.html") for r in records if not is_ceiling(r)}
    return found | {r.machine.name: address(f"{up}machines/{r.machine.slug}.html") for r in records}

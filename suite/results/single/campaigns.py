"""Notes for tables whose rows come from several campaigns."""

from collections.abc import Iterable

from suite import units
from suite.results.records.record import Record


def several(records: Iterable[Record]) -> str:
    """Return the span of several campaigns, such as 'of 3 campaigns, 2026-11-21 to 2026-11-27'; '' for one."""
    began = {record.campaign: units.day(record.created) for record in records}
    if len(began) < 2:
        return ""
    days = " to ".join(dict.fromkeys((min(began.values()), max(began.values()))))
    return f"of {units.count(len(began))} campaigns, {days}"


def notes(records: Iterable[Record]) -> tuple[str, ...]:
    """Return a note for a table whose rows are of several campaigns; () for one campaign."""
    span = several(records)
    return (f"The rows are {span}: a ratio is of one, but from row to row the host may be another.",) if span else ()

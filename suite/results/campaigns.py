"""Of which campaigns results are that stand beside each other: between two the host and the suite may be others."""

from collections.abc import Iterable

from suite import units
from suite.results.record import Record


def day(record: Record) -> str:
    """Return the day on which a record's campaign began, 'YYYY-MM-DD', UTC."""
    return record.created[:10]


def minute(record: Record) -> str:
    """Return the minute in which it began, 'YYYY-MM-DD hh:mm', UTC: what tells it from others."""
    return record.created[:16].replace("T", " ")


def several(records: Iterable[Record]) -> str:
    """Return such as 'of 3 campaigns, 2026-11-21 to 2026-11-27'; '' if all are of one."""
    began = {record.campaign: day(record) for record in records}
    if len(began) < 2:
        return ""
    days = " to ".join(dict.fromkeys((min(began.values()), max(began.values()))))
    return f"of {units.count(len(began))} campaigns, {days}"


def notes(records: Iterable[Record]) -> tuple[str, ...]:
    """Return a table's note that its rows are of several campaigns; none if all are of one."""
    span = several(records)
    return (f"The rows are {span}: a ratio is of one, but from row to row the host may be another.",) if span else ()

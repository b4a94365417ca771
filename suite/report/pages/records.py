"""The page of records: the packs of all published campaigns; a script shows the record that the address names."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.report.parts.facts import Facts
from suite.results.records import packs
from suite.results.records.record import RECORDS_PAGE, Record

PATH = RECORDS_PAGE.replace(".html", ".md")


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A published campaign: its pack, and what it holds."""

    name: str
    pack: str
    machine: str
    day: str
    records: int


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: facts.page(PATH, campaigns=campaigns(facts.published))}


def campaigns(published: Sequence[Record]) -> Sequence[Campaign]:
    """Return the campaigns of these records, the newest first."""
    records_of: dict[str, list[Record]] = defaultdict(list)
    for record in published:
        records_of[record.campaign].append(record)
    return [
        Campaign(
            name=name,
            pack=f"records/{name}{packs.SUFFIX}",
            machine=records[-1].machine.name,
            day=units.day(max(record.created for record in records)),
            records=len(records),
        )
        for name, records in sorted(records_of.items(), reverse=True)
    ]

"""Select records: by machine, the current ones, or by a word of the command line."""

import os
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from suite import units
from suite.results.records import packs, store
from suite.results.records.record import Record
from suite.results.single.summary import Summary, fastest, summary


def by_machine(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records of each machine by its name in addresses: with a GPU first, then by number of records."""
    machines: dict[str, list[Record]] = {}
    for record in records:
        machines.setdefault(record.machine.slug, []).append(record)
    order = sorted(
        machines, key=lambda slug: (not any(r.backend == "gpu" for r in machines[slug]), -len(machines[slug]), slug)
    )
    return {slug: machines[slug] for slug in order}


def current_cases(records: Iterable[Record]) -> list[Summary]:
    """Return the current summary of each case and machine."""
    latest = {r.machine_and_case: r for r in sorted(records, key=lambda r: r.current_key)}
    return [summary(latest[key]) for key in sorted(latest, key=lambda key: (key[1], key[0]))]


def campaign_sort_key(records: Iterable[Record]) -> tuple[bool, bool, bool, str]:
    """Return the sort key of a campaign with these records; one partial record makes it partial."""
    return min(record.sort_key for record in records)


def ignoring_allocator(record: Record) -> tuple[str, str]:
    """Return a record's machine and case, ignoring the allocator."""
    return msgspec.structs.replace(record, case=record.case.ignoring_allocator).machine_and_case


def fastest_of_each_case(items: Iterable[Summary]) -> list[Summary]:
    """Return each case's current summary with the faster allocator, in the order of first appearance."""
    cases: dict[tuple[str, str], list[Summary]] = {}
    for item in items:
        cases.setdefault(ignoring_allocator(item.record), []).append(item)
    fastest_items = []
    for same in cases.values():
        latest = max(same, key=lambda item: item.record.current_key).record.campaign
        candidates = [item for item in same if item.record.campaign == latest]
        fastest_items.append(fastest(candidates) or candidates[0])
    return fastest_items


def selected(word: str, records: Sequence[Record]) -> tuple[Record, ...]:
    """Return the records of a file, pack or folder, or those of these records that a word selects.

    A word is the name of a campaign or machine, or 'package==version'.

    Raises LookupError if nothing is selected or the folder has no record, ValueError if a file is no record.
    """
    path = Path(word)
    if packs.is_pack(path):
        return tuple(map(store.read, store.of(path)))
    if path.is_file() or packs.around(path):
        return (store.read(path),)
    if path.is_dir():
        if not os.access(path, os.R_OK | os.X_OK):
            raise ValueError(f"folder '{word}' is not readable")
        if (paths := store.of(path)) and not any(store.paths([path])):
            return tuple(map(store.read, paths))
        below, problems = store.load([path])
        if problems:
            raise ValueError(problems[0])
        if not below:
            raise LookupError(
                f"folder '{word}' holds no record; name a campaign's, which has a JSON file for each case"
            )
        return below
    package, _, version = word.partition("==")
    chosen = tuple(
        record
        for record in records
        if word in (record.campaign, record.machine.slug, record.machine.name)
        or (version and record.software.packages.get(package) == version)
    )
    if not chosen:
        raise LookupError(f"no record matches '{word}'{_near(word, records)}")
    return chosen


def _near(word: str, records: Sequence[Record]) -> str:
    packages = {f"{name}=={version}" for record in records for name, version in record.software.packages.items()}
    machines = sorted({r.machine.slug for r in records})
    words = {*(r.campaign for r in records), *machines, *packages}
    close = get_close_matches(word, sorted(words), n=3, cutoff=0.5)
    close = close or [slug for slug in machines if word.lower() in slug]
    if close:
        return f"; did you mean {' or '.join(repr(each) for each in close)}?"
    if machines:
        return f"; there are: {', '.join(machines)}"
    return "; there are no records here: nox -s bench makes some, and the suite's checkout has the published ones"


def several_campaigns(records: Iterable[Record]) -> str:
    """Return the span of several campaigns, such as 'of 3 campaigns, 2026-11-21 to 2026-11-27'; '' for one."""
    began = {record.campaign: units.day(record.created) for record in records}
    if len(began) < 2:
        return ""
    days = " to ".join(dict.fromkeys((min(began.values()), max(began.values()))))
    return f"of {units.count(len(began))} campaigns, {days}"


def campaigns_note(records: Iterable[Record], rows: str = "The rows") -> tuple[str, ...]:
    """Return a note for a table of which these rows are of several campaigns; () for one campaign."""
    if not (span := several_campaigns(records)):
        return ()
    return (f"{rows} are {span}. Each of their ratios is of one campaign; another row may be of another host.",)

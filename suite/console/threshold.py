"""Printing the thresholds of a machine: the work of a call from which its GPU takes less time than its CPU."""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from suite import units
from suite.analysis.threshold_map import CONDITIONS, clause, interval_words, size_words
from suite.console import terminal
from suite.results.cite.pooled_numbers import threshold_key
from suite.results.pooled.pools import current, pools
from suite.results.pooled.thresholds import Threshold, thresholds
from suite.results.records import store
from suite.results.records.machine import Machine
from suite.results.records.machine import slug as machine_slug
from suite.results.records.record import Record
from suite.results.views import documents

_COLUMNS = ("way", "the CPU wins", "95 % interval", "status", "hosts", "key")
_MEASURE = "suite run --experiment crossover"


def print_thresholds(folders: Sequence[Path], machine: str | None, here: Machine, as_json: bool = False) -> None:
    """Print the thresholds of a machine, by default this one, as a table for each family or as JSON.

    Raises LookupError if it has none, saying why and how to measure them, or which machines have some.
    """
    records, problems = store.load(folders)
    terminal.notes(problems)
    known = thresholds(current(pools(records)))
    slug = machine_slug(machine) if machine else here.slug
    of_machine = [item for item in known if item.machine == slug]
    if not of_machine:
        raise LookupError(_missing(slug, machine is None, here, records, {item.machine for item in known}))
    conditions = {family: words for family, words in CONDITIONS.items() if any(i.family == family for i in of_machine)}
    if as_json:
        print(documents.text(documents.threshold_document(slug, conditions, of_machine)), end="")
        return
    for family, condition in conditions.items():
        rows = [item for item in of_machine if item.family == family]
        reasons = (f"{item.way}: {item.state}, {'; '.join(item.reasons)}." for item in rows if item.reasons)
        title = f"{slug}: the work of a call below which the CPU wins"
        terminal.print_table(title, _COLUMNS, map(_row, rows), (f"For {condition}.", *reasons))


def _row(item: Threshold) -> tuple[str, ...]:
    words = f"below {size_words(item.found, item.unit)}" if item.known else clause(item)
    key = threshold_key(item).text() if item.known else units.DASH
    return item.way, words, interval_words(item.found, item.unit), item.state, units.count(item.hosts), key


def _missing(slug: str, default: bool, here: Machine, records: Iterable[Record], having: set[str]) -> str:
    """Return why a machine has no threshold, and what to do."""
    of_machine = [record for record in records if record.machine.slug == slug]
    others = f"these have thresholds: {', '.join(sorted(having))}" if having else "no machine has a threshold yet"
    on_gpu = f"measure it on a machine with a GPU: {_MEASURE}"
    if not of_machine and not default:
        known = sorted({record.machine.slug for record in records})
        near = difflib.get_close_matches(slug, known, 1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        return f"no record is of machine '{slug}'{hint}; {others}"
    if not (here.gpus if default else any(record.backend == "gpu" for record in of_machine)):
        who = "this machine" if default else f"machine '{slug}'"
        return f"{who} has no GPU to compare with its CPU; {on_gpu}; {others}"
    return f"machine '{slug}' has no threshold; measure it there: {_MEASURE}; {others}"

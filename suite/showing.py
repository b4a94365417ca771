"""What the terminal says of records: results, answers of an experiment, comparisons, and whether they can be read."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from suite import experiments, terminal
from suite.inquiry.latencies import latencies, latency_table
from suite.results import catalogue, prices, selection, store
from suite.results.comparison import compared
from suite.results.record import Machine, Record
from suite.results.roofline import is_ceiling
from suite.results.summary import summary
from suite.results.table import Table, chosen

_REQUESTS = ("model", "backend", "way", "half of requests", "99 of 100", "pictures/s", "status")


def print_results(
    folders: Sequence[Path], here: Machine, listed: Sequence[prices.Price] = (), campaigns: Collection[str] = ()
) -> None:
    """Print this machine's speed-ups, or CPU times where it has no GPU, how JAX stands beside its peers, and costs.

    Of this machine only what those campaigns measured, if any are named.
    """
    from suite.report import cost, feeding, learning, placing, standing, tables

    general = [record for record in _loaded(folders) if record.general and not is_ceiling(record)]
    records = [r for r in general if not campaigns or r.campaign in campaigns or r.machine.slug != here.slug]
    costs = cost.for_terminal(records, here.slug, listed)
    fed = feeding.for_terminal(records, here.slug)
    learnt = learning.for_terminal(records, here.slug)
    asked = chosen(latency_table(latencies([r for r in records if r.machine.slug == here.slug])), _REQUESTS)
    timed = tables.for_terminal(records, here.slug)
    for table in (*timed, *standing.for_terminal(records, here.slug), *fed, *learnt, asked, *costs):
        if table.rows:
            show(table)
    for sentence in placing.sentences(placing.headlines(records), here.slug):
        print(sentence)
    say_failures(record for record in records if record.machine.slug == here.slug)


def print_answers(name: str, folders: Sequence[Path], here: Machine) -> None:
    """Print what this machine answers to an experiment."""
    records = _loaded(folders)
    mine = [record for record in records if record.machine.slug == here.slug]
    found = experiments.load(name).read(mine)
    if found is None:
        terminal.say(f"experiment '{name}' has no answer yet: what it compares was not measured whole")
    for table in found.tables if found else ():
        show(table)
    for answer in found.answers if found else ():
        print(answer)
    say_failures(record for record in mine if record.experiment == name)


def compare(first: str, second: str, folders: Sequence[Path], band: float | None) -> None:
    """Print the comparison of what two words mean; `band` is the share that does not matter."""
    from suite.report import comparison

    there = _loaded(folders)
    sides = [selection.selected(word, there) for word in (first, second)]
    table = comparison.table(first, second, compared(*sides), band)
    show(table)


def _loaded(folders: Sequence[Path]) -> tuple[Record, ...]:
    """Return the records below the folders, and say which cannot be read."""
    records, problems = store.load(folders)
    for problem in problems:
        terminal.say(f"note: {problem}")
    return records


def checked(paths: Sequence[Path]) -> Iterator[tuple[str, bool]]:
    """Yield a line for each record below the paths: what it is, or why it is none; and whether that is wrong."""
    for path in paths:
        files = [path] if path.is_file() else _below(path)
        if not files:
            yield f"'{path}' holds no record; a campaign's folder has a JSON file for each case", True
        for file in files:
            try:
                found = summary(store.read(file))
            except ValueError as error:
                yield str(error), True
                continue
            why = f": {'; '.join(found.reasons)}" if found.reasons else ""
            yield f"{file}: {found.record.name}, {found.status}{why}, {found.record.machine.name}", False


def _below(folder: Path) -> list[Path]:
    """Return the files that should be records; what a hidden folder holds, such as a cluster's plan, is none."""
    found = (path.relative_to(folder) for path in folder.rglob("*.json"))
    shown = (path for path in found if not any(part.startswith(".") for part in path.parts))
    return sorted(folder / path for path in shown if path.name != catalogue.FILE_NAME)


def show(table: Table) -> None:
    """Print a table's text."""
    rows = [[cell.text for cell in row[: len(table.columns)]] for row in table.rows]
    terminal.print_table(table.title, table.columns, rows, table.notes)


def say_failures(records: Iterable[Record]) -> None:
    """Say which records lack a result, and why."""
    for record in records:
        if record.reason:
            terminal.say(f"failed: {record.name}: {record.reason}")

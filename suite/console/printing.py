"""Printing records: results, an experiment's answers, comparisons and validation."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from suite import experiments, units
from suite.analysis.serving import BLOCKING, latencies, latency_table
from suite.console import terminal
from suite.results.compare.comparison import compared
from suite.results.pooled import baselines as against
from suite.results.pooled import machine_evidence, pools
from suite.results.records import catalogue, packs, store
from suite.results.records.identity import identity
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single import prices, selection
from suite.results.single.summary import Summary, summary
from suite.results.stats.state import State
from suite.results.views import documents
from suite.results.views.table import ON_ONE_HOST, Table, chosen, reasons

_REQUESTS = ("model", "backend", "way", BLOCKING, "half of requests", "99 of 100", "pictures/s", ON_ONE_HOST)


def print_results(
    folders: Sequence[Path],
    here: Machine,
    listed: Sequence[prices.Price] = (),
    campaigns: Collection[str] = (),
    noted: bool = False,
) -> None:
    """Print this machine's speed-ups (CPU times without a GPU), its baselines, input pipelines, accuracies and costs.

    If `campaigns` is not empty, this machine's results come from those alone. Unreadable records are reported unless
    already `noted`.
    """
    from suite.report.parts import cost, frameworks, from_storage, one_campaign, placing, tables

    general = [record for record in _loaded(folders, noted) if record.general and record.description.documented]
    records = [r for r in general if not campaigns or r.campaign in campaigns or r.machine.slug != here.slug]
    costs = cost.for_terminal(records, here.slug, listed)
    stored = from_storage.for_terminal(records, here.slug)
    records_here = [record for record in records if record.machine.slug == here.slug]
    latency = chosen(latency_table(latencies(records_here)), _REQUESTS)
    timed = tables.for_terminal(records, here.slug, one_campaign.table(records_here))
    for table in (*timed, *frameworks.for_terminal(records, here.slug), *stored, latency, *costs):
        if table.rows:
            show(table)
    place = placing.place(placing.headlines(pools.current(pools.pools(records))), here.slug)
    for sentence in filter(None, (*place.sentences, place.caution)):
        print(sentence)
    say_failures(records_here)


def print_answers(name: str, folders: Sequence[Path], here: Machine, noted: bool = False) -> None:
    """Print this machine's tables and answers of an experiment.

    Unreadable records are reported unless already `noted`.
    """
    records = _loaded(folders, noted)
    records_here = [record for record in records if record.machine.slug == here.slug]
    result = experiments.load(name).read(machine_evidence.evidence(records).get(here.slug, machine_evidence.Evidence()))
    if result is None:
        profiles = {record.profile for record in records_here if record.experiment == name}
        why = "some of the cases that it compares are not measured"
        if profiles == {"smoke"}:
            why = "profile smoke only shows that everything runs"
        terminal.say(f"experiment '{name}' has no answer yet: {why}")
    for table in result.tables if result else ():
        show(table)
    for answer in result.answers if result else ():
        print(answer)
    say_failures(record for record in records_here if record.experiment == name)


def compare(first: str, second: str, folders: Sequence[Path], band: float | None, as_json: bool = False) -> None:
    """Print the comparison of two selections, as a table or JSON; times that differ by less than `band` are equal."""
    from suite.report.parts import comparison

    records = _loaded(folders)
    sides = [selection.selected(word, records) for word in (first, second)]
    rows = compared(*sides, known=records)
    if as_json:
        print(documents.text(documents.compare_document(first, second, rows, band)), end="")
    else:
        show(comparison.table(first, second, rows, band))


def baselines(folders: Sequence[Path], as_json: bool = False) -> None:
    """Print each JAX step beside its fastest baseline, as tables or JSON.

    A machine's backend without a baseline has no table. Raises LookupError if no record is a JAX step.
    """
    from suite.report.parts import frameworks

    rows = against.baseline_comparisons(_loaded(folders))
    if not rows:
        raise LookupError("no record is a JAX step; suite run measures some")
    if as_json:
        print(documents.text(documents.baselines_document(rows)), end="")
        return
    for table in frameworks.listed(rows):
        if table.rows:
            show(table)


def _loaded(folders: Sequence[Path], noted: bool = False) -> tuple[Record, ...]:
    """Return the records below the folders; report unreadable ones unless already `noted`."""
    records, problems = store.load(folders)
    terminal.notes(() if noted else problems)
    return records


def checked(paths: Sequence[Path]) -> Iterator[tuple[str, bool]]:
    """Yield a line for each record below the paths, each with whether it is an error, then a line with the counts.

    The line identifies the record, or says why it is unreadable or the site would skip it. The place of a file or pack
    counts only below a named folder. A named file has a second line: its host, program and method.
    """
    states, skipped = list[State](), 0
    for path in paths:
        try:
            files = _files(path)
        except ValueError as error:
            yield str(error), True
            skipped += 1
            continue
        if not files:
            yield f"'{path}' holds no record; a campaign's folder or pack has a JSON file for each case", True
        for file in files:
            try:
                item = _summary(file, path)
            except ValueError as error:
                yield str(error), True
                skipped += 1
                continue
            states.append(item.state)
            why = f": {'; '.join(item.reasons)}" if item.reasons else ""
            yield (
                f"{file}: {item.record.name}, {item.state}{why}, {item.record.machine.name}",
                False,
            )
            if file == path:
                yield f"  {identity(item.record).words}", False
    yield _counted(states, skipped), False


def _files(path: Path) -> list[Path]:
    """Return the candidate records: a file, or the files of a pack or folder. Raises ValueError for a damaged pack."""
    if packs.is_pack(path):
        return store.of(path)
    return [path] if path.is_file() or packs.around(path) else _below(path)


def _summary(file: Path, named: Path) -> Summary:
    """Return the summary of a record: the named file itself, or one in the named pack or folder.

    Raises ValueError if it is not a record, or if the site would skip it because of its place.
    """
    record = store.read(file)
    if packs.is_pack(named):
        campaign = store.read(store.of(named)[0]).campaign
        if problem := store.misplaced(file, record, campaign):
            raise ValueError(problem)
    elif file != named:
        folder = named.resolve()
        path = folder / file.relative_to(named)
        if problem := store.misplaced(path, record) or _too_deep(path, folder, record):
            raise ValueError(problem)
    return summary(record)


def _too_deep(path: Path, folder: Path, record: Record) -> str:
    """Return why the site does not look where a record lies; '' if it does.

    The site looks in the folder or pack of the campaign inside `folder`, or in `folder` if that is the campaign's own.
    """
    pack = packs.around(path)
    itself = pack is None and folder.name.removeprefix(store.PARTIAL) == record.campaign
    if len(path.relative_to(folder).parts) <= (1 if itself else 2):
        return ""
    right, campaigns = (folder.parent if itself else folder) / record.campaign, path.parent.parent
    named = (pack or path.parent.name.removeprefix(store.PARTIAL) == record.campaign) and not itself
    instead = f", or name '{campaigns}' if that is where campaigns lie" if named else ""
    expected = f"'{right}{packs.SUFFIX if pack else ''}'"
    return f"'{path}' lies too deep, where the site does not look for it; it belongs in {expected}{instead}"


def _counted(states: Sequence[State], skipped: int) -> str:
    """Return the counts of records, of invalid ones, and of files that the site skips, in words."""
    records = f"{units.pluralize(len(states), 'record')}, {states.count('invalid') or 'none'} invalid"
    return records + (f"; {units.pluralize(skipped, 'file')} that the site skips" if skipped else "")


def _below(folder: Path) -> list[Path]:
    """Return the candidate records below a folder; hidden folders, such as a cluster's plan, hold none."""
    loose = (path for path in folder.rglob("*.json") if path.name != catalogue.FILE_NAME)
    found = (path.relative_to(folder) for path in (*loose, *store.packed(folder, deep=True)))
    shown = (path for path in found if not any(part.startswith(".") for part in path.parts))
    return sorted(folder / path for path in shown)


def show(table: Table) -> None:
    """Print a table, its notes and the caveats of its numbers."""
    notes = (*table.notes, *reasons(table))
    shown = chosen(table, [column for column in table.columns if column != ON_ONE_HOST])
    rows = [[cell.text for cell in row[: len(shown.columns)]] for row in shown.rows]
    terminal.print_table(shown.title, shown.columns, rows, notes)


def say_failures(records: Iterable[Record]) -> None:
    """Report the records without a result, and why."""
    failed = [record for record in records if record.reason]
    for record in failed:
        terminal.say(f"failed: {record.name}: {record.reason}")
    if failed:
        terminal.say("note: --resume does not retry failed cases; start a new run of them")

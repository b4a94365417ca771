"""What the terminal says of records: results, answers of an experiment, comparisons, and whether they can be read."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from suite import experiments, units
from suite.analysis.latencies import latencies, latency_table
from suite.console import terminal
from suite.results.compare.comparison import compared
from suite.results.pooled import baselines as against
from suite.results.pooled import machine_evidence
from suite.results.records import catalogue, packs, store
from suite.results.records.identity import identity
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single import prices, selection
from suite.results.single.roofline import is_ceiling
from suite.results.single.summary import Summary, summary
from suite.results.stats.state import State
from suite.results.views import documents
from suite.results.views.table import ON_ONE_HOST, Table, chosen, reasons

_REQUESTS = ("model", "backend", "way", "half of requests", "99 of 100", "pictures/s", ON_ONE_HOST)


def print_results(
    folders: Sequence[Path],
    here: Machine,
    listed: Sequence[prices.Price] = (),
    campaigns: Collection[str] = (),
    noted: bool = False,
) -> None:
    """Print this machine's speed-ups, or CPU times where it has no GPU, how JAX stands beside its baselines, and costs.

    Of this machine only what those campaigns measured, if any are named. Which records cannot be read is said unless
    it is `noted` already.
    """
    from suite.report.parts import accuracies, cost, frameworks, input_pipeline, one_campaign, placing, tables

    general = [record for record in _loaded(folders, noted) if record.general and not is_ceiling(record)]
    records = [r for r in general if not campaigns or r.campaign in campaigns or r.machine.slug != here.slug]
    costs = cost.for_terminal(records, here.slug, listed)
    fed = input_pipeline.for_terminal(records, here.slug)
    learnt = accuracies.for_terminal(records, here.slug)
    mine = [record for record in records if record.machine.slug == here.slug]
    asked = chosen(latency_table(latencies(mine)), _REQUESTS)
    timed = tables.for_terminal(records, here.slug, one_campaign.table(mine))
    for table in (*timed, *frameworks.for_terminal(records, here.slug), *fed, *learnt, asked, *costs):
        if table.rows:
            show(table)
    for sentence in placing.sentences(placing.headlines(records), here.slug):
        print(sentence)
    say_failures(record for record in records if record.machine.slug == here.slug)


def print_answers(name: str, folders: Sequence[Path], here: Machine, noted: bool = False) -> None:
    """Print what this machine answers to an experiment.

    Which records cannot be read is said unless it is `noted` already.
    """
    records = _loaded(folders, noted)
    records_here = [record for record in records if record.machine.slug == here.slug]
    result = experiments.load(name).read(machine_evidence.evidence(records).get(here.slug, machine_evidence.Evidence()))
    if result is None:
        terminal.say(f"experiment '{name}' has no answer yet: what it compares was not measured whole")
    for table in result.tables if result else ():
        show(table)
    for answer in result.answers if result else ():
        print(answer)
    say_failures(record for record in records_here if record.experiment == name)


def compare(first: str, second: str, folders: Sequence[Path], band: float | None, as_json: bool = False) -> None:
    """Print the comparison of what two words mean, as a table or a document; `band` is the share without a meaning."""
    from suite.report.parts import comparison

    records = _loaded(folders)
    sides = [selection.selected(word, records) for word in (first, second)]
    rows = compared(*sides, known=records)
    if as_json:
        print(documents.text(documents.compare_document(first, second, rows, band)), end="")
    else:
        show(comparison.table(first, second, rows, band))


def baselines(folders: Sequence[Path], as_json: bool = False) -> None:
    """Print how long the fastest baseline of each of JAX's steps takes beside it, as tables or a document.

    A machine's backend without a baseline has no table. Raises LookupError if no record is of a step of JAX.
    """
    from suite.report.parts import frameworks

    rows = against.baseline_comparisons(_loaded(folders))
    if not rows:
        raise LookupError("no record is of a step of JAX; suite run measures one")
    if as_json:
        print(documents.text(documents.baselines_document(rows)), end="")
        return
    for table in frameworks.listed(rows):
        if table.rows:
            show(table)


def _loaded(folders: Sequence[Path], noted: bool = False) -> tuple[Record, ...]:
    """Return the records below the folders, and say which cannot be read unless it is `noted` already."""
    records, problems = store.load(folders)
    for problem in () if noted else problems:
        terminal.say(f"note: {problem}")
    return records


def checked(paths: Sequence[Path]) -> Iterator[tuple[str, bool]]:
    """Yield a line for each record below the paths, then how many there are; and whether that is wrong.

    The line says what the record is, or why it is none or the site would leave it out. Of a file or pack that is named
    itself its place does not count; of a file, a second line says which host, program and method it is of.
    """
    states, left_out = list[State](), 0
    for path in paths:
        try:
            files = _files(path)
        except ValueError as error:
            yield str(error), True
            left_out += 1
            continue
        if not files:
            yield f"'{path}' holds no record; a campaign's folder or pack has a JSON file for each case", True
        for file in files:
            try:
                item = _summary(file, path)
            except ValueError as error:
                yield str(error), True
                left_out += 1
                continue
            states.append(item.state)
            why = f": {'; '.join(item.reasons)}" if item.reasons else ""
            yield (
                f"{file}: {item.record.name}, {item.state}{why}, {item.record.machine.name}",
                False,
            )
            if file == path:
                yield f"  {identity(item.record).words}", False
    yield _counted(states, left_out), False


def _files(path: Path) -> list[Path]:
    """Return what should be a record: a file or what a pack or folder has. Raises ValueError for a damaged pack."""
    if packs.is_pack(path):
        return store.of(path)
    return [path] if path.is_file() or packs.around(path) else _below(path)


def _summary(file: Path, named: Path) -> Summary:
    """Return what a record says: a file that was named, one in a pack that was, or one below a folder that was.

    Raises ValueError if it is none, or if the site would leave it out because of where it lies below the folder.
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
    """Return that a record is not where the site looks, in the folder or pack of its campaign in `folder`; '' if it is.

    `folder` may be that of the campaign itself.
    """
    pack = packs.around(path)
    itself = pack is None and folder.name.removeprefix(store.PARTIAL) == record.campaign
    if len(path.relative_to(folder).parts) <= (1 if itself else 2):
        return ""
    right, campaigns = (folder.parent if itself else folder) / record.campaign, path.parent.parent
    named = (pack or path.parent.name.removeprefix(store.PARTIAL) == record.campaign) and not itself
    instead = f", or name '{campaigns}' if that is where campaigns lie" if named else ""
    there = f"'{right}{packs.SUFFIX if pack else ''}'"
    return f"'{path}' lies too deep, where the site does not look for it; it belongs in {there}{instead}"


def _counted(states: Sequence[State], left_out: int) -> str:
    """Return how many records were looked at, how many are invalid, and how many files are none that the site takes."""
    records = f"{units.pluralize(len(states), 'record')}, {states.count('invalid') or 'none'} invalid"
    return records + (f"; {units.pluralize(left_out, 'file')} that the site leaves out" if left_out else "")


def _below(folder: Path) -> list[Path]:
    """Return what should be a record; what a hidden folder holds, such as a cluster's plan, is none."""
    loose = (path for path in folder.rglob("*.json") if path.name != catalogue.FILE_NAME)
    found = (path.relative_to(folder) for path in (*loose, *store.packed(folder, deep=True)))
    shown = (path for path in found if not any(part.startswith(".") for part in path.parts))
    return sorted(folder / path for path in shown)


def show(table: Table) -> None:
    """Print a table's text, and below it what speaks against its numbers."""
    notes = (*table.notes, *reasons(table))
    shown = chosen(table, [column for column in table.columns if column != ON_ONE_HOST])
    rows = [[cell.text for cell in row[: len(shown.columns)]] for row in shown.rows]
    terminal.print_table(shown.title, shown.columns, rows, notes)


def say_failures(records: Iterable[Record]) -> None:
    """Say which records lack a result, and why, and how to have one after all."""
    failed = [record for record in records if record.reason]
    for record in failed:
        terminal.say(f"failed: {record.name}: {record.reason}")
    if failed:
        terminal.say("note: --resume does not try again what failed; start a run of it anew")

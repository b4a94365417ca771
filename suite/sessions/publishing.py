"""Publishing: a campaign's records, the quotations and pictures that they change, and the site."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from suite.console import citing, live_table, terminal
from suite.driver import journal as journals
from suite.driver.campaign import file_names
from suite.driver.journal import Journal
from suite.results.cite import quotation, stored_pools
from suite.results.pooled import spreads
from suite.results.records import choices, files, packs, store
from suite.results.records.identity import identity
from suite.results.records.record import Record
from suite.results.single import choosing, prices
from suite.sessions.bench import answered, close
from suite.sessions.resuming import check_folder_name, has_ended, hosts_of, resume_words

REPORT_SECONDS = 40.0  # of a budget, reserved for the table and the site


def ended(out: Path, campaign: str, incomplete: bool = False) -> Path:
    """End a campaign, given by name or path, if it can end; return its folder or pack.

    A campaign with all planned rounds ends; any other one ends only with `incomplete`. One that was copied without its
    journal has ended if no record lacks a round. Raises LookupError if there is no such campaign, ValueError for a
    damaged record or one of another campaign, RuntimeError for an unfinished campaign or a smoke run.
    """
    folder = _found(out, campaign)
    if folder.name.startswith(store.PARTIAL):
        raise RuntimeError(f"'{folder}' has partial results; name the campaign, and add --incomplete to end it")
    check_not_smoke(folder)  # before the campaign is closed
    journal = Journal(folder / journals.FILE_NAME)
    if not journal.path.exists():
        if not incomplete:
            _refuse_missing_rounds(folder)
        return folder
    check_folder_name(journal)
    if not (incomplete or has_ended(journal) or answered(journal)):
        words = resume_words(folder.parent, hosts=hosts_of(journal.header()))
        raise RuntimeError(
            f"campaign '{folder.name}' has not measured every case once; resume it with {words}, or add --incomplete "
            "if it cannot be resumed"
        )
    if incomplete or journal.closed() or not has_ended(journal):
        close(journal, folder.parent)
    return folder


def _found(out: Path, campaign: str) -> Path:
    """Return a campaign's folder or pack, given by path or by name in `out`. Raises LookupError if there is none."""
    places = (out / campaign, Path(campaign), store.pack_path(out, campaign))
    here = next((place for place in places if place.is_dir() or packs.is_pack(place)), None)
    if here is None:
        if not out.is_dir():
            raise LookupError(
                f"no campaign '{campaign}' in '{out}', which is not a folder; name one that suite run wrote to"
            )
        measured = {path.parent.name for path in out.glob(f"*/{journals.FILE_NAME}")}
        recorded = {(path if packs.is_pack(path) else path.parent).name for path in store.paths([out])}
        names = sorted(measured | recorded)
        raise LookupError(f"no campaign '{campaign}' in '{out}'; there are: {', '.join(names) or 'none'}")
    folder = here.resolve() if here.name in ("", "..") else here
    if not (folder / journals.FILE_NAME).exists() and not store.of(folder):
        raise LookupError(
            f"'{here}' holds no campaign; a campaign's folder has a journal, or a JSON file for each case"
        )
    return folder


def _records(folder: Path) -> Iterator[tuple[Path, Record]]:
    """Yield the records in a campaign's folder or pack, with their paths; a pack may have any name.

    Raises ValueError for a damaged record, or one of another campaign.
    """
    campaign = ""
    for path in store.of(folder):
        record = store.read(path)
        if packs.is_pack(folder):
            campaign = campaign or record.campaign
        if problem := store.misplaced(path, record, campaign):
            raise ValueError(problem)
        yield path, record


def _refuse_missing_rounds(folder: Path) -> None:
    """Raise RuntimeError if a record lacks rounds without a failure: its campaign may still be running."""
    for _, record in _records(folder):
        if record.is_partial:
            raise RuntimeError(
                f"record '{record.name}' of campaign '{folder.name}' has {len(record.runs)} of {record.rounds} rounds, "
                "and without a journal it may still be running; copy its records when it ends, or add --incomplete"
            )


def check_not_smoke(folder: Path) -> None:
    """Raise RuntimeError for a smoke run."""
    journal = Journal(folder / journals.FILE_NAME)
    profiles = (
        [journal.header().profile] if journal.path.exists() else [record.profile for _, record in _records(folder)]
    )
    if "smoke" in profiles:
        raise RuntimeError(
            f"campaign '{folder.name}' has profile 'smoke', which is not published; publish one of profile quick or "
            "standard"
        )


def publish(folder: Path, published: Path) -> tuple[Path, ...]:
    """Pack a campaign's records into the published ones, update what depends on them, and return the changed files.

    An existing pack gains the missing records, such as a case that had not ended, and keeps the others. Raises
    ValueError for a damaged record, one that differs from its published namesake, or records of another campaign of
    the same name; RuntimeError for a smoke run.
    """
    check_not_smoke(folder)
    records = list(_records(folder))
    target = published / (records[0][1].campaign if packs.is_pack(folder) else folder.name)
    _check_no_namesake(folder, target)
    pack = store.pack(target, {path.name: store.content(path) for path, _ in records})
    return (pack, *picture(published), *spread_table(published), *headline(published), *mentions(published))


def _check_no_namesake(folder: Path, target: Path) -> None:
    """Raise ValueError if a record under the campaign's name, here or published, is of a case that it did not plan.

    Campaigns that began in the same second on machines of the same name share a name. Copied together, their records
    would pass for one campaign.
    """
    journal = Journal(folder / journals.FILE_NAME)
    if not journal.path.exists():
        return
    planned = file_names(journal.header())
    for path in (*store.of(folder), *store.of(target), *store.of(store.pack_path(target.parent, target.name))):
        if path.stem not in planned:
            raise ValueError(
                f"'{path}' is of another campaign '{folder.name}', begun in the same second on a machine of the same "
                "name; measure one of them again, with --machine if they start together again"
            )


def headline(published: Path) -> tuple[Path, ...]:
    """Store each machine's headline numbers that are new; return the file if it changed.

    These are each JAX step's speed-up, the seconds of both sides, and the best GPU program over the best CPU program.
    """
    path, (numbers, _) = stored_pools.path(published), citing.published(published)
    return (path,) if stored_pools.store(path, numbers.headline) else ()


def mentions(published: Path) -> tuple[Path, ...]:
    """Update the quotations that are not pinned in README and the site's pages; return the changed files.

    A page with a mark that has no partner stays unchanged, with a note.
    """
    root, (numbers, problems) = published.parent.parent, citing.published(published)
    terminal.notes(problems)
    pages = [path for path in (root / "README.md", *sorted((root / "site").glob("*.md"))) if path.is_file()]
    for path in pages:
        for lone in quotation.lone(path.read_text(encoding="utf-8")):
            terminal.say(f"note: {path} stays unchanged; line {lone.line}: {lone.words}")
    shown = [path for path in pages if live_table.renew(path, root / "site")]
    return (*shown, *(path for path in pages if citing.renew(path, numbers) and path not in shown))


def picture(published: Path) -> tuple[Path, ...]:
    """Draw README's headline chart from the published records; return its file, () without the site extra."""
    try:
        from suite.report.pages import home
    except ImportError:
        return ()
    drawn = home.picture(store.load([published])[0])
    if drawn is None:
        return ()
    path = published.parent / "assets" / "speedups.svg"
    with files.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
    return (path,)


def spread_table(published: Path) -> tuple[Path, ...]:
    """Write the spreads of the published records, which adaptive campaigns use as a stopping rule."""
    path = published.parent.parent / "suite" / "results" / "pooled" / spreads.FILE_NAME
    return (_write(path, spreads.table(store.load([published])[0])),) if path.parent.is_dir() else ()


def choice_table(published: Path) -> Path:
    """Choose baselines and threads from the published records, write the table, and return its path.

    Not part of publishing: a choice made from the same times that it selects would be biased.
    """
    path = published.parent.parent / "suite" / "results" / "records" / choices.FILE_NAME
    return _write(path, choosing.made(store.load([published])[0], lambda each: (identity(each).host_key, each.method)))


def _write(path: Path, table: object) -> Path:
    with files.writing(path):
        path.write_bytes(msgspec.json.format(msgspec.json.encode(table)) + b"\n")
    return path


def checkout() -> Path:
    """Return the current folder. Raises RuntimeError if it is not a checkout."""
    root = Path.cwd()
    if not (root / "mkdocs.yml").is_file():
        raise RuntimeError(f"no mkdocs.yml in '{root}', so no site to render; run this in the suite's checkout")
    return root


def report(published: Path, out: Path, build: bool, listed: Sequence[prices.Price] = ()) -> Path | None:
    """Render the site's pages; with `build`, build the HTML and return its first page, else None."""
    from suite.report.site import build as site
    from suite.report.site import pages

    root = checkout()
    outcome = pages.render((published, out), root / "site", listed)
    terminal.notes(outcome.problems)
    for line in outcome.missed:
        terminal.say(f"warning: {line}")
    if not build:
        return None
    site.build(root)
    return root / "build" / "html" / "index.html"

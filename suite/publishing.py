"""From records to what others see: a campaign among the published ones, quotations and pictures renewed, the site."""

from collections.abc import Sequence
from pathlib import Path

from suite import citing, terminal
from suite.bench import close, has_ended
from suite.results import files, prices, quotation, store
from suite.results import journal as journals
from suite.results.journal import Journal


def ended(out: Path, campaign: str, incomplete: bool = False) -> Journal:
    """Return the journal of a campaign that has ended, or with `incomplete` is ended hereby as it is.

    Raises LookupError if there is no such campaign, RuntimeError if it has not ended or only shows that it runs.
    """
    there = sorted(path.parent.name for path in out.glob(f"*/{journals.FILE_NAME}"))
    if campaign not in there:
        raise LookupError(f"no campaign '{campaign}' in '{out}'; there are: {', '.join(there) or 'none'}")
    journal = Journal(out / campaign / journals.FILE_NAME)
    refuse_smoke(journal)  # before it is closed
    if not (incomplete or has_ended(journal)):
        raise RuntimeError(
            f"campaign '{campaign}' has not ended; go on with run --resume, or add --incomplete where it cannot go on"
        )
    if incomplete or journal.closed():
        close(journal, out)
    return journal


def refuse_smoke(journal: Journal) -> None:
    """Raise RuntimeError for a campaign that only shows that it runs."""
    if (header := journal.header()).profile == "smoke":
        raise RuntimeError(
            f"campaign '{header.campaign}' has profile 'smoke', which only shows that it runs and is not published; "
            "publish one of profile quick or standard"
        )


def publish(journal: Journal, out: Path, published: Path) -> tuple[Path, ...]:
    """Copy the campaign's records, as they are, to where the site takes its evidence from.

    Raises ValueError for one that is not as it was written, RuntimeError if the campaign only shows that it runs.
    """
    refuse_smoke(journal)
    mine = [path for path in store.paths([out]) if path.parent.name == journal.header().campaign]
    for path in mine:
        store.read(path)
    written = []
    for path in mine:
        target = published / path.parent.name / path.name
        if not target.exists():
            store.write_once(target, path.read_bytes(), files.REMEDY)
        written.append(target)
    return (*written, *picture(published), *mentions(published))


def mentions(published: Path) -> tuple[Path, ...]:
    """Bring the quotations that are not pinned in README and the site's own pages up to date; return what changed.

    A page with a mark that has no partner stays as it is, which is said.
    """
    root, (there, problems) = published.parent.parent, citing.published(published)
    for problem in problems:
        terminal.say(f"note: {problem}")
    pages = [path for path in (root / "README.md", *sorted((root / "site").glob("*.md"))) if path.is_file()]
    for path in pages:
        for lone in quotation.lone(path.read_text(encoding="utf-8")):
            terminal.say(f"note: {path} is left as it is; line {lone.line}: {lone.words}")
    return tuple(path for path in pages if citing.renew(path, there))


def picture(published: Path) -> tuple[Path, ...]:
    """Draw the headline chart of the published records where README shows it; nothing without the site extra."""
    try:
        from suite.report import home
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


def checkout() -> Path:
    """Return the checkout that this is run in. Raises RuntimeError in any other folder, which has no site."""
    root = Path.cwd()
    if not (root / "mkdocs.yml").is_file():
        raise RuntimeError(f"no mkdocs.yml in '{root}', so no site to render; go to the suite's checkout for a report")
    return root


def report(published: Path, out: Path, build: bool, listed: Sequence[prices.Price] = ()) -> Path | None:
    """Render the site's pages and, if asked, build it; return where it begins."""
    from suite.report import build as site
    from suite.report import pages

    root = checkout()
    outcome = pages.render((published, out), root / "site", listed)
    for problem in outcome.problems:
        terminal.say(f"note: {problem}")
    if not build:
        return None
    site.build(root)
    return root / "build" / "html" / "index.html"

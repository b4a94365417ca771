"""Citations for the command line: from a key to text, and quotations in files against the published records."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from suite import units
from suite.report.charts.badges import badge
from suite.results.cite import quotation, stored_pools
from suite.results.cite.citation import Citation, bibtex, csl, markdown, text
from suite.results.cite.numbers import Numbers
from suite.results.records import files, store
from suite.results.views import documents

Format = Literal["text", "markdown", "bibtex", "csl", "badge"]
_FORMS: dict[Format, Callable[[Citation], str]] = {
    "text": text, "markdown": markdown, "bibtex": bibtex, "csl": csl, "badge": badge,
}  # fmt: skip


def published(folder: Path) -> tuple[Numbers, tuple[str, ...]]:
    """Return the numbers of the records below a folder and of the stored pools, and a line for what cannot be read."""
    records, problems = store.load([folder])
    lines, spoiled = stored_pools.read(stored_pools.path(folder))
    return Numbers(records, lines), (*problems, *spoiled)


def listed(numbers: Numbers, part: str = "") -> list[tuple[str, str]]:
    """Return the keys that hold `part` and whose number may be quoted, each with that number."""
    quotable = {key: Citation(number=number) for key, number in numbers.pooled.items() if number.quotable}
    return [(key, f"{cited.value} ({cited.interval})") for key, cited in quotable.items() if part in key]


def document(numbers: Numbers, part: str = "") -> str:
    """Return the keys that hold `part` as a document for programs. Raises LookupError if there is none."""
    listing = documents.cite_list_document(numbers, part)
    if not listing.numbers:
        held = f"no key with '{part}' in it" if part else "no published record has a number"
        raise LookupError(f"{held}; suite publish adds a campaign's records")
    return documents.text(listing)


def cited(key: str, numbers: Numbers, site: str = "") -> Citation:
    """Return the citation of the number that a key names.

    Raises ValueError if it is no key or the site no address, LookupError if nothing has the key.
    """
    if site and not site.startswith(("https://", "http://")):
        raise ValueError(f"--site asked for with '{site}'; give the address that begins with https://")
    return Citation(number=numbers.pinned(numbers.resolve(key)), site=f"{site.rstrip('/')}/" if site else "")


def pinned(citation: Citation, folder: Path) -> Citation:
    """Return a citation whose number is stored beside the published records, so that its key means it for ever.

    Raises RuntimeError if it cannot be written.
    """
    if citation.number.digest:
        return citation
    stored_pools.store(stored_pools.path(folder), [citation.number])
    digest = stored_pools.line_of(citation.number).digest
    return replace(citation, number=stored_pools.under(citation.number, digest))


def written(citation: Citation, form: Format) -> str:
    """Return a citation in one of the forms."""
    return _FORMS[form](citation)


def checked(files: Sequence[Path], folder: Path, write: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield a line for each quotation that is wrong or whose pool has changed, then what was looked at; wrong or not.

    Before them one for each record or stored pool that is not as it was written, which is wrong. With `write`
    quotations that are not pinned are brought up to date first, in every file but one with a mark that has no partner.
    A file that cannot be read is wrong. Raises RuntimeError if one cannot be written.
    """
    numbers, problems = published(folder)
    yield from ((problem, True) for problem in problems)
    looked_at = 0
    for path in files:
        try:
            if write and renew(path, numbers):
                yield f"{path}: brought up to date", False
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            words = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            yield f"'{path}' cannot be checked: {words}", True
            continue
        looked_at += quotation.quotations(content)
        if write and quotation.lone(content):
            yield f"{path}: left as it is, since a mark has no partner", True
        for remark in quotation.remarks(content, numbers):
            yield f"{path}:{remark.line}: {'' if remark.wrong else 'note: '}{remark.words}", remark.wrong
    yield (
        f"{units.pluralize(looked_at, 'quotation')} in {units.pluralize(len(files), 'file')}",
        False,
    )


def renew(path: Path, numbers: Numbers) -> bool:
    """Bring the quotations of a file that are not pinned up to date; return whether one changed.

    A file with a mark that has no partner stays as it is.
    Raises RuntimeError if the file cannot be written.
    """
    content = path.read_bytes().decode()  # with the ends that its lines have
    now = quotation.renewed(content, numbers)
    if now != content:
        with files.writing(path):
            path.write_bytes(now.encode())
    return now != content

"""Citations for the command line: turn a key into text, and check quotations in files."""

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
    """Return the numbers of the records below a folder and of the stored pools, and a line for each unreadable one."""
    records, problems = store.load([folder])
    lines, spoiled = stored_pools.read(stored_pools.path(folder))
    return Numbers(records, lines), (*problems, *spoiled)


def listed(numbers: Numbers, part: str = "") -> list[tuple[str, str]]:
    """Return each key that contains `part` and may be quoted, with its number and interval."""
    quotable = {key: Citation(number=number) for key, number in numbers.pooled.items() if number.quotable}
    return [
        (key, f"{cited.value} ({cited.interval}){', slow CPU' * bool(cited.number.slow_cpu)}")
        for key, cited in quotable.items()
        if part in key
    ]


def document(numbers: Numbers, part: str = "") -> str:
    """Return the keys that contain `part` as a JSON document. Raises LookupError if there is none."""
    listing = documents.cite_list_document(numbers, part)
    if not listing.numbers:
        held = f"no key with '{part}' in it" if part else "no published record has a number"
        raise LookupError(f"{held}; suite publish adds a campaign's records")
    return documents.text(listing)


def cited(key: str, numbers: Numbers, site: str = "") -> Citation:
    """Return the citation of a key's number.

    Raises ValueError for a malformed key or site address, LookupError if no number has the key.
    """
    if site and not site.startswith(("https://", "http://")):
        raise ValueError(f"--site asked for with '{site}'; give an address that begins with https://")
    return Citation(number=numbers.pinned(numbers.resolve(key)), site=f"{site.rstrip('/')}/" if site else "")


def pinned(citation: Citation, folder: Path) -> Citation:
    """Store the number beside the published records; return its citation, whose key now has a digest.

    Raises RuntimeError if the file cannot be written.
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
    """Yield a line for each problem, each with whether it is an error, then a line with the counts.

    Damaged records or stored pools come first and are errors, as are unreadable files and wrong quotations. A changed
    pool is a note. With `write`, quotations that are not pinned are updated first, except in files with a mark that has
    no partner. Raises RuntimeError if a file cannot be written.
    """
    numbers, problems = published(folder)
    yield from ((problem, True) for problem in problems)
    checked_quotations = 0
    for path in files:
        try:
            if write and renew(path, numbers):
                yield f"{path}: updated", False
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            words = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            yield f"'{path}' cannot be checked: {words}", True
            continue
        checked_quotations += quotation.quotations(content)
        if write and quotation.lone(content):
            yield f"{path}: unchanged, since a mark has no partner", True
        for remark in quotation.remarks(content, numbers):
            yield f"{path}:{remark.line}: {'' if remark.wrong else 'note: '}{remark.words}", remark.wrong
    yield (
        f"{units.pluralize(checked_quotations, 'quotation')} in {units.pluralize(len(files), 'file')}",
        False,
    )


def renew(path: Path, numbers: Numbers) -> bool:
    """Update the quotations of a file that are not pinned; return whether one changed.

    A file with a mark that has no partner stays unchanged. Raises RuntimeError if the file cannot be written.
    """
    content = path.read_bytes().decode()  # keeps the file's line endings
    now = quotation.renewed(content, numbers)
    if now != content:
        with files.writing(path):
            path.write_bytes(now.encode())
    return now != content

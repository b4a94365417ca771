"""The site's pages, found by their files: each makes one page, or one for each model or machine."""

from typing import Protocol, cast

from suite import discovery
from suite.report.parts.facts import Facts


class Page(Protocol):
    """The contract of a page's file."""

    def files(self, facts: Facts) -> dict[str, str]:
        """Return pages, charts and other files by their paths below the site's sources."""
        ...


def names() -> tuple[str, ...]:
    """Return the names of all page files; nothing is imported."""
    return discovery.names(__path__)


def files(facts: Facts) -> dict[str, str]:
    """Return the files of all pages. Raises ValueError if two make the same file."""
    all_files: dict[str, str] = {}
    for name in names():
        page_files = cast(Page, discovery.module(__name__, name, names(), "page")).files(facts)
        if twice := all_files.keys() & page_files.keys():
            raise ValueError(f"page '{name}' makes '{min(twice)}', as another page does")
        all_files |= page_files
    return all_files

"""The site's pages, found by being there: a file makes the files of one page, or of one for each model or machine."""

from typing import Protocol, cast

from suite import discovery
from suite.report.parts.facts import Facts


class Page(Protocol):
    """What a file of this package holds."""

    def files(self, facts: Facts) -> dict[str, str]:
        """Return pages, charts and what else belongs to them by their paths below the site's sources."""
        ...


def names() -> tuple[str, ...]:
    """Return the names of all these files; nothing is imported."""
    return discovery.names(__path__)


def files(facts: Facts) -> dict[str, str]:
    """Return what all of them make. Raises ValueError if two make the same file."""
    found: dict[str, str] = {}
    for name in names():
        made = cast(Page, discovery.module(__name__, name, names(), "page")).files(facts)
        if twice := found.keys() & made.keys():
            raise ValueError(f"page '{name}' makes '{min(twice)}', which another page makes, too")
        found |= made
    return found

"""How long the site takes for more records than there are."""

from pathlib import Path

from suite.report.site import pages


def render(folder: Path) -> tuple[str, ...]:
    """Return the files that rendering a checkout writes."""
    return pages.render([folder / "site" / "records"], folder / "site").written

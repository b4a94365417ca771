"""MkDocs' settings of the site for a site of a few other pages, which its navigation does not have."""

import re
from pathlib import Path

_SETTINGS = Path(__file__).parents[1] / "mkdocs.yml"


def without_navigation() -> str:
    """Return the settings without `nav`, so that MkDocs lists the pages that are there."""
    return re.sub(r"^nav:\n(?: .*\n)+", "", _SETTINGS.read_text(encoding="utf-8"), flags=re.MULTILINE)

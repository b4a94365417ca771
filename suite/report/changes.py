"""The page of what changed in the method, from the project's changelog."""

import re
from pathlib import Path

from suite.report.html import Page, marked, safe

TITLE = "What changed in the method"
_LEAD = (
    "A number is compared with an older one only where the way of measuring has not moved it. What did move numbers, "
    "the newest first; each record names the commit that it was measured with."
)
_RELEASE = re.compile(r"^## (?P<name>.+?)\n(?P<text>.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_METHOD = re.compile(r"^### Method\n(?P<text>.*?)(?=^### |\Z)", re.DOTALL | re.MULTILINE)


def page(changelog: Path) -> str:
    """Return the page; one that says so where there is no changelog."""
    made = Page(TITLE, "", frozenset())
    made.add(f'<p class="lead">{safe(_LEAD)}</p>')
    text = changelog.read_text(encoding="utf-8") if changelog.is_file() else ""
    found = [(release["name"], changes(release["text"])) for release in _RELEASE.finditer(text)]
    for name, lines in found:
        if lines:
            made.heading(name)
            made.add(f"<ul>{''.join(f'<li>{marked(line)}</li>' for line in lines)}</ul>")
    if not any(lines for _, lines in found):
        made.paragraph("Nothing is written down yet.")
    return made.text()


def changes(release: str) -> list[str]:
    """Return the entries of a release under 'Method', each as one line."""
    method = _METHOD.search(release)
    entries = re.split(r"^- ", method["text"], flags=re.MULTILINE)[1:] if method else []
    return [" ".join(entry.split()) for entry in entries]

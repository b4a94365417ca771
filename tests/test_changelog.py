"""The changelog is short and has the release's version; the log of the method has dated lines, newest first."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import suite

ROOT = Path(__file__).parent.parent
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
LOG = (ROOT / "site" / "changes.md").read_text(encoding="utf-8")
MOST_BYTES = 15_000
_ENTRY = re.compile(r"- (?P<date>\d{4}-\d\d-\d\d), `(?P<kind>\w+)`: [A-Z`].*\.")
_RELEASE = re.compile(r"^## (\d\S*) - \d{4}-\d\d-\d\d$", re.MULTILINE)


def problems(page):
    """Return what is wrong with the page of the log: lines that are no entry, and entries out of order."""
    introduction, _, log = page.partition("## Log\n")
    kinds = set(re.findall(r"^- `(\w+)`:", introduction, re.MULTILINE))
    lines = [line for line in log.splitlines() if line]
    entries = [_ENTRY.fullmatch(line) for line in lines]
    wrong = [line for line, entry in zip(lines, entries, strict=True) if not entry or entry["kind"] not in kinds]
    dates = [entry["date"] for entry in entries if entry]
    return wrong + [f"{newer} is below {older}" for older, newer in pairwise(dates) if older < newer]


def test_the_changelog_stays_short():
    assert len(CHANGELOG.encode()) <= MOST_BYTES


def test_the_newest_release_is_dated_and_has_the_version_of_the_package_and_of_the_citation_file():
    assert re.findall(r"^## (\S+)(.*)", CHANGELOG, re.MULTILINE)[0] == ("Unreleased", "")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert _RELEASE.findall(CHANGELOG)[0] == suite.__version__
    assert f"\nversion: {suite.__version__}\n" in citation


def test_each_entry_of_the_log_of_the_method_is_a_dated_line_and_the_newest_is_first():
    assert "## Log\n\n- " in LOG
    assert problems(LOG) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["- 2026-11-02, `rule`: Two.", "- 2026-11-01, `rule`: `one`.", "- 2026-11-01, `rule`: One."], []),
        (["- 2026-11-01, `rule`: One.", "- 2026-11-02, `rule`: Two."], ["2026-11-02 is below 2026-11-01"]),
        (["- No date."], ["- No date."]),
        (["- 2026-11-01, `ruel`: No such kind."], ["- 2026-11-01, `ruel`: No such kind."]),
        (["- 2026-11-01, `rule`: Two", "  lines."], ["- 2026-11-01, `rule`: Two", "  lines."]),
    ],
)
def test_a_wrong_line_of_the_log_is_found(lines, found):
    page = "\n".join(["- `rule`: what is published.", "", "## Log", "", *lines, ""])
    assert problems(page) == found

"""Pages for newcomers and the log name what there is, in the order and with the numbers that the code has."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from test_layers import JAX, ROOMS

import suite
from suite.driver import forecast, runner, schedule
from suite.driver.profiles import EFFORTS
from suite.driver.request import BUDGET_MINUTES, WITHIN
from suite.results.single import validity
from suite.results.single.paired_speedup import CERTIFIED_FROM

ROOT = Path(__file__).parent.parent
MAPS = ("ARCHITECTURE.md", "CONTRIBUTING.md")
PATH = re.compile(r"`((?:suite|tests|site)/[\w./-]*)`")


def named(page):
    """Return the paths that a page names."""
    return [path for path in PATH.findall((ROOT / page).read_text()) if "NAME" not in path]


@pytest.mark.parametrize("page", MAPS)
def test_every_path_that_a_map_names_is_there(page):
    names = named(page)
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_stair_has_every_room():
    stair = {name.removeprefix("suite/").removesuffix(".py").replace("/", ".") for name in named("ARCHITECTURE.md")}
    rooms = {room for room in ROOMS if room not in ("child_imports", "worker.checks")} | {"cli"}
    assert rooms - stair == set()


def test_a_room_imports_nothing_of_a_later_line_of_the_stair():
    lines = [line for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines() if line.startswith("| `")]
    place = {
        name.removeprefix("suite/").removesuffix(".py").replace("/", "."): number
        for number, line in enumerate(lines)
        for name in PATH.findall(line.split("|")[1])
    }
    late = [
        (room, other)
        for room, below in ROOMS.items()
        for allowed in below
        for other in place
        if room in place and (other == allowed or other.startswith(f"{allowed}.")) and place[other] > place[room]
    ]
    assert late == []


def test_the_map_says_which_rooms_import_jax():
    (sentence,) = re.findall(r"Only (.*?) import jax\.", (ROOT / "ARCHITECTURE.md").read_text(), re.DOTALL)
    assert {name.removeprefix("suite/").replace("/", ".") for name in PATH.findall(sentence)} == set(JAX)


@pytest.mark.parametrize("page", MAPS)
def test_a_map_is_short(page):
    assert len((ROOT / page).read_text().splitlines()) <= 160


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


PAGE = (Path(__file__).parent.parent / "site" / "method.md").read_text()


def row(profile):
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{profile}` |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:4]


@pytest.mark.parametrize("profile", EFFORTS)
def test_the_table_of_profiles_has_their_numbers(profile):
    effort = EFFORTS[profile]
    assert row(profile) == [
        str(effort.rounds),
        str(effort.samples),
        f"{effort.quiet_seconds:g} s",
    ]


def test_the_page_has_the_numbers_by_which_a_campaign_ends():
    words = " ".join(PAGE.split())
    assert f"in minutes, the site included: {BUDGET_MINUTES:g} by default" in words
    assert f"`--within` {100 * WITHIN:g} % or the budget is spent" in words
    assert f"overruns the budget by more than {100 * forecast._OVERRUN:g} %" in words
    assert ("a tenth of its budget" in words, runner._WAITING_SHARE) == (True, 0.1)
    assert ("before its third round" in words, schedule.FEWEST_ROUNDS) == (True, 3)
    assert ("fewer than three samples" in words, validity.FEWEST_SAMPLES) == (True, 3)


def test_the_bound_of_the_certificate_is_the_one_that_is_used():
    assert re.findall(r"interval lies above (\d\.\d+)", PAGE) == [f"{CERTIFIED_FROM:g}"]

"""What the method page says in numbers is what the code has."""

import re
from pathlib import Path

import pytest

from suite.driver import forecast, runner, schedule
from suite.driver.profiles import EFFORTS
from suite.driver.request import BUDGET_MINUTES, WITHIN
from suite.results.single import validity
from suite.results.single.paired_speedup import CERTIFIED_FROM

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

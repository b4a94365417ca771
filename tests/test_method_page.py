"""What the method page says in numbers is what the code has."""

import re
from pathlib import Path

import pytest

from suite.measure.profiles import EFFORTS
from suite.results.speedup import CERTIFIED_FROM
from suite.results.summary import WIDEST

PAGE = (Path(__file__).parent.parent / "site" / "method.md").read_text()


def row(profile):
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{profile}` |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:6]


@pytest.mark.parametrize("profile", EFFORTS)
def test_the_table_of_profiles_has_their_numbers(profile):
    effort, widest = EFFORTS[profile], WIDEST[profile]
    rounds = dict.fromkeys((effort.rounds, effort.most_rounds))
    shortened = ", shortened" if effort.run_examples else ""
    assert row(profile) == [
        " to ".join(map(str, rounds)),
        str(effort.samples),
        f"{100 * widest:g} %" if widest else "any",
        f"{effort.whole_runs}{shortened}",
        f"{effort.quiet_seconds:g} s",
    ]


def test_the_bound_of_the_certificate_is_the_one_that_is_used():
    assert re.findall(r"less than (\d\.\d+) of JAX's time", PAGE) == [f"{CERTIFIED_FROM:g}"]

"""The checks of the right model catch wrong ones: each planted bug is caught by the check that is named with it."""

import jax
import pytest
from parity import bugs

DENSE = (bugs.MLP, bugs.PICTURES)  # compiled in a second; every other network takes seconds, for each of its bugs
QUICK = tuple({bug.check: bug for bug in reversed(bugs.BUGS) if bug.network in DENSE}.values())  # one of a check


def marked(values, quick):
    return [pytest.param(value, marks=[] if value in quick else [pytest.mark.slow]) for value in values]


@pytest.mark.parametrize("bug", marked(bugs.BUGS, QUICK), ids=lambda bug: f"{bug.name} -> {bug.check}")
def test_a_planted_bug_is_caught_by_the_check_for_it(bug):
    # The code of libraries, which some bugs take, needs the one, and bugs that are written plainly the other.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        assert bugs.caught_by(bug.network, bug.planted()) == bug.check


@pytest.mark.parametrize("network", marked(sorted({bug.network for bug in bugs.BUGS}), DENSE))
def test_without_a_bug_no_check_complains(network):
    assert bugs.caught_by(network, bugs.right(network).workload) is None


def test_at_least_twenty_bugs_are_planted_and_every_check_has_one():
    assert len({bug.name for bug in bugs.BUGS}) >= 20
    assert {bug.check for bug in bugs.BUGS} == set(bugs.CHECKS)

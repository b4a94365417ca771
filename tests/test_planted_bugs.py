"""The checks of the right model catch wrong ones: each planted bug is caught by the check that is named with it."""

import jax
import pytest
from parity import bugs


@pytest.mark.parametrize("bug", bugs.BUGS, ids=lambda bug: f"{bug.name} -> {bug.check}")
def test_a_planted_bug_is_caught_by_the_check_for_it(bug):
    # The code of libraries, which some bugs take, needs the one, and bugs that are written plainly the other.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        assert bugs.caught_by(bug.network, bug.planted()) == bug.check


@pytest.mark.parametrize("network", sorted({bug.network for bug in bugs.BUGS}))
def test_without_a_bug_no_check_complains(network):
    assert bugs.caught_by(network, bugs.right(network).workload) is None


def test_at_least_twenty_bugs_are_planted_and_every_check_has_one():
    assert len({bug.name for bug in bugs.BUGS}) >= 20
    assert {bug.check for bug in bugs.BUGS} == set(bugs.CHECKS)

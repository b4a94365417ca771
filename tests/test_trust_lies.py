"""A few planted lies go through the real runner and are caught, and two honest networks are believed."""

from trust import lies, part_lies

from suite.results.single.validity import CHECKS


def test_a_sample_of_the_lies_is_caught_and_honest_networks_are_believed():
    _, findings = part_lies.prove(sample=True)
    assert [finding for finding in findings if not finding.good] == []
    assert len(findings) == 8


def test_the_check_that_must_catch_a_lie_is_one_of_the_suite():
    assert {lie.check for lie in lies.LIES.values()} <= {*CHECKS, lies.TRUE_COST}

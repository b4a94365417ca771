"""What is surely above or below a level, and which ratio is near a documented one."""

import pytest

from suite.claims._judging import SIZE, SURELY, above, below, least, most, mostly, near
from suite.results.stats.statistics import Estimate


def estimate(value, low=None, high=None):
    return Estimate(value=value, low=low, high=high)


@pytest.mark.parametrize(
    ("value", "is_above", "is_below"),
    [
        (estimate(1.2, 1.01, 1.4), True, False),
        (estimate(1.2, 1.0, 1.4), False, False),
        (estimate(0.8, 0.6, 0.99), False, True),
        (estimate(0.8, 0.6, 1.0), False, False),
        (estimate(1.02), False, False),
        (estimate(0.98), False, False),
        (estimate(2.0), False, False),
        (estimate(2.01), True, False),
        (estimate(0.5), False, False),
        (estimate(0.49), False, True),
        (estimate(0.0), False, True),
    ],
)
def test_a_value_is_surely_beyond_a_level_by_its_interval_or_by_a_factor_of_two(value, is_above, is_below):
    assert (above(value, 1), below(value, 1)) == (is_above, is_below)


def test_what_a_value_surely_is_are_the_ends_of_its_interval_or_a_factor_of_two():
    assert (least(estimate(10, 9, 12)), most(estimate(10, 9, 12))) == (9, 12)
    assert (least(estimate(10)), most(estimate(10))) == (5, 20)
    assert (SIZE, SURELY) == (1.25, 2.0)


@pytest.mark.parametrize(
    ("value", "documented", "is_near"),
    [
        (estimate(10), 10, False),
        (estimate(10, 9.99, 10.01), 12.4, True),
        (estimate(10, 9.99, 10.01), 12.6, False),
        (estimate(10, 9.99, 10.01), 8.1, True),
        (estimate(10, 9.99, 10.01), 7.9, False),
        (estimate(10, 2, 50), 10, False),
        (estimate(10, 8.1, 12.4), 10, True),
        (estimate(10, 7.9, 12.4), 10, False),
        (estimate(10, 8.1, 12.6), 10, False),
    ],
)
def test_a_ratio_is_near_if_its_whole_interval_is_within_the_factor(value, documented, is_near):
    assert near(value, documented) is is_near


def test_a_wider_interval_makes_nothing_easier_to_reproduce():
    for documented in range(1, 100):
        verdicts = [near(estimate(10, 10 / wide, 10 * wide), documented) for wide in (1.0, 1.1, 1.5, 2.0, 5.0)]
        assert verdicts == sorted(verdicts, reverse=True)


@pytest.mark.parametrize(
    ("share", "is_mostly"),
    [
        (estimate(0.96), True),
        (estimate(0.94), False),
        (estimate(0.95, 0.91, 0.99), True),
        (estimate(0.99, 0.89, 1.0), False),
    ],
)
def test_a_share_without_an_interval_is_surely_above_a_level_by_what_it_leaves(share, is_mostly):
    assert mostly(share, 0.9) is is_mostly

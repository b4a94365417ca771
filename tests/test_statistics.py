"""Intervals and tests keep their promises: known values, invariances, and a sample of simulated tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.results.statistics import (
    holm,
    paired_p_value,
    paired_ratio,
    sign_interval,
    unpaired_p_value,
    unpaired_ratio,
)

POSITIVE = st.floats(1e-6, 1e6)
CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.parametrize(("count", "cut"), [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6)])
def test_the_sign_interval_is_that_of_the_tables(count, cut):
    values = [float(value) for value in range(1, count + 1)]
    assert sign_interval(values) == (cut, count + 1 - cut)


def test_five_values_give_no_sign_interval():
    assert sign_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None


@given(st.lists(POSITIVE, min_size=6, max_size=40))
def test_the_sign_interval_turns_with_the_ratio(values):
    low, high = sign_interval(values)
    assert sign_interval([1 / value for value in values]) == pytest.approx((1 / high, 1 / low))


def rounds(values):
    return dict(enumerate(values))


def ones(count):
    return rounds([1.0] * count)


def test_a_p_value_is_students():
    logs = (1.0, 2.0, 3.0)
    assert paired_p_value(rounds(map(math.exp, logs)), ones(3)) == pytest.approx(0.0742, abs=1e-4)
    assert paired_p_value(ones(3), ones(3)) == 1.0
    assert paired_p_value(rounds([2.0, 2.0, 2.0]), ones(3)) == 0.0
    assert paired_p_value(rounds([2.0]), ones(1)) is None


def test_holms_correction_is_that_of_his_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(CHANCES)
def test_holms_correction_raises_keeps_order_and_stays_a_probability(chances):
    raised = holm(chances)
    assert all(before <= after <= 1 for before, after in zip(chances, raised, strict=True))
    order = sorted(range(len(chances)), key=chances.__getitem__)
    assert [raised[i] for i in order] == sorted(raised)


@given(st.lists(POSITIVE, min_size=2, max_size=9), st.lists(POSITIVE, min_size=2, max_size=9))
def test_an_unpaired_ratio_turned_round_has_the_interval_turned_round(one, other):
    there, back = unpaired_ratio(one, other), unpaired_ratio(other, one)
    assert back.value == pytest.approx(1 / there.value)
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))


def test_an_unpaired_ratio_is_welchs():
    one, other = [math.exp(x) for x in (1.0, 2.0, 3.0, 4.0)], [math.exp(x) for x in (1.0, 1.5, 2.0)]
    found = unpaired_ratio(one, other)
    assert math.log(found.value) == pytest.approx(1.0)
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((-0.950, 2.950), abs=5e-3)
    assert unpaired_p_value(one, other) == pytest.approx(0.229, abs=2e-3)
    assert unpaired_ratio([1.0], [2.0]).low is None
    assert unpaired_p_value([1.0], [2.0]) is None
    assert unpaired_ratio([], [2.0]) is None


def test_intervals_cover_and_tests_hold_their_level_in_noise():
    rng, tables, count = np.random.default_rng(0), 4000, 10
    covered = signs = alarms = 0
    for ratios in np.exp(rng.normal(0, 0.02, (tables, count))):
        found = paired_ratio(rounds(ratios), ones(count))
        covered += found.low <= 1 <= found.high
        low, high = sign_interval(ratios)
        signs += low <= 1 <= high
        alarms += paired_p_value(rounds(ratios), ones(count)) < 0.05
    assert 0.94 <= covered / tables <= 0.96
    assert 0.95 <= signs / tables <= 0.99
    assert covered + alarms == tables  # the interval and the test are one


def test_welchs_interval_covers_where_the_spreads_differ():
    rng, tables, covered = np.random.default_rng(1), 4000, 0
    for one, other in zip(rng.normal(0, 0.05, (tables, 5)), rng.normal(0, 0.01, (tables, 9)), strict=True):
        found = unpaired_ratio(tuple(np.exp(one)), tuple(np.exp(other)))
        covered += found.low <= 1 <= found.high
    assert 0.94 <= covered / tables <= 0.965

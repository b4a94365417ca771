"""Intervals and tests keep their promises: known values, invariances, and a sample of simulated tables."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr

from suite.results.stats.statistics import (
    Estimate,
    geometric_mean,
    holm,
    paired_p_value,
    paired_ratio,
    product,
    sign_interval,
    t_quantile,
    trend,
    unpaired_p_value,
    unpaired_ratio,
)

POSITIVE = st.floats(1e-6, 1e6)
CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_a_rate_has_the_ends_of_its_time_turned_round():
    assert Estimate(value=2.0, low=1.0, high=4.0, processes=3).per(8) == Estimate(
        value=4.0, low=2.0, high=8.0, processes=3
    )
    assert Estimate(value=2.0, processes=1).per(8) == Estimate(value=4.0, processes=1)


@pytest.mark.parametrize(("count", "cut"), [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6)])
def test_the_sign_interval_is_that_of_the_tables(count, cut):
    values = [float(value) for value in range(1, count + 1)]
    assert sign_interval(values) == (cut, count + 1 - cut)


@pytest.mark.parametrize("count", range(6))
def test_five_values_or_fewer_give_no_sign_interval(count):
    assert sign_interval([float(value) for value in range(count)]) is None


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


@pytest.mark.parametrize(("sizes", "least"), [((3,) * 17, 0.94), ((3, 5, 10), 0.94), ((3, 10), 0.92), ((2, 10), 0.89)])
def test_the_interval_of_a_product_covers_unless_a_group_of_two_has_most_of_the_variance(sizes, least):
    rng, tables, covered = np.random.default_rng(2), 2000, 0
    for _ in range(tables):
        found = product([np.exp(rng.normal(0, 0.02, size)) for size in sizes])
        covered += found.low <= 1 <= found.high
    assert least <= covered / tables <= 0.97


def test_half_the_length_of_an_interval_is_a_share_of_its_value():
    assert Estimate(value=4.0, low=2.0, high=8.0).relative_half_width == pytest.approx(1.0)
    assert Estimate(value=1.0, low=1.0, high=1.21).relative_half_width == pytest.approx(0.1)
    assert Estimate(value=1.0).relative_half_width is None
    assert Estimate(value=1.0, low=1.0).relative_half_width is None
    assert Estimate(value=1.0).processes == 1


def test_a_value_times_a_number_and_what_a_function_makes_of_it_keep_interval_and_processes():
    value = Estimate(value=4.0, low=2.0, high=8.0, processes=3)
    assert value.times(0.5) == Estimate(value=2.0, low=1.0, high=4.0, processes=3)
    assert value.mapped(lambda each: each - 1) == Estimate(value=3.0, low=1.0, high=7.0, processes=3)
    assert Estimate(value=4.0).times(2) == Estimate(value=8.0)
    assert value.per(8.0) == Estimate(value=2.0, low=1.0, high=4.0, processes=3)


@pytest.mark.parametrize(("degrees", "point"), [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (29, 2.045)])
def test_the_t_quantile_is_that_of_the_tables(degrees, point):
    assert t_quantile(degrees) == pytest.approx(point, abs=2e-3)
    assert float(stdtr(degrees + 0.5, t_quantile(degrees + 0.5))) == pytest.approx(0.975)


def test_a_geometric_mean_of_four_is_known_to_the_digit():
    found = geometric_mean([math.exp(x) for x in (1.0, 1.1, 1.4, 1.7)])
    assert math.log(found.value) == pytest.approx(1.3)  # their median is 1.25
    reach = t_quantile(3) * math.sqrt((0.09 + 0.04 + 0.01 + 0.16) / 3) / 2
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((1.3 - reach, 1.3 + reach))
    assert found.processes == 4


def test_one_value_is_a_mean_without_an_interval_and_two_have_one():
    assert geometric_mean([3.0]) == Estimate(value=pytest.approx(3.0), processes=1)
    two = geometric_mean([1.0, math.e])
    assert math.log(two.high) == pytest.approx(0.5 + 12.7062 * math.sqrt(0.5) / math.sqrt(2), abs=1e-3)
    assert two.processes == 2


@pytest.mark.parametrize("values", [[], [0.0], [1.0, 0.0], [-1.0, 1.0], [1.0, math.nan], [math.inf], [math.inf, 1.0]])
def test_a_geometric_mean_of_what_is_no_time_is_refused_with_the_values(values):
    with pytest.raises(ValueError, match="a geometric mean needs positive finite values, got ") as said:
        geometric_mean(values)
    assert str(said.value).endswith(str(values))
    assert geometric_mean([1e-9, 0.5]).value < 1


def test_a_paired_ratio_is_of_the_rounds_in_common():
    found = paired_ratio({0: 6.0, 2: 8.0, 5: 9.0}, {0: 2.0, 2: 2.0, 7: 1.0})
    assert found.value == pytest.approx(math.sqrt(12))
    assert found.processes == 2
    assert paired_ratio({1: 2.0}, {}) is None
    assert paired_ratio({0: 3.0}, {0: 2.0}).value == pytest.approx(1.5)


def test_an_unpaired_ratio_takes_its_degrees_from_both_sides():
    one, other = [math.exp(x) for x in (0.0, 0.4, 0.2, 0.9)], [math.exp(x) for x in (0.1, 0.2)]
    turned = unpaired_ratio(other, one)
    found = unpaired_ratio(one, other)
    errors = 0.1491667 / 4, 0.005 / 2
    degrees = sum(errors) ** 2 / (errors[0] ** 2 / 3 + errors[1] ** 2 / 1)
    assert math.log(found.value) == pytest.approx(0.375 - 0.15)
    assert math.log(turned.value) == pytest.approx(0.15 - 0.375)
    assert math.log(found.high / found.value) == pytest.approx(t_quantile(degrees) * math.sqrt(sum(errors)), rel=1e-5)
    assert math.log(found.value / found.low) == pytest.approx(math.log(found.high / found.value))
    assert found.processes == 2
    chance = 2 * float(stdtr(degrees, -0.225 / math.sqrt(sum(errors))))
    assert unpaired_p_value(one, other) == pytest.approx(chance, rel=1e-5)


def test_an_unpaired_ratio_of_steady_sides_has_an_interval_without_length():
    found = unpaired_ratio([2.0, 2.0], [1.0, 1.0])
    assert (found.low, found.value, found.high) == pytest.approx((2.0, 2.0, 2.0))
    assert unpaired_p_value([2.0, 2.0], [1.0, 1.0]) == 0.0
    assert unpaired_p_value([2.0, 2.0], [2.0, 2.0]) == 1.0


@pytest.mark.parametrize(("one", "other"), [([2.0], [1.0, 3.0]), ([1.0, 3.0], [2.0])])
def test_a_side_of_one_process_gives_a_ratio_without_interval_and_chance(one, other):
    found = unpaired_ratio(one, other)
    assert (found.low, found.high, found.processes) == (None, None, 1)
    assert found.value == pytest.approx(
        math.exp(sum(map(math.log, one)) / len(one) - sum(map(math.log, other)) / len(other))
    )
    assert unpaired_p_value(one, other) is None


def test_a_product_of_one_group_is_its_geometric_mean_and_of_two_their_ratio_turned_round():
    one, other = [1.0, 1.2, 1.5, 1.1], [2.0, 2.5]
    alone, mean = product([one]), geometric_mean(one)
    assert (alone.value, alone.low, alone.high) == pytest.approx((mean.value, mean.low, mean.high))
    both, ratio = product([one, [1 / value for value in other]]), unpaired_ratio(one, other)
    assert (both.value, both.low, both.high) == pytest.approx((ratio.value, ratio.low, ratio.high))
    assert (alone.processes, both.processes) == (4, 2)


@given(st.lists(st.lists(POSITIVE, min_size=2, max_size=5), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_product_asks_for_no_order_within_its_groups_and_of_them(groups, random):
    other = [random.sample(group, len(group)) for group in groups]
    found, shuffled = product(groups), product(random.sample(other, len(other)))
    assert math.log(shuffled.high / shuffled.low) == pytest.approx(math.log(found.high / found.low), abs=1e-9)
    assert math.log(shuffled.value) == pytest.approx(math.log(found.value), abs=1e-9)


def test_a_group_of_one_process_gives_a_product_without_interval():
    assert product([[1.0, 1.1], [8.0]]) == Estimate(value=pytest.approx(8 * math.sqrt(1.1)), processes=1)


def test_no_side_no_ratio():
    assert unpaired_ratio([1.0], []) is None
    assert unpaired_ratio([], [1.0]) is None
    assert unpaired_p_value([], [1.0, 2.0]) is None
    assert unpaired_p_value([1.0, 2.0], []) is None


def test_two_rounds_have_a_chance_and_one_has_none():
    assert paired_p_value({0: math.e, 1: math.e**3}, {0: 1.0, 1: 1.0, 2: 5.0}) == pytest.approx(0.2952, abs=1e-4)
    assert paired_p_value({0: 2.0, 1: 2.0}, {1: 1.0}) is None
    assert paired_p_value({}, {}) is None


def test_a_chance_is_of_a_difference_either_way():
    slow, fast = {0: 1.3, 1: 1.1, 2: 1.0, 3: 1.6}, {0: 1.0, 1: 1.0, 2: 1.05, 3: 1.2}
    assert paired_p_value(slow, fast) == pytest.approx(paired_p_value(fast, slow))
    logs = [math.log(slow[r] / fast[r]) for r in slow]
    mean = sum(logs) / 4
    error = math.sqrt(sum((x - mean) ** 2 for x in logs) / 3 / 4)
    assert paired_p_value(slow, fast) == pytest.approx(2 * float(stdtr(3, -mean / error)))


def test_holms_factors_go_down_from_the_number_of_rows_and_end_at_one():
    assert holm([]) == ()
    assert holm([0.04]) == (0.04,)
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    assert holm([0.01, 0.02, 0.05]) == pytest.approx((0.03, 0.04, 0.05))
    assert holm([0.02, 0.02, 0.001]) == pytest.approx((0.04, 0.04, 0.003))


@pytest.mark.parametrize(
    ("groups", "rise"),
    [
        ([], None),
        ([[1.0, 2.0, 3.0]], None),  # too few
        ([[1.0, 2.0, 3.0, 4.0, 5.0]], 2.0),  # (4 + 5) / (1 + 2) - 1
        ([[5.0, 4.0, 3.0, 2.0, 1.0]], 3 / 9 - 1),
        ([[1.0, 2.0, 3.0, 5.0, 4.0]], None),  # one pair falls, which may be noise
        ([[1.0, 2.0, 3.0, 5.0, 4.0]] * 3, 2.0),
        ([[1.0, 2.0, 3.0, 4.0]], None),  # four are too few by themselves
        ([[1.0, 2.0, 3.0, 4.0]] * 2, 3.0),
        ([[1.0, 1.0, 1.0, 1.0, 1.0]] * 3, None),
        ([[1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 4.0, 3.0, 2.0, 1.0]], None),
        ([[1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 20.0, 30.0, 40.0, 51.0], [1.0, 2.0, 3.0, 4.0, 8.0]], 91 / 30 - 1),
    ],
)
def test_a_trend_is_the_median_rise_of_groups_unless_it_may_be_noise(groups, rise):
    assert trend(groups) == (None if rise is None else pytest.approx(rise))


def test_noise_has_a_trend_in_two_of_a_hundred_and_a_fall_in_noise_is_found():
    noise = random.Random(5)
    idle = [[[noise.gauss(1, 0.1) for _ in range(5)] for _ in range(3)] for _ in range(2000)]
    falling = [[[noise.gauss(1 - 0.02 * at, 0.02) for at in range(5)] for _ in range(3)] for _ in range(200)]
    assert sum(trend(groups) is not None for groups in idle) < 0.03 * 2000
    assert sum(trend(groups) is not None for groups in falling) > 0.8 * 200

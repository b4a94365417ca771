"""How one quantity goes with another, and from which size on a ratio stays above 1."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from suite.results.stats.fit import crossing, power_law, rank_correlation
from suite.results.stats.statistics import Estimate

# Crossing


def estimate(value, spread=1.1):
    return Estimate(value=value, low=value / spread, high=value * spread, processes=3)


def law(batches, exponent, at, spread=1.1):
    return [(b, estimate((b / at) ** exponent, spread)) for b in batches]


BATCHES = (1, 4, 16, 64, 256, 1024)


@given(exponent=st.floats(0.3, 3), at=st.floats(2, 500), spread=st.floats(1.001, 1.3), order=st.permutations(BATCHES))
def test_a_power_law_crosses_where_it_is_1_whatever_the_order(exponent, at, spread, order):
    found = crossing(law(order, exponent, at, spread))
    assert found.outcome == "from"
    assert found.size == pytest.approx(at)
    if found.low is not None:
        assert found.low == pytest.approx(at / spread ** (1 / exponent))
    if found.high is not None:
        assert found.high == pytest.approx(at * spread ** (1 / exponent))


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(1.0, 2.0)), min_size=1, max_size=6))
def test_the_ends_are_in_order_and_inside_the_sizes(curve):
    found = crossing([(2.0**i, estimate(value, spread)) for i, (value, spread) in enumerate(curve)])
    known = [one for one in (found.low, found.size, found.high) if one is not None]
    assert known == pytest.approx(sorted(known))
    assert all(1 <= one <= 2.0 ** (len(curve) - 1) * 1.0001 for one in known)
    if found.outcome in ("always", "never"):
        assert known == []


@given(st.lists(st.floats(0.02, 50), min_size=2, max_size=6), st.floats(1.01, 3))
def test_a_faster_gpu_never_wins_later(values, gain):
    def size(factor):
        found = crossing([(2.0**i, estimate(value * factor)) for i, value in enumerate(values)])
        if found.outcome == "always" or (found.size is None and values[-1] * factor > 1):
            return -math.inf
        return found.size or math.inf

    assert size(gain) <= size(1.0) * 1.0001


def test_always_never_and_not_separated():
    assert crossing(law(BATCHES, 1, 0.1)).outcome == "always"
    assert crossing(law(BATCHES, 1, 1e5)).outcome == "never"
    assert crossing([(b, estimate(1.0)) for b in BATCHES]).outcome == "not separated"
    assert crossing([]).outcome == "not separated"


def test_an_interval_that_ends_at_1_decides_nothing():
    for touching in (Estimate(value=1.5, low=1.0, high=2.0), Estimate(value=0.7, low=0.5, high=1.0)):
        assert crossing([(16, touching)]).outcome == "not separated"


def test_a_ratio_of_1_is_not_yet_above_1():
    assert crossing([(1, estimate(0.5)), (4, estimate(1.0))]).size is None
    assert crossing([(1, estimate(1.0)), (4, estimate(2.0))]).size == pytest.approx(1)


def test_beside_a_size_without_an_interval_the_other_size_is_what_is_sure():
    surely_below, surely_above = Estimate(value=0.5, low=0.4, high=0.6), Estimate(value=2.0, low=1.8, high=2.2)
    before = crossing([(1, surely_below), (4, Estimate(value=2.0))])
    assert (before.low, before.size, before.high) == (pytest.approx(1), pytest.approx(2), None)
    after = crossing([(1, Estimate(value=0.5)), (4, surely_above)])
    assert (after.low, after.size, after.high) == (None, pytest.approx(2), pytest.approx(4))


def test_a_gpu_that_wins_only_in_the_middle_does_not_win_from_there_on():
    values = dict(zip(BATCHES, (0.5, 2, 2, 2, 0.5, 0.5), strict=True))
    found = crossing([(b, estimate(value)) for b, value in values.items()])
    assert (found.outcome, found.size) == ("not separated", None)


def test_a_ratio_without_an_interval_bounds_nothing():
    found = crossing([(1, Estimate(value=0.5)), (4, Estimate(value=2.0))])
    assert (found.outcome, found.size) == ("not separated", pytest.approx(2))


# Laws and ranks


@given(st.floats(-2, 2), st.floats(0.1, 10), st.lists(st.floats(1, 1e9), min_size=3, max_size=8, unique=True))
def test_a_power_law_is_found_again(exponent, factor, places):
    if max(places) / min(places) < 2:
        return
    fit = power_law(places, [factor * place**exponent for place in places])
    assert fit.exponent == pytest.approx(exponent, abs=1e-6)
    assert fit.low <= fit.exponent <= fit.high


def test_ranks_ignore_the_scale_and_share_where_equal():
    assert rank_correlation([1, 2, 3], [1, 10, 1000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 2, 3], [1, 2, 2, 3]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [5, 5, 5]) is None


@pytest.mark.parametrize("places", [(1, 10, 30, 200), (1, 10, 30), (1, 1, 30)])
def test_the_exponent_and_its_interval_are_those_of_another_program(places):
    values = (3.0, 9.0, 31.0, 60.0)[: len(places)]
    fit = power_law(places, values)
    logs = [math.log(place) for place in places], [math.log(value) for value in values]
    line = stats.linregress(*logs)
    reach = stats.t.ppf(0.975, len(places) - 2) * line.stderr
    assert (fit.exponent, fit.low, fit.high) == pytest.approx((line.slope, line.slope - reach, line.slope + reach))
    assert fit.at(10.0) == pytest.approx(math.exp(line.intercept) * 10**line.slope)


def test_two_places_have_a_law_without_an_interval_and_one_has_none():
    fit = power_law([1, 4], [3, 48])
    assert (fit.factor, fit.exponent, fit.low, fit.high) == (pytest.approx(3), pytest.approx(2), None, None)
    assert power_law([2, 2], [3, 4]) is None


def test_ranks_that_are_shared_count_as_their_mean():
    places, values = [1, 2, 2, 3, 4, 4, 4, 9], [5, 5, 1, 7, 2, 8, 8, 3]
    assert rank_correlation(places, values) == pytest.approx(stats.spearmanr(places, values).statistic)
    assert rank_correlation([1, 2], [2, 1]) == pytest.approx(-1)

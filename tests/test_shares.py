"""In how many cases something was so is known no better than the cases that share no fate tell."""

import itertools

import pytest
from scipy import stats

from suite.results.stats.shares import highest_rate, share


def test_without_a_trial_there_is_no_share():
    assert share([], 0) is None


@pytest.mark.parametrize("clusters", [1, 8])
def test_where_all_came_out_alike_each_host_counts_once(clusters):
    found = share([(True, {index % clusters}) for index in range(40)], clusters)
    assert (found.value, found.high, found.trials) == (1.0, 1.0, 40)
    assert found.low == pytest.approx(0.025 ** (1 / clusters))


def test_trials_of_one_host_that_share_its_fate_tell_no_more_than_one():
    once = share([(index > 1, {index}) for index in range(20)], 20)
    often = share([(index > 1, {index}) for index in range(20) for _ in range(5)], 20)
    assert often.value == once.value
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=0.02)


def test_trials_that_differ_within_each_host_tell_more():
    mixed = share([(turn > 0, {host}) for host in range(20) for turn in range(5)], 20)
    blocks = share([(host > 3, {host}) for host in range(20) for turn in range(5)], 20)
    assert mixed.value == blocks.value
    assert mixed.high - mixed.low < 0.5 * (blocks.high - blocks.low)


def test_a_pair_shares_the_fate_of_both_its_hosts():
    pairs = list(itertools.combinations(range(8), 2))
    off = [(7 not in pair, set(pair)) for pair in pairs]
    apart = [(7 not in pair, {index}) for index, pair in enumerate(pairs)]
    assert share(off, 8).low < share(apart, 28).low - 0.1


def within(told, value):
    """The interval of a share of so many independent trials, after Clopper and Pearson."""
    true, false = told * value, told * (1 - value)
    return stats.beta.ppf(0.025, true, false + 1), stats.beta.ppf(0.975, true + 1, false)


@pytest.mark.parametrize("clusters", [2, 4])
def test_the_interval_is_that_of_as_many_independent_trials_as_would_vary_as_much(clusters):
    found = share([(good, {host}) for host in range(clusters) for good in (True, True, False, False)], clusters)
    effect = clusters / (clusters - 1)  # the trials of a host make up for each other
    degrees = stats.t.ppf(0.975, 4 * clusters - 1) / stats.t.ppf(0.975, clusters - 1)
    assert (found.low, found.high) == pytest.approx(within(4 * clusters / effect * degrees**2, 0.5))


def test_where_none_came_out_the_share_is_0_and_of_one_cluster_it_is_one_trial():
    none = share([(False, {host}) for host in range(4)], 4)
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 4))
    one = share([(good, {0}) for good in (True, False)], 1)
    assert (one.low, one.high) == pytest.approx(within(1, 0.5))


@pytest.mark.parametrize("trials", [100, 1014, 149_494])
def test_no_failure_excludes_three_in_so_many_trials(trials):
    assert highest_rate(0, trials) == pytest.approx(3 / trials, rel=0.02)


def test_the_highest_rate_is_the_one_that_gives_so_few_failures_in_one_of_twenty_cases():
    for failures, trials in ((0, 20), (3, 40), (19, 20)):
        assert stats.binom.cdf(failures, trials, highest_rate(failures, trials)) == pytest.approx(0.05)
    assert highest_rate(20, 20) == 1

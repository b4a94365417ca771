"""The pooled number of a kind of machine: small cases worked by hand, and laws that hold for all."""

import math
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.results.stats import pooling
from suite.results.stats.pooling import changed, pooled, ratio, smallest_change
from suite.results.stats.variance_components import Components, borrowed, components, unlikeness, wild

E = math.e
# What a squared normal value is on average if it counts as at most the 95 % point: by parts, with that point 1.96^2.
USUAL = 0.95 - math.sqrt(2 / math.pi) * 1.959964 * math.exp(-(1.959964**2) / 2) + 0.05 * 1.959964**2


def among(tau2=0.01, sigma2=0.01, degrees=1e9):
    return Components(tau2=tau2, sigma2=sigma2, degrees=degrees, cells=1)


def apart(distance, *hosts):
    """A cell of hosts at these multiples of a distance of logarithms."""
    return [[math.exp(distance * host)] for host in hosts]


def logs(found):
    """The logarithms of value, interval and range."""
    return [math.log(each) for each in (found.value, found.low, found.high, found.range_low, found.range_high)]


# Components


def test_two_hosts_of_one_process_tell_tau_and_sigma_together():
    found = components([apart(0.2, 0, 1)] * 3)
    assert found.tau2 == pytest.approx(0.02 / USUAL, rel=1e-6)
    assert (found.sigma2, found.cells) == (0.0, 3)
    assert found.tau == pytest.approx(math.sqrt(found.tau2))
    assert found.degrees == pytest.approx(0.8 * 3)


def test_sigma_comes_of_the_processes_of_a_host():
    found = components([[[1.0, math.exp(0.2)]]] * 3)
    assert found.sigma2 == pytest.approx(0.02 / USUAL, rel=1e-6)
    assert found.sigma == pytest.approx(math.sqrt(found.sigma2))
    assert (found.tau2, found.degrees, found.cells) == (0.0, 0.0, 0)


def test_what_processes_explain_is_no_difference_of_hosts():
    hosts = [[1.0, math.exp(0.2)], [math.exp(0.3), math.exp(0.5)]]  # means 0.3 apart, processes 0.2
    found = components([hosts] * 3)
    assert found.sigma2 == pytest.approx(0.02 / USUAL, rel=1e-6)
    assert found.tau2 == pytest.approx((0.045 - found.sigma2 * USUAL / 2) / USUAL, rel=1e-6)


def test_the_noise_of_a_mean_is_less_the_more_processes_a_host_has():
    noisy = [[1.0, math.exp(0.2)], [math.exp(0.3)]]  # 1 and 1/2 processes' noise: 3/4 on average
    found = components([noisy] * 3)
    spread = (0.3 - 0.1) ** 2 / 2
    assert found.tau2 == pytest.approx(max(spread / USUAL - 0.75 * found.sigma2, 0), rel=1e-6)


def test_hosts_that_differ_less_than_processes_let_expect_have_no_tau():
    found = components([[[1.0, math.exp(0.4)], [1.01, 1.01 * math.exp(0.4)]]] * 3)
    assert found.tau2 == 0.0
    assert found.sigma2 > 0.05


def test_one_host_alone_has_no_tau():
    for cells in ([], [[[1.0]]], [[[1.0, 1.1, 1.2]]]):
        found = components(cells)
        assert (found.tau2, found.degrees, found.cells) == (0.0, 0.0, 0)


def test_values_that_are_equal_have_neither_tau_nor_sigma():
    found = components([[[3.0, 3.0], [3.0, 3.0]]] * 4)
    assert (found.tau2, found.sigma2) == (0.0, 0.0)
    assert found.degrees == pytest.approx(3.2)


def test_a_cell_of_many_hosts_counts_for_four_degrees_of_freedom():
    degrees = [components([apart(0.1, *range(hosts))]).degrees for hosts in (2, 3, 5, 6, 30)]
    assert degrees == pytest.approx([0.8, 1.6, 3.2, 3.2, 3.2])


def test_a_cell_of_more_hosts_tells_more_of_tau():
    few, many = apart(0.2, 0, 1), apart(0.1, 0, 1, 0, 1, 0, 1)
    found = components([few, few, many, many]).tau2
    assert 0.003 < found < components([few, few, many]).tau2 < 0.02 / USUAL


def test_cells_that_share_hosts_which_agree_count_once():
    cells, hosts = [apart(0.2, 0, 1)] * 4, "ab"
    assert components(cells, [hosts] * 4).degrees == pytest.approx(3.2 / 4)
    assert components(cells, [hosts, "cd", "ef", "gh"]).degrees == pytest.approx(3.2)
    assert components(cells, [hosts, hosts, "cd", "ef"]).degrees == pytest.approx(3.2 / 1.5)
    assert components(cells, [hosts, "bc", "cd", "de"]).degrees == pytest.approx(3.2)  # one host is no comparison
    assert components([[[1.0]], *cells], ["a", *[hosts] * 4]).degrees == pytest.approx(3.2 / 4)
    assert components([[[1.0]]], ["a"]).degrees == 0


def test_cells_that_share_hosts_which_do_not_agree_count_each():
    cells = [apart(0.2, 0, 1), apart(0.2, 1, 0)]
    assert components(cells, ["ab", "ab"]).degrees == pytest.approx(1.6)
    assert components(cells, ["ab", "ba"]).degrees == pytest.approx(0.8)


def test_hosts_that_agree_in_part_count_for_the_square_of_it():
    up, other = apart(0.1, -1, 0, 1), apart(0.1, 1, 0, 1)  # deviations (-1, 0, 1) and (1, -2, 1) / 3
    mixed = apart(0.1, 0, 0, 1)  # (-1, -1, 2) / 3: 1 / (sqrt 2 sqrt (2/3)) of the first
    assert components([up, other], ["abc", "abc"]).degrees == pytest.approx(3.2)
    assert components([up, mixed], ["abc", "abc"]).degrees == pytest.approx(3.2 / (1 + 0.75))


def test_only_the_hosts_that_two_cells_share_are_compared():
    one, other = apart(0.1, 0, 1, 9), apart(0.1, 5, 0, 1)
    found = components([one, other], ["abx", "yab"])  # 2 of 2 degrees each, 1 of them shared
    assert found.degrees == pytest.approx(3.2 / (1 + 2 * 0.8 / 3.2))


def test_a_cell_that_shares_more_than_five_hosts_counts_for_four_degrees():
    cell = apart(0.1, *range(8))
    assert components([cell, cell], ["abcdefgh"] * 2).degrees == pytest.approx(3.2)


def test_names_of_hosts_must_be_as_many_as_hosts():
    with pytest.raises(ValueError, match="zip"):
        components([apart(0.1, 0, 1)] * 2, ["ab", "abc"])
    with pytest.raises(ValueError, match="zip"):
        components([apart(0.1, 0, 1)] * 2, ["ab"])


def test_a_cell_ten_times_off_changes_nothing_among_others():
    cells = [apart(0.1, 0, 1, 3)] * 10
    clean, off = components(cells), components([*cells, apart(2.3, 0, 0, 1)])
    assert off.tau2 == pytest.approx(clean.tau2, rel=1e-6)
    assert off.degrees == pytest.approx(clean.degrees)
    assert (clean.cells, off.cells) == (10, 11)
    named = components([*cells, apart(2.3, 0, 0, 1)], [(place, -place, "c") for place in range(11)])
    assert named.degrees == pytest.approx(clean.degrees)


def test_a_cell_somewhat_off_is_cut():
    cells = [apart(0.1, 0, 1)] * 20
    middle, far = (components([*cells, apart(distance, 0, 1)]).tau2 for distance in (0.25, 0.29))
    assert middle == pytest.approx(far, rel=1e-6)
    assert 1.02 < far / components(cells).tau2 < 1.3


def test_processes_ten_times_off_widen_sigma_little():
    hosts = [[[1.0, 1.1]]] * 30
    assert components([*hosts, [[1.0, 10.0]]]).sigma2 < 1.2 * components(hosts).sigma2


def test_estimates_are_right_on_average():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        cells = [
            [np.exp(rng.normal(0, 0.1) + rng.normal(0, 0.05, 2)).tolist() for _ in range(size)]
            for size in (2, 2, 3, 3, 4, 6)
        ]
        found.append(components(cells))
    assert fmean(each.tau2 for each in found) == pytest.approx(0.01, rel=0.1)
    assert fmean(each.sigma2 for each in found) == pytest.approx(0.0025, rel=0.1)


def test_where_hosts_differ_no_more_than_processes_both_say_how_much_these_differ():
    equal = [[1.0, math.exp(0.2)], [1.0, math.exp(0.2)]]  # spreads of 0.02 within, twice, and of 0 between
    found = components([equal] * 3)
    assert (found.tau2, found.degrees) == (0.0, pytest.approx(2.4))
    assert found.sigma2 == pytest.approx(0.02 * 2 / 3 / USUAL, rel=1e-6)
    apart = [[1.0, math.exp(0.2)], [math.exp(0.05), math.exp(0.25)]]  # means 0.05 apart: 0.0025 of one process
    assert components([apart] * 3).sigma2 == pytest.approx((0.02 * 2 + 0.0025) / 3 / USUAL, rel=1e-6)


# Borrowed

# Of the logarithm of a sample variance with 2 degrees of freedom: the bias is Euler's constant.
EULER, CHANCE = 0.5772157, math.pi**2 / 6


def test_kinds_that_differ_no_more_than_chance_lets_them_are_alike():
    assert unlikeness([[among(degrees=2), among(degrees=2, tau2=0.03)]]) == 0
    assert unlikeness([]) == unlikeness([[among(degrees=2)]]) == 0


def test_the_unlikeness_of_kinds_is_the_variance_of_logarithms_beyond_chance():
    pair = [among(0.01, 0.01, 2), among(0.01 * math.e**4, 0.01 * math.e**4, 2)]
    assert unlikeness([pair]) == pytest.approx(8 - CHANCE)
    three = [*pair, among(0.01 * E**2, 0.01 * E**2, 2)]
    assert unlikeness([three]) == pytest.approx(4 - CHANCE)
    assert unlikeness([pair, pair]) == pytest.approx(8 - CHANCE)
    assert unlikeness([pair, pair[:1] * 2]) == pytest.approx(4 - CHANCE)
    assert unlikeness([pair, [among()], []]) == pytest.approx(8 - CHANCE)


def test_a_kind_of_more_hosts_has_more_say_in_the_unlikeness_and_one_without_noise_or_hosts_none():
    near, far = among(degrees=2), among(0.01 * E**4, 0.01 * E**4, degrees=200)
    bias = EULER - 0.005  # of the logarithms of 2 and of 200 degrees
    weights = 1 / CHANCE, 1 / 0.01005
    scale = 2 * weights[0] * weights[1] / sum(weights)
    wanted = (weights[0] * weights[1] / sum(weights) * (4 - bias) ** 2 - 1) / scale
    assert unlikeness([[near, far]]) == pytest.approx(wanted, rel=1e-3)
    silent = among(degrees=0), among(0, 0, 5)
    assert unlikeness([[near, far, *silent]]) == pytest.approx(wanted, rel=1e-3)


def test_a_kind_of_enough_hosts_borrows_nothing():
    own, others = among(degrees=3), [among(tau2=1.0)]
    assert borrowed(own, others, 0) is own
    assert own.enough
    assert not among(degrees=2.9).enough
    assert borrowed(among(degrees=2.9), others, 0).degrees > 1e5
    assert borrowed(own := among(degrees=1), [among(degrees=0)], 0) is own


def test_one_other_kind_lends_what_it_knows_where_kinds_are_alike():
    found = borrowed(components([]), [among(0.03, 0.01, 8)], 0)
    assert (found.tau2, found.sigma2, found.degrees) == pytest.approx((0.03, 0.01, 8))


def test_kinds_that_are_alike_lend_their_degrees_together():
    found = borrowed(components([]), [among(0.03, 0.01, 200), among(0.01, 0.03, 100)], 0)
    assert found.degrees == pytest.approx(300, rel=0.01)
    assert (found.tau2, found.sigma2) == pytest.approx((0.04 * 7 / 12, 0.04 * 5 / 12), rel=0.01)


def test_a_kind_counts_with_its_own_hosts_beside_what_it_borrows():
    found = borrowed(among(0.1, 0.02, 2), [among(0.03, 0.01, 6)], 0)
    assert (found.tau2, found.sigma2, found.degrees) == pytest.approx(((0.2 + 0.18) / 8, (0.04 + 0.06) / 8, 8))
    assert found.cells == 1


def test_kinds_that_differ_lend_few_degrees_however_many_hosts_they_have():
    many = borrowed(components([]), [among()] * 10000, CHANCE)
    assert many.degrees == pytest.approx(2, rel=1e-3)
    assert many.total == pytest.approx(0.02 * math.exp(-EULER), rel=1e-3)  # that of an inverse chi-square
    # The mean of three kinds is itself uncertain, by a third of what a kind is.
    assert borrowed(components([]), [among()] * 3, CHANCE * 3 / 4).degrees == pytest.approx(2)


def test_kinds_that_differ_count_alike_however_many_hosts_they_have():
    few, many = among(0.02, 0.0, 50), among(0.02 * E**2, 0.0, 5000)
    found = borrowed(components([]), [few, many], CHANCE * 2 / 3)
    assert math.log(found.tau2 / 0.02) == pytest.approx(1 - EULER, abs=0.03)
    alike = borrowed(components([]), [few, many], 0)
    assert math.log(alike.tau2 / 0.02) == pytest.approx(2, abs=0.05)


# Pooled


def test_equal_hosts_weigh_equally():
    found = pooled([[1.0], [E**2]], among(tau2=1, sigma2=1))
    reach = 1.959964
    wanted = [1, 1 - reach, 1 + reach, 1 - reach * math.sqrt(3), 1 + reach * math.sqrt(3)]
    assert logs(found) == pytest.approx(wanted, rel=1e-5)
    assert (found.hosts, found.processes) == (2, 2)


def test_a_host_of_many_processes_weighs_little_more_where_hosts_differ_much():
    cell = [[1.0] * 100, [math.exp(0.1)]]
    for known, share in (((1, 0.01), 0.49753), ((0, 0.01), 1 / 101), ((0.01, 0.01), 0.0101 / (0.0101 + 0.02))):
        assert math.log(pooled(cell, among(*known)).value) == pytest.approx(0.1 * share, rel=1e-4)


def test_the_value_is_the_geometric_mean_of_a_hosts_processes():
    assert pooled([[1.0, 4.0]], among()).value == pytest.approx(2)


def test_where_processes_do_not_differ_hosts_weigh_equally():
    found = pooled([[1.0] * 9, [math.exp(0.1)]], among(sigma2=0))
    assert math.log(found.value) == pytest.approx(0.05)
    assert math.log(found.high / found.value) == pytest.approx(1.959964 * 0.1 / math.sqrt(2), rel=1e-5)


def test_one_host_alone_is_as_uncertain_as_hosts_differ():
    found = pooled([[2.0]], among(tau2=0.03, sigma2=0.01, degrees=4))
    assert found.value == pytest.approx(2)
    assert math.log(found.high / 2) == pytest.approx(2.776445 * 0.2, rel=1e-5)
    assert math.log(found.range_high / 2) == pytest.approx(2.776445 * math.sqrt(0.08), rel=1e-5)
    assert (found.hosts, found.processes) == (1, 1)


def test_where_nothing_says_how_much_hosts_differ_there_is_a_value_without_interval():
    nothing = components([[[1.0, 4.0]]])
    for found in (pooled([[1.0, 4.0]], nothing), ratio(([[2.0]], nothing), ([[1.0]], among()))):
        assert found.value == pytest.approx(2)
        assert (found.low, found.high, found.range_low, found.range_high) == (None,) * 4
    assert pooled([[1.0, 4.0]], nothing).processes == 2
    assert ratio(([[1.0]], among()), ([[2.0]], nothing)).low is None


def test_hosts_far_apart_do_not_make_a_cell_wild_where_nothing_is_known():
    assert not wild([[1.0], [100.0]], components([]))


def test_equal_values_have_an_interval_of_next_to_no_width():
    cells = [[[3.0, 3.0], [3.0, 3.0]]] * 4
    found = pooled(cells[0], components(cells))
    assert found.value == pytest.approx(3)
    assert 0 <= math.log(found.range_high / found.range_low) < 1e-4


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_values_that_are_not_positive_are_refused(value):
    for ask in (
        lambda cell: components([cell]),
        lambda cell: pooled(cell, among()),
        lambda cell: ratio((cell, among()), ([[1.0]], among())),
        lambda cell: changed([[1.0]], cell, among()),
        lambda cell: wild(cell, among()),
    ):
        with pytest.raises(ValueError, match=f"a pool needs positive finite values of each host, got .*{value}"):
            ask([[1.0], [1.0, value]])


def test_a_cell_without_values_is_refused():
    with pytest.raises(ValueError, match="a pool needs at least one host with a value"):
        pooled([], among())
    with pytest.raises(ValueError, match=r"a pool needs positive finite values of each host, got \[\]"):
        pooled([[]], among())


def test_a_wild_cell_is_judged_by_itself():
    cell = [[1.0], [E], [E**2]]
    assert wild(cell, among())
    found = pooled(cell, among())
    # tau^2 of its own is 1 less the noise of one process a host; t of two degrees of freedom is 4.3027.
    assert math.log(found.high / found.value) == pytest.approx(4.3027 * math.sqrt(1 / 3), rel=1e-4)
    assert math.log(found.range_high / found.value) == pytest.approx(4.3027 * math.sqrt(4 / 3), rel=1e-4)


def test_a_wild_cell_of_two_hosts_has_a_value_and_no_interval():
    found = pooled(apart(1.0, 0, 1), among())
    assert found.value == pytest.approx(math.exp(0.5))
    assert (found.low, found.high, found.range_low, found.range_high) == (None,) * 4


def test_a_wild_cell_of_two_hosts_takes_no_interval_from_a_ratio_that_the_other_side_decides():
    nearly = apart(0.01, 0, 1), among(tau2=1e-8, sigma2=1e-8)
    assert wild(*nearly)
    assert pooled(*nearly).low is None
    other = [[1.0], [1.1], [0.9]], among()
    alone, of_both = pooled(*other), ratio(other, nearly)
    assert of_both.high / of_both.low == pytest.approx(alone.high / alone.low, rel=0.01)


def test_a_wild_cells_noise_is_that_of_the_processes_that_its_hosts_have():
    cell = [[1.0] * 4, [E] * 4, [E**2] * 4]
    _, error2, further2, degrees = pooling.moments(cell, among(sigma2=0.04))
    assert (error2, further2, degrees) == pytest.approx((1 / 3, 1 - 0.01 + 0.04, 2))


def test_a_cell_is_wild_only_where_chance_would_make_it_so_once_in_a_thousand():
    threshold = 3.290527 * math.sqrt(2 * 0.02)  # two-sided, of a normal difference of two hosts
    assert not wild(apart(threshold * 0.999, 0, 1), among())
    assert wild(apart(threshold * 1.001, 0, 1), among())
    assert not wild([[1.0, 100.0]], among())  # one host shows no difference of hosts


def test_one_campaign_ten_times_off_widens_its_own_cell_alone():
    rng = np.random.default_rng(0)
    cells = [[[math.exp(rng.normal(0, 0.1))] for _ in range(3)] for _ in range(10)]
    off = [*cells[:-1], [*cells[-1][:-1], [10.0]]]
    before, after = components(cells), components(off)

    def width(cell, known):
        found = pooled(cell, known)
        return math.log(found.high / found.low)

    assert median(width(cell, after) / width(cell, before) for cell in cells[:-1]) < 1.1
    assert width(off[-1], after) > 5 * width(cells[-1], before)


def test_more_hosts_narrow_the_interval_and_leave_the_range_as_wide_as_hosts_differ():
    found = [pooled([[1.0]] * hosts, among(tau2=0.04, sigma2=0)) for hosts in (1, 4, 100)]
    assert [math.log(each.high) for each in found] == pytest.approx([0.391993, 0.195996, 0.0391993], rel=1e-5)
    assert math.log(found[-1].range_high) == pytest.approx(0.391993 * math.sqrt(1.01), rel=1e-5)


def test_another_host_never_widens_the_interval_of_a_homogeneous_kind_on_average():
    rng, widths = np.random.default_rng(3), []
    for hosts in (2, 3, 4, 6):
        made = []
        for _ in range(40):
            cells = [[[math.exp(value)] for value in rng.normal(0, 0.1, hosts)] for _ in range(5)]
            found = pooled(cells[0], components(cells))
            made.append(math.log(found.high / found.low))
        widths.append(fmean(made))
    assert widths == sorted(widths, reverse=True)


def test_a_pool_gives_its_value_and_interval_as_an_estimate():
    found = pooled([[1.0, 1.0], [E]], among())
    estimate = found.estimate
    assert (estimate.value, estimate.low, estimate.high) == (found.value, found.low, found.high)
    assert estimate.processes == found.processes == 3


# Ratios


def test_the_variance_of_a_ratio_is_the_sum_and_its_degrees_come_of_both():
    known = among(tau2=0.02, sigma2=0.02, degrees=2)
    found = ratio(([[E**2]], known), ([[E]], known))  # equal variances: twice the degrees
    assert logs(found)[0] == pytest.approx(1)
    assert logs(found)[2] - 1 == pytest.approx(2.776445 * math.sqrt(0.08), rel=1e-5)
    assert logs(found)[4] - 1 == pytest.approx(2.776445 * math.sqrt(0.16), rel=1e-5)
    assert logs(found)[0] - logs(found)[1] == pytest.approx(logs(found)[2] - logs(found)[0])
    assert logs(found)[0] - logs(found)[3] == pytest.approx(logs(found)[4] - logs(found)[0])


def test_a_side_without_noise_leaves_a_ratio_the_others_interval():
    side = [[E], [E**1.1]]
    exact, known = among(tau2=0, sigma2=0, degrees=3), among(degrees=5)
    alone, found = pooled(side, known), ratio((side, known), ([[1.0]], exact))
    assert logs(found) == pytest.approx(logs(alone), rel=1e-6)


def test_a_ratio_counts_the_hosts_and_processes_of_the_side_with_fewer():
    one, other = [[1.0] * 3, [1.0]], [[1.0], [1.0], [1.0]]
    found = ratio((one, among()), (other, among()))
    assert (found.hosts, found.processes) == (2, 3)


CELLS = st.lists(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=3), min_size=1, max_size=4)
VARIANCES = st.floats(1e-8, 1.0)
KNOWN = st.builds(among, VARIANCES, VARIANCES, st.floats(0.8, 100))


@settings(max_examples=50, deadline=None)
@given(CELLS, CELLS, KNOWN, KNOWN)
def test_a_by_b_times_b_by_a_is_1(one, other, mine, theirs):
    there, back = ratio((one, mine), (other, theirs)), ratio((other, theirs), (one, mine))
    assert math.log(there.value) == pytest.approx(-math.log(back.value), abs=1e-9)
    if there.low is None or back.low is None:
        assert there.low is back.low
    elif max(map(abs, logs(there) if there.high < math.inf and there.low > 0 else [1e9])) < 500:
        assert logs(there)[1:] == pytest.approx([-logs(back)[place] for place in (2, 1, 4, 3)], abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=4), st.floats(1e-3, 1e3))
def test_another_unit_changes_the_value_by_its_factor_and_nothing_else(cells, factor):
    other = [[[factor * value for value in host] for host in cell] for cell in cells]
    before, after = components(cells), components(other)
    assert after.tau2 == pytest.approx(before.tau2, rel=1e-3, abs=1e-9)
    assert after.sigma2 == pytest.approx(before.sigma2, rel=1e-3, abs=1e-9)
    for cell, same in zip(cells, other, strict=True):
        found = pooled(same, before).value / factor
        assert found == pytest.approx(pooled(cell, before).value, rel=1e-6)


# Changes


def test_a_campaign_is_a_change_from_a_pool_beyond_three_errors():
    known = among(tau2=0.03, sigma2=0.01)  # of the campaign 0.04, of four hosts 0.01
    least = math.exp(3 * math.sqrt(0.05))
    pool = [[7.0]] * 4
    assert smallest_change([[1.0]], pool, known) == pytest.approx(least)
    for factor in (least, 1 / least):
        assert changed([[7 * factor**1.001]], pool, known)
        assert not changed([[7 * factor**0.999]], pool, known)


def test_two_campaigns_have_tau_twice_in_their_error():
    known = among(tau2=0.03, sigma2=0.01)
    assert smallest_change([[1.0]], [[1.0]], known) == pytest.approx(math.exp(3 * math.sqrt(0.08)))
    assert smallest_change([[1.0] * 4], [[1.0] * 2], known) == pytest.approx(math.exp(3 * math.sqrt(0.0675)))


def test_where_little_says_how_much_hosts_differ_a_change_has_to_be_larger():
    few = among(tau2=0.03, sigma2=0.01, degrees=2)
    assert smallest_change([[1.0]], [[1.0]], few) == pytest.approx(math.exp(4.302653 * math.sqrt(0.08)), rel=1e-5)


def test_where_nothing_says_how_much_hosts_differ_no_change_can_be_called():
    nothing = components([])
    assert smallest_change([[1.0]], [[9.0]], nothing) is None
    assert changed([[1.0]], [[9.0]], nothing) is None


def test_a_wild_pool_hides_changes_that_another_shows():
    new = [[5.0]]
    assert changed(new, [[1.0], [1.1]], among())
    assert changed(new, [[1.0], [10.0]], among()) is False
    assert smallest_change(new, [[1.0], [10.0]], among()) > math.exp(12.7)


def test_a_product_has_the_errors_of_both_and_none_without_one_of_them():
    one, other = pooled(apart(0.1, 0, 1, 2), among()), pooled(apart(0.1, 4, 5), among(tau2=0.04))
    product, back = one.times(other), one.times(other).times(other.per(1))
    (value, low, high, far, _), ones, others = map(logs, (product, one, other))
    assert value == pytest.approx(ones[0] + others[0])
    assert value - low == pytest.approx(math.hypot(ones[0] - ones[1], others[0] - others[1]))
    assert high - value == pytest.approx(value - low)
    assert value - far == pytest.approx(math.hypot(ones[0] - ones[3], others[0] - others[3]))
    assert back.value == pytest.approx(one.value)
    assert (product.hosts, product.processes) == (2, 2)
    alone = pooled(apart(0.1, 0), among(degrees=0))
    assert (alone.low, one.times(alone).low, one.times(alone).range_high) == (None, None, None)

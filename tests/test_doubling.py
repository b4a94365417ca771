"""How many steps make a sample, to the call: what chains cost beside their steps, seen by twice as many."""

import random
import statistics

import pytest
from trust.worlds import World

from suite.worker import doubling

STEP = 2**-10  # seconds, so that sums are exact


def world(pace=lambda call, now: 1.0, **options):
    return World(pace, step_seconds=STEP, **options)


@pytest.mark.parametrize(("lasted", "known"), [(0.0, True), (2.0, True), (2.001, False)])
def test_a_chain_that_was_seen_to_be_long_is_not_doubled(lasted, known):
    made = world()
    steps, ratio = doubling.proportional(made.chain, 128, made.clock, lasted)
    assert (steps, ratio is not None, bool(made.steps)) == (128, known, known)


def test_doubling_takes_medians_of_three_turns():
    paces = (1.0, 1.0, 9.0, 1.0, 1.0, 9.0)
    made = world(lambda call, now: paces[call])
    assert doubling.doubling_ratio(doubling.paired_chains(made.chain, 128, made.clock)) == 2.0
    assert made.steps == [128, 256] * 3


def test_doubling_sees_a_cost_that_does_not_grow():
    made = world(overhead_seconds=0.125)
    assert doubling.doubling_ratio(doubling.paired_chains(made.chain, 128, made.clock)) == 1.5


@pytest.mark.parametrize(
    ("cost", "longest", "left"),
    [
        (0.0, 128, 0.0),
        (0.01, 128, 0.01),  # little enough
        (0.011, 202, 0.0070),
        (0.028, 512, 0.0070),
        (0.08, 1423, 0.0072),  # as PyTorch never and a deep residual network on a GPU may have it
        (0.5, 2**10, 0.0625),  # no chain is made longer than 1.5 s
    ],
)
def test_a_chain_is_made_so_long_in_one_go_that_it_costs_less_than_a_hundredth_beside_its_steps(cost, longest, left):
    seconds = 128 * STEP
    made = world(overhead_seconds=cost * seconds)
    steps, ratio = doubling.proportional(made.chain, 128, made.clock)
    assert steps == pytest.approx(longest, abs=1)
    assert cost * 128 / steps == pytest.approx(left, abs=5e-5)
    assert ratio == pytest.approx((cost * 128 + 2 * steps) / (cost * 128 + steps))
    turns = 6 if steps > 128 else 3 if cost else 1  # one within half a hundredth of 2 is enough
    assert made.steps == [128, 256] * turns + [steps, 2 * steps] * (steps > 128)


@pytest.mark.parametrize(
    ("pairs", "times"),
    [
        ([], 1.0),
        ([(1.0, 1.995)] * 6, 1.0),  # half a hundredth
        ([(0.5, 0.98)] * 6, 3.0),  # 0.02 beside 0.48 s: 5.95 times were needed, 1.5 s are the longest
        ([(0.25, 0.49)] * 6, 1 / 0.24 / 0.7),
        ([(0.25, 0.20)] * 6, 6.0),  # there is no work in it that would grow
        ([(0.25, 0.49)] * 5 + [(0.25, 0.5)], 1.0),
    ],
)
def test_a_chain_has_to_be_so_many_times_as_long(pairs, times):
    assert doubling.longer_by(pairs) == pytest.approx(times)


def test_a_longer_chain_is_of_whole_calls():
    made = world(overhead_seconds=0.02 * 120 * STEP)
    steps, _ = doubling.proportional(made.chain, 120, made.clock, call=8)
    assert (steps % 8, steps) == (0, 344)  # 120 times 0.02 over 0.007, or a little more


def test_a_cost_is_believed_when_each_of_six_turns_shows_it():
    for call, steps in ((None, 366), (1, 128), (9, 128)):
        # 2 % beside the steps, in every turn but one
        made = world(lambda at, now, call=call: 1.06 if at == call else 1.0, overhead_seconds=0.02 * 128 * STEP)
        assert doubling.proportional(made.chain, 128, made.clock)[0] == steps


def test_noise_makes_few_chains_longer_and_a_cost_within_it_is_found():
    """Of chains that cost nothing 1 in 64; of chains that vary as a GPU's do and cost 2.4 %, nearly all."""
    noise = random.Random(11)
    idle, costly = 0, 0
    for _ in range(600):
        made = world(lambda call, now: noise.lognormvariate(0, 0.1))
        idle += doubling.proportional(made.chain, 128, made.clock)[0] > 128
        made = world(lambda call, now: noise.lognormvariate(0, 0.003), overhead_seconds=0.024 * 128 * STEP)
        costly += doubling.proportional(made.chain, 128, made.clock)[0] > 128
    assert idle <= 600 * 0.03
    assert costly >= 600 * 0.93


def test_looking_for_what_a_chain_costs_takes_no_longer_than_doubling_it_did():
    """Before, a chain of 0.25 s that cost 4 % was doubled thrice, each time looked at for three turns: 10 s."""
    made = World(step_seconds=0.04, overhead_seconds=0.01)
    assert doubling.proportional(made.chain, 6, made.clock)[0] == 36
    assert made.now < 9.5


@pytest.mark.parametrize(("lasted", "turns"), [(0.5, 1), (0.51, 2), (2.0, 2), (2.01, 0)])
def test_a_chain_too_long_to_be_made_longer_has_fewer_turns_and_none_where_it_cannot_be_doubled(lasted, turns):
    made = world()
    steps, ratio = doubling.proportional(made.chain, 128, made.clock, lasted)
    assert (steps, ratio) == (128, 2.0 if turns else None)
    assert made.steps == [128, 256] * turns


def test_a_doubling_ratio_that_is_far_off_is_looked_at_again_and_what_is_so_stays_so():
    slow_once = world(lambda call, now: 1.5 if call in (1, 3) else 1.0)
    assert doubling.proportional(slow_once.chain, 128, slow_once.clock) == (128, 2.0)
    assert slow_once.steps == [128, 256] * 6
    longer = world(lambda call, now: 1.2 if call % 2 else 1.0)
    assert doubling.proportional(longer.chain, 128, longer.clock) == (128, pytest.approx(2.4))


@pytest.mark.parametrize(("bursts", "looks"), [(0, 1), (1, 2), (2, 3)])
def test_a_doubling_ratio_that_cannot_be_true_is_taken_anew(bursts, looks):
    made = world(lambda call, now: 2.0 if call % 6 in (0, 2) and call < 6 * bursts else 1.0)  # two of three
    assert doubling.checked_doubling_ratio(made.chain, 128, made.clock) == 2.0
    assert made.steps == [128, 256] * 3 * looks


def test_the_ratio_that_a_process_ends_with_is_taken_anew_where_it_cannot_be_true():
    made = world(lambda call, now: 2.0 if call in (0, 2, 6, 8) else 1.0)
    assert doubling.proportional(made.chain, 128, made.clock) == (128, 2.0)
    assert made.steps == [128, 256] * 9


def test_work_that_never_depends_on_its_steps_says_so_three_times():
    made = world(lambda call, now: 0.5 if call % 2 else 1.0)
    assert doubling.checked_doubling_ratio(made.chain, 128, made.clock) == 1.0
    assert made.steps == [128, 256] * 9


@pytest.mark.parametrize(("ratio", "looks"), [(1.2499, 3), (1.25, 1)])
def test_only_what_would_be_rejected_is_taken_anew(ratio, looks):
    made = world(lambda call, now: ratio / 2 if call % 2 else 1.0)
    assert doubling.checked_doubling_ratio(made.chain, 128, made.clock) == pytest.approx(ratio)
    assert len(made.steps) == 6 * looks


@pytest.mark.parametrize(("first", "looks"), [(1.989, 3), (1.991, 1), (2.009, 1), (2.011, 1), (2.051, 2), (1.949, 3)])
def test_what_is_close_to_twice_is_believed_at_once(first, looks):
    made = world(lambda call, now: first / 2 if call in (1, 3, 5) else 1.0)
    assert doubling.proportional(made.chain, 128, made.clock)[1] == pytest.approx(first if looks == 1 else 2.0)
    assert len(made.steps) == 6 * looks


def test_a_chain_is_made_longer_only_where_each_turn_says_so():
    made = world(lambda call, now: 0.9 if call in (1, 3) else 1.0)  # two of three turns
    assert doubling.proportional(made.chain, 128, made.clock) == (128, 2.0)


def test_noise_alone_moves_the_doubling_ratio_neither_way():
    noise = random.Random(7)
    found = []
    for _ in range(600):
        made = world(lambda call, now: noise.lognormvariate(0, 0.1))
        found.append(doubling.proportional(made.chain, 128, made.clock)[1])
    above, below = (sum(sign * (ratio - 2) > 0.1 for ratio in found) for sign in (1, -1))
    assert above + below > 60
    assert above < 1.5 * below
    assert abs(statistics.median(found) - 2) < 0.02


@pytest.mark.parametrize(("seconds", "doubled"), [(2.0, True), (2.001, False)])
def test_a_chain_beyond_two_seconds_is_not_doubled(seconds, doubled):
    made = World(step_seconds=seconds)
    assert (doubling.doubling_ratio(doubling.paired_chains(made.chain, 1, made.clock)) is not None) is doubled
    assert len(made.steps) == (6 if doubled else 1)

"""The clock's arithmetic, to the call: how often each chain runs, how long, and when it stops."""

import math
import random
import statistics
import time
from dataclasses import replace

import pytest
from trust.worlds import World

from suite.measure import clock

PLAN = clock.Plan(samples=5, chain_seconds=0.125, warmup_steps=3, warmup_seconds=1.0, sampling_seconds=10.0)
STEP = 2**-10  # seconds, so that sums are exact


def world(pace=lambda call, now: 1.0, **options):
    return World(pace, step_seconds=STEP, **options)


def planned(**changes):
    import dataclasses

    return dataclasses.replace(PLAN, **changes)


def test_the_clocks_are_those_of_the_process_and_do_not_go_back():
    assert clock.Clock().wall is time.perf_counter
    assert clock.Clock().process is time.process_time


def test_what_the_machine_slept_is_what_its_time_since_its_start_has_more_than_the_wall_clock(monkeypatch):
    monkeypatch.setattr(time, "CLOCK_BOOTTIME", "since its start", raising=False)
    monkeypatch.setattr(time, "clock_gettime", {"since its start": 1000.0, time.CLOCK_MONOTONIC: 400.0}.__getitem__)
    assert clock.asleep_seconds() == 600.0
    monkeypatch.delattr(time, "CLOCK_BOOTTIME")
    assert clock.asleep_seconds() == 0.0


def test_both_clocks_are_read_before_and_after():
    made = world()
    made.now = 5.0
    seen = clock.timed(lambda: made.chain(1024), made.clock)
    assert (seen.wall_seconds, seen.process_seconds) == (1.0, 2.0)


def test_a_sample_may_last_just_as_long_as_it_must():
    made = world()
    assert clock.steps_per_sample(made.chain, PLAN, made.clock) == 128
    assert made.steps == [1, 2, 4, 8, 16, 32, 64, 128]


def test_calibration_starts_at_the_least_and_keeps_its_multiples():
    made = world()
    assert clock.steps_per_sample(made.chain, PLAN, made.clock, 3) == 192
    assert made.steps[0] == 3


@pytest.mark.parametrize(("overhead", "most"), [(0.0, 2**16), (1e-6, 2**30)])
def test_calibration_gives_up_where_no_number_of_steps_takes_time(overhead, most):
    made = world(lambda call, now: 0.0, overhead_seconds=overhead)
    with pytest.raises(RuntimeError, match=f"^{most} steps took {overhead:g} s by the clock: it stands still, or noth"):
        clock.steps_per_sample(made.chain, PLAN, made.clock)


def test_calibration_does_not_give_up_a_step_too_early():
    made = world(lambda call, now: 1.0 if made.steps and made.steps[-1] == 2**15 else 0.0)
    assert clock.steps_per_sample(made.chain, PLAN, made.clock) == 2**16


def test_a_chain_that_does_not_move_the_clock_is_no_sample():
    made = world(lambda call, now: 0.0)
    with pytest.raises(RuntimeError, match=r"^7 steps took 0 s by the clock"):
        clock.timed_chain(made.chain, 7, made.clock)
    moved = world()
    assert clock.timed_chain(moved.chain, 1, moved.clock).wall_seconds == STEP
    assert moved.steps == [1]


def test_a_steady_warm_up_is_two_windows_of_three():
    made = world()
    taken, settled = clock.warmup(made.chain, 128, PLAN, made.clock)
    assert settled
    assert made.steps == [128] * 6
    assert [one.wall_seconds for one in taken] == [0.125] * 6


def test_a_warm_up_that_does_not_settle_lasts_the_longer_of_steps_and_seconds():
    def growing(call, now):
        return 1.5**call

    for plan, count in (
        (planned(warmup_steps=0, warmup_seconds=0), 1),
        (planned(warmup_steps=5 * 128, warmup_seconds=0), 5),
        (planned(warmup_steps=5 * 128 + 1, warmup_seconds=0), 6),
        (planned(warmup_steps=0, warmup_seconds=0.125 * (1 + 1.5 + 2.25)), 3),
        (planned(warmup_steps=0, warmup_seconds=0.125 * (1 + 1.5 + 2.25) + 0.01), 4),
        (planned(warmup_steps=1, warmup_seconds=0.125 * (1 + 1.5)), 2),
    ):
        made = world(growing)
        taken, settled = clock.warmup(made.chain, 128, plan, made.clock)
        assert (len(taken), settled) == (count, False)


@pytest.mark.parametrize(("last", "agree"), [(1.0099, True), (1.0101, False), (0.9901, True), (0.9899, False)])
def test_windows_agree_within_a_hundredth_either_way(last, agree):
    made = world(lambda call, now: (9, 9, 1, 1, 1, 1, last, last)[call])
    samples = [clock.timed_chain(made.chain, 128, made.clock) for _ in range(8)]
    assert clock.converged(samples) is agree


def test_windows_are_compared_by_their_medians():
    paces = (1.0, 5.0, 1.0, 0.2, 1.0, 1.0)
    made = world(lambda call, now: paces[call])
    samples = [clock.timed_chain(made.chain, 128, made.clock) for _ in paces]
    assert clock.converged(samples)
    assert not clock.converged(samples[:5])
    assert not clock.converged(samples[1:])


def test_only_the_last_two_windows_count():
    paces = (5.0, 5.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
    made = world(lambda call, now: paces[call])
    samples = [clock.timed_chain(made.chain, 128, made.clock) for _ in paces]
    assert [clock.converged(samples[:count]) for count in range(8)] == [False] * 8
    assert [clock.converged(samples[:count]) for count in range(8, 13)] == [True, True, True, False, False]


def test_warming_up_is_calibration_warm_up_and_one_chain_that_is_long_enough():
    made = world()
    steps, taken, settled = clock.warmed(made.chain, PLAN, made.clock)
    assert (steps, len(taken), settled) == (128, 6, True)
    assert made.steps == [1, 2, 4, 8, 16, 32, 64, *[128] * 8]
    assert clock.warmed(made.chain, PLAN, made.clock, 3)[0] == 192


@pytest.mark.parametrize(("seconds", "chains"), [(2.0, 1 + 6 + 1), (2.25, 6)])
def test_a_chain_too_long_to_double_is_calibrated_and_checked_by_its_warm_up(seconds, chains):
    made = world(lambda call, now: seconds / STEP)
    steps, taken, settled = clock.warmed(made.chain, planned(warmup_seconds=60.0), made.clock)
    assert (steps, len(taken), settled) == (1, 6, True)
    assert made.steps == [1] * chains


@pytest.mark.parametrize(("pace", "steps"), [(1 / 4, 512), (0.91, 128), (0.9001, 128), (0.89, 256)])
def test_a_chain_found_while_calls_were_slow_is_found_anew(pace, steps):
    made = world(lambda call, now: 1.0 if call < 14 else pace)
    found, taken, settled = clock.warmed(made.chain, planned(warmup_seconds=9.0), made.clock)
    assert (found, settled) == (steps, True)
    assert taken[-1].wall_seconds == pytest.approx(steps * STEP * (pace if steps > 128 else 1.0))
    assert min(made.steps[8:]) >= 128  # never shorter again
    assert len(made.steps) == 8 + 6 + 1 + (math.log2(steps / 128) + 6 + 1 if steps > 128 else 0)


USUAL = clock.Plan(samples=5, chain_seconds=0.1, warmup_steps=3, warmup_seconds=5.0, sampling_seconds=10.0)


@pytest.mark.parametrize(
    ("step_seconds", "scopes", "seconds", "short"),
    [
        (8.0, 1, 48.0, False),
        (8.0, 1, 47.9, True),
        (8.0, 2, 95.9, True),
        (8.0, 2, 96.0, False),
        (0.05, 1, 0.1, False),  # what is short anyway takes what it takes
        (8.0, 1, math.inf, False),
        (8.0, 1, -1.0, True),
    ],
)
def test_the_shortest_sample_is_taken_of_long_steps_alone_that_leave_no_time(step_seconds, scopes, seconds, short):
    found = clock.fitting(USUAL, step_seconds, scopes, seconds)
    assert found == (replace(USUAL, samples=1, warmup_steps=1, warmup_seconds=0.0) if short else USUAL)


@pytest.mark.parametrize(("warmup_steps", "seconds", "short"), [(0, 32.0, False), (0, 31.9, True), (1, 32.0, False)])
def test_at_least_one_chain_warms_up_before_three_samples(warmup_steps, seconds, short):
    plan = replace(USUAL, warmup_steps=warmup_steps)
    assert (clock.fitting(plan, 8.0, 1, seconds) != plan) is short


@pytest.mark.parametrize(("lasted", "known"), [(0.0, True), (2.0, True), (2.001, False)])
def test_a_chain_that_was_seen_to_be_long_is_not_doubled(lasted, known):
    made = world()
    steps, ratio = clock.proportional(made.chain, 128, made.clock, lasted)
    assert (steps, ratio is not None, bool(made.steps)) == (128, known, known)


def test_doubling_takes_medians_of_three_turns():
    paces = (1.0, 1.0, 9.0, 1.0, 1.0, 9.0)
    made = world(lambda call, now: paces[call])
    assert clock.doubling_ratio(clock.turns(made.chain, 128, made.clock)) == 2.0
    assert made.steps == [128, 256] * 3


def test_doubling_sees_a_cost_that_does_not_grow():
    made = world(overhead_seconds=0.125)
    assert clock.doubling_ratio(clock.turns(made.chain, 128, made.clock)) == 1.5


@pytest.mark.parametrize(
    ("overhead", "steps", "ratio"),
    [
        (0.0, 128, 2.0),
        (STEP * 128 / 64, 128, 129 / 65),  # 1.985: proportional enough
        (STEP * 128 / 32, 256, 129 / 65),
        (STEP * 128 / 8, 512, 65 / 33),
        (STEP * 128, 512, 9 / 5),  # twice as long would be beyond a second
    ],
)
def test_a_chain_is_made_longer_until_what_it_costs_beside_its_steps_is_small(overhead, steps, ratio):
    made = world(overhead_seconds=overhead)
    assert clock.proportional(made.chain, 128, made.clock) == (steps, pytest.approx(ratio))


@pytest.mark.parametrize(("overhead", "steps"), [(0.5, 256), (0.5 + STEP, 128)])
def test_a_chain_is_made_longer_where_twice_of_it_lasts_a_second_at_most(overhead, steps):
    made = World(step_seconds=2**-9, overhead_seconds=overhead)  # twice as many steps as are asked for last a second
    assert clock.proportional(made.chain, 128, made.clock)[0] == steps
    assert made.steps[:7] == [128, 256] * 3 + [256]


def test_turns_of_just_so_much_less_than_twice_make_no_chain_longer(monkeypatch):
    monkeypatch.setattr(clock, "turns", lambda *_: [(1.0, 2 - 0.02)] * 3)  # by rounding not "close to"
    assert clock.proportional(world().chain, 128, world().clock) == (128, 1.98)


@pytest.mark.parametrize(("lasted", "turns"), [(0.5, 3), (0.51, 2), (2.0, 2), (2.01, 0)])
def test_a_chain_too_long_to_be_made_longer_has_fewer_turns_and_none_where_it_cannot_be_doubled(lasted, turns):
    made = world()
    steps, ratio = clock.proportional(made.chain, 128, made.clock, lasted)
    assert (steps, ratio) == (128, 2.0 if turns else None)
    assert made.steps == [128, 256] * turns


def test_steps_too_long_for_the_time_left_get_one_chain_to_warm_up_and_one_sample():
    plan = planned(warmup_steps=3)
    assert clock.fitting(plan, 8.0, 2, 96.0) is plan  # three chains to warm up and three samples, in two scopes
    short = clock.fitting(plan, 8.0, 2, 95.9)
    assert (short.samples, short.warmup_steps, short.warmup_seconds) == (1, 1, 0.0)
    made = World(step_seconds=8.0)
    assert clock.warmed(made.chain, short, made.clock)[0] == 1
    assert len(list(clock.samples(made.chain, 1, short, made.clock))) == 1
    assert made.steps == [1, 1]
    assert clock.fitting(plan, plan.chain_seconds / 2, 2, 0.0) is plan  # short steps fit in any time


def test_a_chain_is_made_longer_thrice_at_most():
    made = World(step_seconds=STEP / 64, overhead_seconds=0.125)
    assert clock.proportional(made.chain, 128, made.clock)[0] == 8 * 128


def test_a_doubling_ratio_that_is_far_off_is_looked_at_again_and_what_is_so_stays_so():
    slow_once = world(lambda call, now: 1.5 if call in (1, 3) else 1.0)
    assert clock.proportional(slow_once.chain, 128, slow_once.clock) == (128, 2.0)
    assert slow_once.steps == [128, 256] * 6
    longer = world(lambda call, now: 1.2 if call % 2 else 1.0)
    assert clock.proportional(longer.chain, 128, longer.clock) == (128, pytest.approx(2.4))


@pytest.mark.parametrize(("bursts", "looks"), [(0, 1), (1, 2), (2, 3)])
def test_a_doubling_ratio_that_cannot_be_true_is_taken_anew(bursts, looks):
    made = world(lambda call, now: 2.0 if call % 6 in (0, 2) and call < 6 * bursts else 1.0)  # two of three
    assert clock.looked_at(made.chain, 128, made.clock) == 2.0
    assert made.steps == [128, 256] * 3 * looks


def test_the_ratio_that_a_process_ends_with_is_taken_anew_where_it_cannot_be_true():
    made = world(lambda call, now: 2.0 if call in (0, 2, 6, 8) else 1.0)
    assert clock.proportional(made.chain, 128, made.clock) == (128, 2.0)
    assert made.steps == [128, 256] * 9


def test_work_that_never_depends_on_its_steps_says_so_three_times():
    made = world(lambda call, now: 0.5 if call % 2 else 1.0)
    assert clock.looked_at(made.chain, 128, made.clock) == 1.0
    assert made.steps == [128, 256] * 9


@pytest.mark.parametrize(("ratio", "looks"), [(1.2499, 3), (1.25, 1)])
def test_only_what_would_be_rejected_is_taken_anew(ratio, looks):
    made = world(lambda call, now: ratio / 2 if call % 2 else 1.0)
    assert clock.looked_at(made.chain, 128, made.clock) == pytest.approx(ratio)
    assert len(made.steps) == 6 * looks


@pytest.mark.parametrize(("first", "looks"), [(1.979, 3), (1.981, 1), (2.019, 1), (2.021, 2)])
def test_what_is_close_to_twice_is_believed_at_once(first, looks):
    made = world(lambda call, now: first / 2 if call in (1, 3, 5) else 1.0)
    assert clock.proportional(made.chain, 128, made.clock)[1] == pytest.approx(first if looks == 1 else 2.0)
    assert len(made.steps) == {1: 6, 2: 12, 3: 13}[looks]


def test_a_chain_is_made_longer_only_where_each_turn_says_so():
    made = world(lambda call, now: 0.9 if call in (1, 3) else 1.0)  # two of three turns
    assert clock.proportional(made.chain, 128, made.clock) == (128, 2.0)


def test_noise_alone_moves_the_doubling_ratio_neither_way():
    noise = random.Random(7)
    found = []
    for _ in range(600):
        made = world(lambda call, now: noise.lognormvariate(0, 0.1))
        found.append(clock.proportional(made.chain, 128, made.clock)[1])
    above, below = (sum(sign * (ratio - 2) > 0.1 for ratio in found) for sign in (1, -1))
    assert above + below > 60
    assert above < 1.5 * below
    assert abs(statistics.median(found) - 2) < 0.02


@pytest.mark.parametrize(("seconds", "doubled"), [(2.0, True), (2.001, False)])
def test_a_chain_beyond_two_seconds_is_not_doubled(seconds, doubled):
    made = World(step_seconds=seconds)
    assert (clock.doubling_ratio(clock.turns(made.chain, 1, made.clock)) is not None) is doubled
    assert len(made.steps) == (6 if doubled else 1)


@pytest.mark.parametrize(
    ("step", "count"), [(0.5, 5), (3.0, 4), (3.3, 4), (3.34, 3), (10.0, 3), (60.0, 3), (10 / 3, 3), (2.5, 4)]
)
def test_samples_are_as_planned_unless_they_take_too_long_and_never_below_three(step, count):
    made = World(step_seconds=step)
    taken = list(clock.samples(made.chain, 1, PLAN, made.clock))
    assert [one.wall_seconds for one in taken] == pytest.approx([step] * count)
    assert len(made.steps) == count


def test_two_samples_are_two_if_no_more_are_planned():
    made = World(step_seconds=100.0)
    assert len(list(clock.samples(made.chain, 1, planned(samples=2), made.clock))) == 2

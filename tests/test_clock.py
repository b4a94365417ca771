"""The clock's arithmetic, to the call: how often each chain runs, how long, and when it stops."""

import math
import random
import statistics
import time
from dataclasses import replace

import pytest
from trust.worlds import World

from suite.worker_api import clock

PLAN = clock.Plan(
    samples=5,
    chain_seconds=0.125,
    warmup_steps=3,
    warmup_least_seconds=0.75,
    warmup_seconds=1.0,
    sampling_seconds=10.0,
)
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


def test_a_steady_warm_up_ends_when_it_has_lasted_its_least():
    made = world()
    taken = clock.warmup(made.chain, 128, PLAN, made.clock)
    assert clock.settled(taken)
    assert made.steps == [128] * 6
    assert [one.wall_seconds for one in taken] == [0.125] * 6


@pytest.mark.parametrize(
    ("steps", "seconds", "count"), [(0, 0.0, 2), (0, 1.0, 8), (0, 1.01, 9), (5 * 128, 0.0, 5), (5 * 128 + 1, 0.0, 6)]
)
def test_a_steady_warm_up_has_its_least_steps_and_seconds(steps, seconds, count):
    made = world()
    plan = planned(warmup_steps=steps, warmup_least_seconds=seconds, warmup_seconds=9.0)
    taken = clock.warmup(made.chain, 128, plan, made.clock)
    assert (len(taken), clock.settled(taken)) == (count, True)


def test_a_warm_up_goes_on_while_times_fall_and_no_longer_than_its_limit():
    def falling(call, now):
        return 0.75**call

    for plan, count in (
        (planned(warmup_steps=0, warmup_least_seconds=0, warmup_seconds=0), 1),
        (planned(warmup_steps=5 * 128, warmup_least_seconds=0, warmup_seconds=0), 5),
        (planned(warmup_steps=5 * 128 + 1, warmup_least_seconds=0, warmup_seconds=0), 6),
        (planned(warmup_steps=0, warmup_least_seconds=0, warmup_seconds=0.125 * (1 + 0.75 + 0.5625)), 3),
        (planned(warmup_steps=0, warmup_least_seconds=0, warmup_seconds=0.125 * (1 + 0.75 + 0.5625) + 0.01), 4),
    ):
        made = world(falling)
        taken = clock.warmup(made.chain, 128, plan, made.clock)
        assert (len(taken), clock.settled(taken)) == (count, False)


def test_a_slow_fall_that_hides_in_noise_from_chain_to_chain_is_waited_for():
    noise = random.Random(3)
    made = world(lambda call, now: (1 + 0.3 * math.exp(-now / 1.5)) * noise.lognormvariate(0, 0.02))
    taken = clock.warmup(made.chain, 128, planned(warmup_least_seconds=4.0, warmup_seconds=8.0), made.clock)
    assert (clock.settled(taken), sum(one.wall_seconds for one in taken) < 8.0) == (True, True)
    assert statistics.median(one.wall_seconds for one in taken[-8:]) == pytest.approx(0.125, rel=0.03)


@pytest.mark.parametrize(("last", "ended"), [(0.9901, True), (0.9899, False), (1.5, True)])
def test_a_warm_up_has_ended_where_the_last_quarter_is_no_more_than_a_hundredth_below_the_one_before(last, ended):
    paces = (9.0, 9.0, 9.0, 9.0, 1.0, 1.0, last, last)
    made = world(lambda call, now: paces[call])
    samples = [clock.timed_chain(made.chain, 128, made.clock) for _ in paces]
    assert clock.settled(samples) is ended


def test_quarters_are_compared_by_their_medians_and_one_chain_tells_nothing():
    paces = (1.0,) * 6 + (1.0, 5.0, 1.0, 0.2, 1.0, 1.0)
    made = world(lambda call, now: paces[call])
    samples = [clock.timed_chain(made.chain, 128, made.clock) for _ in paces]
    assert clock.settled(samples)
    assert not clock.settled(samples[:10])  # two and two: their medians are means
    assert [clock.settled(samples[:count]) for count in (0, 1, 2, 3)] == [False, False, True, True]


def test_warming_up_is_calibration_warm_up_and_one_chain_that_is_long_enough():
    made = world()
    steps, taken = clock.calibrate(made.chain, PLAN, made.clock)
    assert (steps, len(taken), clock.settled(taken)) == (128, 6, True)
    assert made.steps == [1, 2, 4, 8, 16, 32, 64, *[128] * 8]
    assert clock.calibrate(made.chain, PLAN, made.clock, 3)[0] == 192


@pytest.mark.parametrize(("seconds", "chains"), [(2.0, 1 + 3 + 1), (2.25, 3)])
def test_a_chain_too_long_to_double_is_calibrated_and_checked_by_its_warm_up(seconds, chains):
    made = world(lambda call, now: seconds / STEP)
    steps, taken = clock.calibrate(made.chain, planned(warmup_seconds=60.0), made.clock)
    assert (steps, len(taken), clock.settled(taken)) == (1, 3, True)
    assert made.steps == [1] * chains


@pytest.mark.parametrize(("pace", "steps"), [(1 / 4, 512), (0.91, 128), (0.9001, 128), (0.89, 256)])
def test_a_chain_found_while_calls_were_slow_is_found_anew(pace, steps):
    made = world(lambda call, now: 1.0 if call < 14 else pace)
    found, taken = clock.calibrate(made.chain, planned(warmup_seconds=9.0), made.clock)
    assert (found, clock.settled(taken)) == (steps, True)
    assert taken[-1].wall_seconds == pytest.approx(steps * STEP * (pace if steps > 128 else 1.0))
    assert min(made.steps[8:]) >= 128  # never shorter again
    again = 2  # of the least duration nothing is left, so that two chains show that times no longer fall
    assert len(made.steps) == 8 + 6 + 1 + (math.log2(steps / 128) + again + 1 if steps > 128 else 0)


USUAL = clock.Plan(
    samples=5,
    chain_seconds=0.1,
    warmup_steps=3,
    warmup_least_seconds=4.0,
    warmup_seconds=8.0,
    sampling_seconds=10.0,
)


@pytest.mark.parametrize(
    ("step_seconds", "scopes", "seconds", "short"),
    [
        (8.0, 1, 48.0, False),
        (8.0, 1, 47.9, True),
        (8.0, 2, 95.9, True),
        (8.0, 2, 96.0, False),
        (1.0, 1, 7.0, False),  # four seconds to warm up, three samples
        (1.0, 1, 6.9, True),
        (0.05, 1, 0.1, False),  # what is short anyway takes what it takes
        (8.0, 1, math.inf, False),
        (8.0, 1, -1.0, True),
    ],
)
def test_the_shortest_sample_is_taken_of_long_steps_alone_that_leave_no_time(step_seconds, scopes, seconds, short):
    found = clock.fitting(USUAL, step_seconds, scopes, seconds)
    assert found == (
        replace(USUAL, samples=1, warmup_steps=1, warmup_least_seconds=0.0, warmup_seconds=0.0) if short else USUAL
    )


@pytest.mark.parametrize(("warmup_steps", "seconds", "short"), [(0, 32.0, False), (0, 31.9, True), (1, 32.0, False)])
def test_at_least_one_chain_warms_up_before_three_samples(warmup_steps, seconds, short):
    plan = replace(USUAL, warmup_steps=warmup_steps)
    assert (clock.fitting(plan, 8.0, 1, seconds) != plan) is short


def test_steps_too_long_for_the_time_left_get_one_chain_to_warm_up_and_one_sample():
    plan = planned(warmup_steps=3)
    assert clock.fitting(plan, 8.0, 2, 96.0) is plan  # three chains to warm up and three samples, in two scopes
    short = clock.fitting(plan, 8.0, 2, 95.9)
    assert (short.samples, short.warmup_steps, short.warmup_seconds) == (1, 1, 0.0)
    made = World(step_seconds=8.0)
    assert clock.calibrate(made.chain, short, made.clock)[0] == 1
    assert len(list(clock.samples(made.chain, 1, short, made.clock))) == 1
    assert made.steps == [1, 1]
    assert clock.fitting(plan, plan.chain_seconds / 2, 2, 0.0) is plan  # short steps fit in any time


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


def test_the_step_goes_on_for_as_long_as_energy_is_counted():
    now = [0.0]

    def chain(steps):
        now[0] += steps * 0.5

    ticking = clock.Clock(wall=lambda: now[0], process=lambda: now[0])
    assert clock.sustained(chain, 4, 11.0, ticking) == pytest.approx(0.5)
    assert now[0] == 12.0

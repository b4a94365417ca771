"""How many threads would equal a faster device: right where the law holds, never where no number does."""

import math
import random

import pytest

from suite.results.stats.amdahl import Timed, amdahl

COUNTS = (1, 2, 4, 8, 16)


def law(fixed, divided, counts=COUNTS, error=0.02, degrees=6.0, draw=None, common=False):
    shares = [math.exp(draw.gauss(0, error)) if draw else 1.0 for _ in counts]
    shares = shares[:1] * len(counts) if common else shares
    times = [(fixed + divided / count) * share for count, share in zip(counts, shares, strict=True)]
    made = amdahl(counts, [Timed(seconds=time, error=error, degrees=degrees) for time in times])
    assert made is not None
    return made


def gpu(seconds, error=0.01, degrees=6.0):
    return Timed(seconds=seconds, error=error, degrees=degrees)


def test_the_law_of_exact_times_is_found():
    found = law(0.5, 8.0)
    assert (found.fixed, found.divided) == pytest.approx((0.5, 8.0))
    assert found.at(32).value == pytest.approx(0.75)
    assert found.at(math.inf).value == pytest.approx(0.5)
    assert found.reaching(gpu(1.0)).value == pytest.approx(16)


@pytest.mark.parametrize(("seconds", "threads"), [(10.0, 1), (0.45, math.inf), (0.3, math.inf)])
def test_one_thread_and_none_are_answers(seconds, threads):
    assert law(0.5, 8.0).reaching(gpu(seconds)).value == threads


def test_what_is_surely_above_the_gpu_without_end_is_never():
    found = law(0.5, 8.0).reaching(gpu(0.1))
    assert (found.value, found.low, found.high) == (math.inf,) * 3
    near = law(0.5, 8.0).reaching(gpu(0.49))
    assert near.value == near.high == math.inf
    assert near.low < 1000, "within the error some number may do"


def test_a_time_that_no_thread_shortens_and_one_that_all_share_are_laws():
    assert law(1.0, 0.0).divided == pytest.approx(0, abs=1e-9)
    assert law(0.0, 8.0).fixed == pytest.approx(0, abs=1e-9)
    better = amdahl(COUNTS, [gpu(8.0 / count**1.1) for count in COUNTS])  # than its share
    assert better is not None
    assert better.fixed == 0


def test_two_numbers_of_threads_make_no_law():
    assert amdahl((1, 2), [gpu(1.0), gpu(0.5)]) is None


def test_without_known_errors_there_is_no_interval():
    found = law(0.5, 8.0, degrees=0.0)
    assert found.at(4).low is None
    assert found.reaching(gpu(1.0)).low is None
    assert law(0.5, 8.0).reaching(gpu(1.0, degrees=0.0)).low is None


def test_times_that_do_not_follow_the_law_are_less_certain():
    bent = [1.0, 0.7, 0.3, 0.28, 0.1]
    straight = law(0.05, 0.95).at(math.inf)
    wide = amdahl(COUNTS, [gpu(time, error=0.02) for time in bent])
    assert wide is not None
    assert wide.at(math.inf).high - wide.at(math.inf).low > 3 * (straight.high - straight.low)


@pytest.mark.parametrize(
    ("fixed", "seconds"), [(0.5, 1.0), (0.5, 0.7), (0.0, 0.2), (0.5, 0.45)], ids=["16", "40", "40, no rest", "never"]
)
@pytest.mark.parametrize("counts", [COUNTS, COUNTS[:4]])
@pytest.mark.parametrize("common", [False, True])
def test_the_interval_of_the_threads_holds_the_truth_whether_errors_are_common_to_all_times(
    fixed, seconds, counts, common
):
    draw, held, trials = random.Random(3), 0, 400
    true = 8.0 / (seconds - fixed) if seconds > fixed else math.inf
    for _ in range(trials):
        device = gpu(seconds * math.exp(draw.gauss(0, 0.01)), degrees=1e4)
        found = law(fixed, 8.0, counts, degrees=1e4, draw=draw, common=common).reaching(device)
        held += found.low <= true * (1 + 1e-9) and true <= found.high * (1 + 1e-9)
    assert held >= 0.93 * trials, held


def test_times_that_a_gpu_never_loses_are_called_never_as_seldom_as_the_interval_says():
    """Of times that 300 threads would equal, at most one in twenty is called surely never."""
    draw = random.Random(5)
    sure = sum(
        law(0.1, 3.0, draw=draw).reaching(gpu(0.11 * math.exp(draw.gauss(0, 0.01)))).low == math.inf for _ in range(400)
    )
    assert sure <= 0.05 * 400

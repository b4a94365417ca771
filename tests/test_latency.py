"""How long requests took, in quantiles of each process, and what a step takes that is waited for."""

import factory
import msgspec
import pytest

from suite.results.records.run import Sample, Served
from suite.results.single.latency import blocking_step, latency, quantile, quantiles
from suite.results.single.summary import summary


def served(waits=(0.040,), **changes):
    return Served(in_flight=4, latency_seconds=tuple(waits), pictures=64, answers=60, wrong_answers=0, **changes)


def requests(*waits, seconds=0.010):
    """A record of one process for each of these tuples of waits; None for a process that told nothing of requests."""
    runs = tuple(
        factory.run(number, seconds, served=None if each is None else served(each)) for number, each in enumerate(waits)
    )
    return factory.record(scope="serve", batch=1, step_seconds=(seconds,) * len(runs), runs=runs)


def blocking(*waits, scope="serve"):
    """A record of one process for each of these tuples of requests that it waited for."""
    runs = tuple(
        factory.run(
            number,
            0.010,
            served=served(),
            blocking_samples=tuple(Sample(wall_seconds=wait, process_seconds=wait) for wait in each),
        )
        for number, each in enumerate(waits)
    )
    return factory.record(scope=scope, batch=1, step_seconds=(0.010,) * len(runs), runs=runs)


def alone(*waits, steps=4):
    """A record of one process for each of these tuples of steps that it waited for."""
    runs = tuple(
        factory.run(
            number,
            0.001,
            steps=steps,
            blocking_samples=tuple(Sample(wall_seconds=wait, process_seconds=wait) for wait in each),
        )
        for number, each in enumerate(waits)
    )
    return factory.record(step_seconds=(0.001,) * len(runs), runs=runs)


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 1.0), (0.004, 1.0), (0.0051, 2.0), (0.5, 100.0), (0.99, 198.0), (1.0, 200.0)]
)
def test_a_quantile_is_the_least_value_that_so_many_do_not_exceed(share, value):
    assert quantile([float(index) for index in range(200, 0, -1)], share) == value


def test_a_share_that_binary_numbers_miss_by_a_little_takes_no_value_more():
    assert 0.07 * 100 > 7
    assert quantile([float(index) for index in range(1, 101)], 0.07) == 7.0


def test_of_no_values_there_is_no_quantile():
    with pytest.raises(ValueError, match=r"^a quantile needs values, got none$"):
        quantile([], 0.5)


def test_a_latency_is_of_half_and_of_99_of_100_requests():
    waits = [0.001 * index for index in range(1, 201)]
    found = latency(requests(waits, waits))
    assert found.median.value == pytest.approx(0.100)
    assert found.tail.value == pytest.approx(0.198)
    assert found.rate.value == pytest.approx(100, rel=0.01)
    assert found.requests == 400


def test_a_process_that_failed_or_told_of_no_request_gives_no_number():
    made = requests((0.040,), (0.050,), None, ())
    failed = msgspec.structs.replace(made.runs[0], reason="killed")
    assert quantiles(msgspec.structs.replace(made, runs=(failed, *made.runs[1:])), 0.5) == {1: 0.050}


def test_where_nobody_told_of_requests_there_is_no_latency():
    found = latency(requests(None))
    assert (found.median, found.tail, found.requests) == (None, None, 0)


def test_a_latency_without_a_time_has_no_rate():
    made = requests((0.040,))
    failed = msgspec.structs.replace(made.runs[0], reason="killed", samples=())
    assert latency(msgspec.structs.replace(made, runs=(failed,))).rate is None


def test_a_step_that_is_waited_for_is_that_which_each_process_waited_for():
    found = blocking_step(summary(alone((0.002, 0.004), (0.003,))))
    assert found.seconds.value == pytest.approx(0.003)
    assert found.seconds.processes == 2


def test_a_sample_of_one_step_is_a_step_that_is_waited_for_and_of_several_is_none():
    found = blocking_step(summary(alone((), (), steps=1)))
    assert found.seconds.value == pytest.approx(0.001, rel=0.01)
    assert blocking_step(summary(alone((0.002,), ()))) is None


def test_a_process_that_failed_waited_for_none_and_takes_none_from_the_others():
    made = alone((0.002,), ())
    failed = msgspec.structs.replace(made.runs[1], reason="killed", samples=())
    found = blocking_step(summary(msgspec.structs.replace(made, runs=(made.runs[0], failed))))
    assert (found.seconds.value, found.seconds.processes) == (pytest.approx(0.002), 1)
    only = msgspec.structs.replace(made, runs=(failed,))
    assert blocking_step(summary(only)) is None


def test_what_speaks_against_the_step_stands_before_its_own_wide_interval_and_once():
    made = alone((0.001,), (0.002,), (0.004,))
    item = summary(msgspec.structs.replace(made, reason="it was cut short"))
    first, second = blocking_step(item).reasons
    assert first == "it was cut short"
    assert second.startswith("half-width ")
    assert blocking_step(blocking_step(item)).reasons == (first, second)


def test_a_request_that_is_waited_for_is_the_mean_of_each_process():
    found = latency(blocking((0.02, 0.04), (0.03, 0.03), (0.01, 0.05)))
    assert found.blocking.seconds.value == pytest.approx(0.03)
    assert found.blocking.seconds.processes == 3


def test_without_requests_that_are_waited_for_there_is_no_such_time():
    assert latency(blocking((), ())).blocking is None
    assert latency(blocking((0.02,), ())).blocking is None
    assert latency(blocking((0.02,), (0.02,), scope="step")).blocking is None

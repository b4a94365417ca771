"""A step stands below the ceilings of its machine; where one was not measured, the reason says which."""

import factory
import msgspec
import pytest

from suite.results.single import roofline
from suite.results.single.summary import summary

ONE_SECOND = (1.0, 1.0, 1.0)


def matmul(rate=1e12, **changes):
    about = factory.description(
        "ceiling_matmul", batch=1, family="ceiling", flop_per_example=int(rate), forward_flop_per_example=0
    )
    return factory.record("ceiling_matmul", step_seconds=ONE_SECOND, about=about, **changes)


def copy(rate=1e10, **changes):
    about = factory.description(
        "ceiling_copy", batch=1, family="ceiling", flop_per_example=0, forward_flop_per_example=0
    )
    runs = tuple(factory.run(number, 1.0, bytes_per_step=int(rate)) for number in range(3))
    return factory.record("ceiling_copy", step_seconds=ONE_SECOND, about=about, runs=runs, **changes)


def step(flop=10**9, moved=10**6, seconds=0.002, **changes):
    about = factory.description(batch=1, flop_per_example=flop, forward_flop_per_example=0)
    runs = tuple(factory.run(number, seconds, bytes_per_step=moved) for number in range(3))
    return factory.record(step_seconds=(seconds,) * 3, about=about, runs=runs, **changes)


def rates(*records):
    return [ceiling.rate for ceiling in roofline.roof(records).values()]


def test_only_all_cores_or_one_gpu_at_their_step_make_a_ceiling():
    assert rates(matmul()) == [pytest.approx(1e12, rel=0.01)]
    assert rates(copy()) == [pytest.approx(1e10, rel=0.01)]
    others = [{"threads": 2}, {"backend": "gpu", "devices": 2}, {"scope": "cold"}, {"runs": ()}]
    assert rates(*(matmul(**other) for other in others)) == []
    assert rates(step()) == []
    assert (roofline.is_ceiling(matmul()), roofline.is_ceiling(step())) == (True, False)


def test_the_newest_of_each_size_counts_and_the_fastest_of_the_sizes():
    newer = {"created": "2026-02-01T00:00:00Z", "campaign": "20260201-000000-test"}
    assert rates(matmul(9e11, **newer), matmul(1e12)) == [pytest.approx(9e11, rel=0.01)]
    for sizes in ((1, 2), (2, 1)):
        small, large = (msgspec.structs.replace(matmul(), case=matmul(batch=size).case) for size in sizes)
        assert rates(small, large) == [pytest.approx(2e12, rel=0.01)]


def test_a_step_is_held_against_both_ceilings_and_the_nearer_is_its_floor():
    both = roofline.roof([matmul(), copy()])
    computing = roofline.share(summary(step()), both)
    assert (computing.mfu, computing.floor_seconds) == (pytest.approx(0.5, rel=0.01), pytest.approx(0.001, rel=0.01))
    assert computing.of_floor == pytest.approx(0.5, rel=0.01)
    assert (computing.intensity, computing.reason) == (1000, "")
    moving = roofline.share(summary(step(moved=10**7)), both)
    assert (moving.floor_seconds, moving.intensity) == (pytest.approx(0.001, rel=0.01), 100)
    copied = roofline.share(summary(step(flop=0)), both)
    assert (copied.mfu, copied.intensity) == (None, 0)
    assert copied.floor_seconds == pytest.approx(1e-4, rel=0.01)
    assert copied.reason == "no FLOP are counted where nothing is multiplied"


@pytest.mark.parametrize(
    ("ceilings", "changes", "reason"),
    [
        ((), {}, "ceiling of float32-highest products and memory not measured on this CPU"),
        ((copy(),), {}, "ceiling of float32-highest products not measured on this CPU"),
        ((matmul(), copy()), {"machine": factory.PLAIN}, "ceiling of float32-highest products and memory not"),
        ((matmul(), copy()), {"backend": "gpu"}, "ceiling of float32-highest products and memory not"),
        ((matmul(), copy()), {"threads": 2}, "the ceilings are of all cores, or of one GPU"),
        (
            (matmul(backend="gpu"), copy(backend="gpu")),
            {"backend": "gpu", "devices": 2},
            "the ceilings are of all cores, or of one GPU",
        ),
    ],
)
def test_a_step_without_its_ceilings_has_no_share_and_says_why(ceilings, changes, reason):
    found = roofline.share(summary(step(**changes)), roofline.roof(ceilings))
    assert (found.mfu, found.floor_seconds, found.of_floor, found.intensity) == (None, None, None, 1000)
    assert found.reason.startswith(reason)


def test_without_the_ceiling_of_memory_there_is_no_floor():
    found = roofline.share(summary(step()), roofline.roof([matmul()]))
    assert (found.mfu, found.floor_seconds, found.of_floor) == (pytest.approx(0.5, rel=0.01), None, None)
    assert (found.intensity, found.reason) == (1000, "ceiling of memory not measured on this CPU")


def test_a_step_that_was_not_timed_says_so():
    found = roofline.share(summary(factory.record(runs=())), roofline.roof([matmul(), copy()]))
    assert (found.mfu, found.reason) == (None, "no time was measured")


def test_a_record_that_does_not_say_moves_its_parameters_and_back_if_it_is_trained():
    about = factory.description(parameters=1000, trainable_parameters=900)
    assert roofline.least_bytes(factory.record(about=about)) == 4 * 2 * 900
    inferred = msgspec.structs.replace(about, flop_per_example=about.forward_flop_per_example)
    assert roofline.least_bytes(factory.record(about=inferred)) == 4 * 1000
    assert roofline.least_bytes(step(moved=7)) == 7

"""What a key means: its stored line if it is pinned, else the current pool; what is unknown is an error with help."""

import factory
import pytest

from suite.results.cite import stored_pools
from suite.results.cite.numbers import Numbers

NOISE = (1.0, 1.01, 0.99)


def step(seconds, backend="cpu", workload="mnist_mlp", **axes):
    return factory.record(workload, backend, [seconds * share for share in NOISE], **axes)


RECORDS = factory.on_hosts([step(0.010), step(0.001, "gpu"), step(0.020, workload="cifar10_mlp")])
CURRENT = Numbers(RECORDS).current
KEY = next(key for key in CURRENT if key.endswith("mnist_mlp/cpu/step/seconds"))
OTHER = next(key for key in CURRENT if key.endswith("cifar10_mlp/cpu/step/seconds"))
LINES = {key: stored_pools.line_of(CURRENT[key]) for key in (KEY, OTHER)}


def test_a_pinned_key_means_its_own_line_whatever_else_is_stored():
    numbers = Numbers(RECORDS, LINES.values())
    for key, line in LINES.items():
        number = numbers.resolve(f"{key}@{line.digest[:16]}")
        assert (number.key.unpinned.text(), number.value.value) == (key, pytest.approx(CURRENT[key].value.value))
    with pytest.raises(LookupError, match=f"'{KEY}' names its current number"):
        numbers.resolve(f"{KEY}@{LINES[OTHER].digest[:16]}")


def test_a_pinned_key_keeps_its_number_when_its_machine_is_measured_again():
    further = factory.on_hosts([step(0.030)], (1.0,) * 6)[3:]  # three more hosts, slower
    numbers = Numbers([*RECORDS, *further], LINES.values())
    assert numbers.resolve(f"{KEY}@{LINES[KEY].digest[:16]}").value.value == pytest.approx(0.010, rel=0.02)
    assert numbers.resolve(KEY).value.value > 0.012


def test_a_pinned_key_whose_records_are_gone_names_them():
    with pytest.raises(LookupError, match=r"lacks records: .*; restore them in site/records"):
        Numbers([], LINES.values()).resolve(f"{KEY}@{LINES[KEY].digest[:16]}")


def test_a_digest_under_a_key_that_nothing_has_is_answered_with_the_nearest_key():
    wrong = KEY.replace("mnist_mlp", "mnist_mlq") + "@0123456789abcdef"
    with pytest.raises(LookupError, match=f"nothing has key '{wrong}'; the nearest is '{KEY}'"):
        Numbers(RECORDS).resolve(wrong)


def test_a_key_like_no_other_is_answered_without_a_nearest_one():
    with pytest.raises(LookupError) as caught:
        Numbers([]).resolve(KEY)
    assert str(caught.value) == f"nothing has key '{KEY}'"


def test_a_current_number_is_pinned_to_its_stored_line_if_there_is_one():
    numbers = Numbers(RECORDS, LINES.values())
    for key, line in LINES.items():
        assert numbers.pinned(numbers.resolve(key)).key.text() == f"{key}@{line.digest[:16]}"
    speed_up = next(number for key, number in CURRENT.items() if key.endswith("gpu/step/speedup"))
    assert numbers.pinned(speed_up) is speed_up
    assert Numbers(RECORDS).pinned(CURRENT[KEY]) is CURRENT[KEY]
    moved = Numbers(factory.on_hosts([step(0.030)]), LINES.values())
    assert moved.pinned(moved.resolve(KEY)).key.text() == KEY


def test_the_newest_number_of_a_key_is_the_current_one():
    numbers = Numbers(RECORDS, LINES.values())
    pinned = numbers.resolve(f"{KEY}@{LINES[KEY].digest[:16]}")
    assert numbers.latest(pinned).key.text() == KEY
    assert Numbers([], LINES.values()).latest(pinned) is None

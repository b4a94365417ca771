"""Keys name one number: their grammar is frozen, and they mean the newest citable result or the pinned one."""

import string

import factory
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.results import keys
from suite.results.record import Record
from suite.workload import Case

# What people have quoted must mean the same for ever: lines are added here, never changed.
FROZEN = {
    "test-gpu-16-cores/mnist_mlp/gpu/step/speedup": {"backend": "gpu"},
    "test-gpu-16-cores/mnist_mlp/cpu/step/seconds": {},
    "test-gpu-16-cores/mnist_mlp/cpu/step/allocator=system/seconds": {"allocator": "system"},
    "test-gpu-16-cores/mnist_mlp/gpu/step/batch=64/precision=tf32/seconds": {
        "backend": "gpu", "batch": 64, "precision": "tf32"},
    "test-gpu-16-cores/mnist_mlp/gpu/step/implementation=torch/variant=graph/examples-per-second": {
        "backend": "gpu", "implementation": "torch", "variant": "graph"},
    "test-gpu-16-cores/mnist_mlp/cpu/cold/cache=warm/seconds": {"scope": "cold", "cache": "warm"},
    "test-gpu-16-cores/mnist_mlp/cpu/run/length=10/seconds": {"scope": "run", "length": 10},
    "test-gpu-16-cores/mnist_mlp/cpu/serve/examples-per-second": {"scope": "serve"},
    "test-gpu-16-cores/mnist_mlp/cpu/step/data=random/devices=4/threads=2/seconds": {
        "data": "random", "devices": 4, "threads": 2},
}  # fmt: skip


@pytest.mark.parametrize(("text", "axes"), FROZEN.items())
def test_the_grammar_is_frozen(text, axes):
    records = [factory.record(**axes)]
    if text.endswith("speedup"):
        records.append(factory.record(backend="cpu"))
    assert text in {unpinned(number.key) for number in keys.numbers(records)}
    assert keys.parse(text).text() == text


def unpinned(key):
    return keys.replace(key, digest="").text()


def test_every_axis_of_a_case_has_its_place_in_keys():
    order = [field.name for field in msgspec.structs.fields(Case)]
    assert order == ["workload", "backend", "scope", "batch", "implementation", "variant", "precision", "data",
                     "devices", "threads", "allocator", "cache", "length", "workers", "loader", "queue", "augmentation",
                     "decoding", "stored", "steps", "hosts", "layout"], "new axes go to the end"  # fmt: skip


@given(st.text(alphabet=string.ascii_lowercase + "/=@-_.0", max_size=60))
def test_any_text_is_a_key_or_a_clear_error(text):
    try:
        key = keys.parse(text)
    except ValueError as error:
        words = str(error)
    else:
        words = f"key '{key.text()}'"
    assert words.startswith(f"key '{text}'")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mnist_mlp/cpu", "has 2 parts"),
        ("m/mnist_mlp/cpu/step/minutes", "metric 'minutes' is not one of: seconds"),
        ("m/mnist_mlp/cpu/step/colour=red/seconds", "'colour' is no axis"),
        ("m/mnist_mlp/cpu/step/precision=tf32/batch=2/seconds", "in the order batch, precision"),
        ("m/../cpu/step/seconds", "'..' is no name"),
        ("m/mnist_mlp/cpu/step/seconds@12", "hexadecimal digits"),
        ("m/mnist_mlp/cpu/step/seconds@", "hexadecimal digits"),
    ],
)
def test_what_is_no_key_says_where(text, words):
    with pytest.raises(ValueError, match=r"^key") as error:
        keys.parse(text)
    assert words in str(error.value)


def at(year, seconds, **changes):
    return factory.record(
        step_seconds=seconds, created=f"{year}-01-01T00:00:00Z", campaign=f"{year}0101-000000-test", **changes
    )


KEY = "test-gpu-16-cores/mnist_mlp/cpu/step/seconds"


def test_a_key_means_the_newest_citable_result_and_a_pinned_one_its_record_for_ever():
    old, new = at(2026, [0.010] * 3), at(2027, [0.020] * 3)
    shaky = at(2028, [0.01, 0.03, 0.09])
    found = keys.resolve(KEY, [new, shaky, old])
    assert found.record == new
    assert found.value.value == pytest.approx(0.020, rel=0.01)
    assert keys.resolve(f"{KEY}@{old.digest[:12]}", [new, shaky, old]).record == old
    assert keys.resolve(found.key.text(), [old, new, shaky]).record == new
    with pytest.raises(LookupError, match="not citable, the newest is unstable"):
        keys.resolve(KEY, [shaky])


@pytest.mark.parametrize(
    ("newer", "citable"),
    [
        ((0.02, 0.021, 0.019, 0.03, 0.0201), False),  # unstable itself, but clearly another
        ((0.0101, 0.014, 0.0102, 0.0075, 0.01), True),  # unstable, and it may be the same
    ],
)
def test_a_number_that_a_newer_one_is_clearly_apart_from_is_not_citable(newer, citable):
    old = factory.record(step_seconds=[0.01, 0.0101, 0.0099], campaign="a", created="2026-01-01T00:00:00Z")
    new = factory.record(step_seconds=newer, campaign="b", created="2026-01-02T00:00:00Z")
    found = [number for number in keys.numbers([new, old]) if number.key.metric == "seconds"]
    assert [(number.record.campaign, number.citable) for number in found] == [("a", citable), ("b", False)]


def test_of_two_steady_numbers_that_are_apart_the_newer_one_may_be_quoted():
    old = factory.record(step_seconds=[0.02, 0.0201, 0.0199], campaign="a", created="2026-01-01T00:00:00Z")
    new = factory.record(step_seconds=[0.01, 0.0101, 0.0099], campaign="b", created="2026-01-02T00:00:00Z")
    assert [n.citable for n in keys.numbers([new, old]) if n.key.metric == "seconds"] == [False, True]


def test_a_provisional_record_is_not_citable():
    provisional = factory.sealed(msgspec.structs.replace(at(2026, [0.01] * 3), schema="result/0", digest=""))
    assert isinstance(provisional, Record)
    with pytest.raises(LookupError, match="not citable"):
        keys.resolve(KEY, [provisional])


def test_an_unknown_key_names_the_nearest():
    with pytest.raises(LookupError, match=f"the nearest is '{KEY}'"):
        keys.resolve(KEY.replace("mnist_mlp", "mnist_mpl"), [at(2026, [0.01] * 3)])


def test_a_speed_up_must_be_certified_to_be_quoted():
    whole = factory.campaign(("mnist_mlp",))
    text = "test-gpu-16-cores/mnist_mlp/gpu/step/speedup"
    assert keys.resolve(text, whole).value.value == pytest.approx(50, rel=0.01)
    alone = [record for record in whole if record.case.implementation == "jax"]
    with pytest.raises(LookupError, match="not citable"):
        keys.resolve(text, alone)


def test_rates_turn_the_interval_round():
    found = {number.key.metric: number for number in keys.numbers([at(2026, [0.01, 0.011, 0.012])])}
    seconds, rate = found["seconds"].value, found["examples-per-second"].value
    assert rate.value == pytest.approx(128 / seconds.value)
    assert (rate.low, rate.high) == pytest.approx((128 / seconds.high, 128 / seconds.low))
    assert rate.low < rate.value < rate.high

"""Keys name one number: their grammar is frozen, and they mean the current pool, or for ever what is pinned."""

import string

import factory
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite import former
from suite.case import Case
from suite.results.cite import one_host
from suite.results.cite.number import ON_ONE_HOST, parse
from suite.results.cite.numbers import Numbers
from suite.results.cite.stored_pools import line_of

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
    assert parse(text) in {number.key.unpinned for number in one_host.numbers(records)}
    assert parse(text).text() == former.key(text)


def test_every_axis_of_a_case_has_its_place_in_keys():
    order = [field.name for field in msgspec.structs.fields(Case)]
    assert order == ["workload", "backend", "scope", "batch", "implementation", "variant", "precision", "data",
                     "devices", "threads", "allocator", "cache", "length", "workers", "loader", "queue", "augmentation",
                     "decoding", "stored", "steps", "hosts", "layout"], "new axes go to the end"  # fmt: skip


@given(st.text(alphabet=string.ascii_lowercase + "/=@-_.0", max_size=60))
def test_any_text_is_a_key_or_a_clear_error(text):
    try:
        key = parse(text)
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
        parse(text)
    assert words in str(error.value)


CPU = "test-gpu-16-cores/mnist_mlp/cpu/step"
GPU = "test-gpu-16-cores/mnist_mlp/gpu/step"


def test_a_key_means_the_pool_of_its_kind_of_machine():
    found = Numbers(factory.hosts()).resolve(f"{CPU}/seconds")
    assert found.value.value == pytest.approx(0.01, rel=0.01)
    assert found.value.range_low < found.value.low < found.value.value < found.value.high < found.value.range_high
    assert (found.value.hosts, len(found.campaigns), found.state, found.reasons) == (3, 3, "quotable", ())


def test_a_record_s_digest_means_that_record_for_ever():
    first = factory.hosts(1)[0]
    pinned = one_host.of_record(first, "seconds", ()).key.text()
    for later in ((), factory.hosts(3, cpu=0.02, day=2), [factory.record(profile="smoke")]):
        found = Numbers([first, *later]).resolve(pinned)
        assert (found.record, found.word) == (first, ON_ONE_HOST)
        assert found.value.estimate == one_host.numbers([first])[-1].value.estimate


def test_one_host_alone_is_open():
    found = Numbers(factory.hosts(1)).resolve(f"{GPU}/speedup")
    assert (found.state, found.value.low) == ("open", None)
    assert found.reasons[:2] == ("1 host of 3", "no interval: too few hosts to estimate how much they differ")


def test_a_wide_number_of_many_hosts_is_open():
    found = Numbers(factory.hosts(4, spread=0.2)).resolve(f"{CPU}/seconds")
    assert found.state == "open"
    assert "half-width " in found.reasons[0]


def test_a_speed_up_needs_a_baseline_that_is_no_faster():
    certified = Numbers(factory.hosts()).resolve(f"{GPU}/speedup")
    assert (certified.state, certified.value.value) == ("quotable", pytest.approx(10, rel=0.01))
    assert Numbers(factory.hosts(baseline=0.005)).resolve(f"{GPU}/speedup").state == "not certified"
    alone = [record for record in factory.hosts() if record.case.implementation == "jax"]
    assert Numbers(alone).resolve(f"{GPU}/speedup").reasons == ("certificate open: no baseline was timed on this CPU",)


def test_best_over_best_is_of_the_fastest_way_on_each_side_and_says_which():
    found = Numbers(factory.hosts(baseline=0.005)).resolve(f"{GPU}/best-over-best")
    assert (found.state, found.value.value) == ("quotable", pytest.approx(5, rel=0.01))
    assert found.ways == "torch eager on the CPU, jax on the GPU"


def test_a_provisional_pool_is_open():
    old = [msgspec.structs.replace(record, schema="result/0") for record in factory.hosts()]
    for metric in ("seconds", "speedup", "best-over-best"):
        found = Numbers(old).resolve(f"{GPU}/{metric}")
        assert (found.state, found.reasons) == ("open", ("result/0 was provisional",))


def test_a_key_that_no_pool_gives_means_the_newest_campaign_on_one_host():
    old, new = (factory.record(profile="smoke", created=f"202{year}-01-01T00:00:00Z") for year in (6, 7))
    found = Numbers([new, old]).resolve(f"{CPU}/seconds")
    assert (found.record, found.state, found.word) == (new, "open", ON_ONE_HOST)
    assert found.reasons == ("it only shows that it runs",)


def test_a_key_of_random_content_means_the_pool_that_it_went_into():
    records = factory.hosts(data="random")
    there = Numbers(records)
    assert there.resolve(f"{CPU}/data=random/seconds") == there.resolve(f"{CPU}/seconds")
    assert there.resolve(f"{CPU}/data=random/seconds@{records[0].digest}").record == records[0]
    assert f"{CPU}/data=random/seconds" not in there.current


def test_every_key_is_listed_once_whether_a_pool_gives_it_or_not():
    records = [*factory.hosts(), factory.record("cifar10_mlp", profile="smoke")]
    keys_of = {number.key.unpinned.text() for number in one_host.numbers(records)}
    assert Numbers(records).current.keys() == keys_of | {f"{GPU}/best-over-best"}


def test_an_unknown_key_names_the_nearest():
    with pytest.raises(LookupError, match=f"the nearest is '{CPU}/seconds'"):
        Numbers(factory.hosts()).resolve(f"{CPU}/seconds".replace("mnist_mlp", "mnist_mpl"))


def test_an_unknown_digest_names_the_key_without_one():
    with pytest.raises(LookupError, match=f"no record and no stored pool under it has that digest; '{CPU}/seconds'"):
        Numbers(factory.hosts()).resolve(f"{CPU}/seconds@{'0' * 16}")


def test_a_digest_with_too_few_digits_is_refused():
    first, second = (
        msgspec.structs.replace(record, digest="a" * 12 + str(number) * 52)
        for number, record in enumerate(factory.hosts(2)[::3])
    )
    with pytest.raises(LookupError, match="is ambiguous among aaaaaaaaaaaa0000, aaaaaaaaaaaa1111"):
        Numbers([first, second]).resolve(f"{CPU}/seconds@{'a' * 12}")
    assert Numbers([first, second]).resolve(f"{CPU}/seconds@{first.digest[:13]}").record == first


def test_rates_turn_interval_and_range_round():
    there = Numbers(factory.hosts())
    seconds, rate = (there.resolve(f"{CPU}/{metric}").value for metric in ("seconds", "examples-per-second"))
    assert rate.value == pytest.approx(128 / seconds.value)
    assert (rate.low, rate.range_high) == pytest.approx((128 / seconds.high, 128 / seconds.range_low))
    assert rate.range_low < rate.low < rate.value < rate.high < rate.range_high


def test_a_machine_of_the_same_kind_under_another_name_has_keys_of_its_own():
    twin = msgspec.structs.replace(factory.KNOWN, name="twin-gpu, 16 cores")
    records = [*factory.hosts(2), *factory.hosts(1, machine=twin, day=2)]
    mine, theirs = (
        Numbers(records).resolve(f"{CPU}/seconds".replace("test-gpu", name)) for name in ("test-gpu", "twin-gpu")
    )
    assert (mine.value, mine.record.machine.name) == (theirs.value, factory.KNOWN.name)
    assert (theirs.record.machine, theirs.value.hosts) == (twin, 3)


@pytest.mark.parametrize("metric", ["seconds", "speedup", "best-over-best"])
def test_a_stored_pool_means_its_number_for_ever(metric):
    records = factory.hosts()
    line = line_of(Numbers(records).resolve(f"{GPU}/{metric}"))
    later = Numbers([*records, *factory.hosts(3, cpu=0.02, gpu=0.004, baseline=0.02, day=2)], [line])
    pinned = later.resolve(f"{GPU}/{metric}@{line.digest[:12]}")
    assert (pinned.value.value, pinned.value.low, pinned.value.range_high) == (line.value, line.low, line.range_high)
    assert (pinned.state, len(pinned.members), pinned.key.digest) == ("quotable", len(line.members), line.digest[:16])
    assert later.resolve(f"{GPU}/{metric}").value.value != pytest.approx(line.value, rel=0.1)
    assert later.pinned(later.resolve(f"{GPU}/{metric}")).digest == ""
    now = Numbers(records, [line])
    assert now.pinned(now.resolve(f"{GPU}/{metric}")).key == pinned.key


def test_a_stored_pool_whose_records_are_gone_says_which():
    records = factory.hosts()
    line = line_of(Numbers(records).resolve(f"{CPU}/seconds"))
    with pytest.raises(LookupError, match=f"lacks records: {line.members[0]}; restore them"):
        Numbers(records[1:], [line]).resolve(f"{CPU}/seconds@{line.digest}")

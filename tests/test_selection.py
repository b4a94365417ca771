"""Records are chosen by what a word means, and of each case the one that is current."""

import factory
import msgspec
import pytest

from suite.results.records import store
from suite.results.single import selection
from suite.results.single.selection import by_machine, current_cases, fastest_of_each_case, selected
from suite.results.single.summary import summary


def aged(record, version):
    software = msgspec.structs.replace(record.software, packages={"jax": version})
    return msgspec.structs.replace(record, software=software)


def test_one_record_of_a_gpu_puts_its_machine_first():
    plain = [factory.record(name, machine=factory.PLAIN) for name in "abc"]
    mixed = [factory.record(), factory.record(backend="gpu")]
    assert list(by_machine([*plain, *mixed])) == [factory.HOST.slug, factory.PLAIN.slug]


def test_current_cases_stand_in_the_order_of_cases_and_then_of_machines():
    made = [factory.record(name, machine=host) for name in "ba" for host in (factory.HOST, factory.PLAIN)]
    found = [(item.record.workload, item.record.machine) for item in current_cases(made)]
    assert found == [(name, host) for name in "ab" for host in (factory.PLAIN, factory.HOST)]


def test_of_two_allocators_the_faster_stands_for_the_case_and_of_nothing_timed_the_first():
    slow, fast = factory.record(), factory.record(allocator="default-malloc", step_seconds=(0.001,) * 3)
    other = factory.record("cifar10_mlp")
    assert [item.record for item in fastest_of_each_case(map(summary, (slow, other, fast)))] == [fast, other]
    assert selection.ignoring_allocator(slow) == selection.ignoring_allocator(fast)
    lost = [factory.record(runs=(), allocator=name) for name in ("tuned-malloc", "default-malloc")]
    assert [item.record for item in fastest_of_each_case(map(summary, lost))] == lost[:1]


@pytest.fixture
def folder(tmp_path):
    for name in "ab":
        store.add(factory.record(campaign=f"campaign-{name}"), tmp_path)
    return tmp_path


def test_a_file_a_pack_and_a_folder_of_campaigns_are_read(folder):
    every, problems = store.load([folder])
    assert (len(every), problems) == (2, ())
    assert selected(str(folder), ()) == every
    first, _ = sorted(folder.rglob("*.json"))
    assert selected(str(first), ()) == (every[0],)
    pack = store.pack(folder.parent / first.parent.name, {first.name: first.read_bytes()})
    assert selected(str(pack), ()) == selected(str(pack / first.name), ()) == (every[0],)


def test_a_file_of_a_record_alone_is_that_record(tmp_path):
    record = factory.record()
    path = store.put(record, tmp_path / "loose")
    assert selected(str(path), ()) == (record,)
    assert selected(str(path.parent), ()) == (record,)


def test_a_folder_with_what_is_no_record_is_no_side(folder):
    next(folder.rglob("*.json")).write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not a readable record"):
        selected(str(folder), ())


def test_a_word_is_a_campaign_a_machine_or_the_version_of_a_package():
    old, new = (
        aged(factory.record(campaign=f"campaign-{version}", machine=host), version)
        for version, host in (("0.11.0", factory.HOST), ("0.12.0", factory.PLAIN))
    )
    for word in ("campaign-0.11.0", factory.HOST.slug, factory.HOST.name, "jax==0.11.0"):
        assert selected(word, [old, new]) == (old,)
    for word in ("jax", "jax==", "torch==0.11.0"):
        with pytest.raises(LookupError, match=f"no record matches '{word}'"):
            selected(word, [old, new])


def test_a_word_that_means_nothing_names_the_three_that_are_nearest():
    records = [factory.record(campaign=f"2026010{day}-000000-x") for day in range(1, 6)]
    with pytest.raises(LookupError) as found:
        selected("20260109-000000-x", records)
    assert str(found.value).count("-000000-x'") == 1 + 3
    with pytest.raises(LookupError, match=r"did you mean 'jax==0\.12\.0'"):
        selected("ja=0.1", records)
    with pytest.raises(LookupError, match="there are no records here: nox -s bench makes some, and the suite's check"):
        selected("anything", ())

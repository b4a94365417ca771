"""Stored pools are only added to, and one that was edited is told."""

from dataclasses import replace
from pathlib import Path

import factory
import pytest
from msgspec import structs

from suite.results.cite import stored_pools
from suite.results.cite.numbers import Numbers
from suite.results.records import store
from suite.sessions import publishing

KEY = "test-gpu-16-cores/mnist_mlp/cpu/step/seconds"


@pytest.fixture
def number():
    return Numbers(factory.hosts()).resolve(KEY)


@pytest.fixture
def file(tmp_path):
    return tmp_path / stored_pools.FILE_NAME


def test_no_file_is_no_pool(file):
    assert stored_pools.read(file) == ((), ())


def test_a_number_is_stored_once(number, file):
    (line,) = stored_pools.store(file, [number, number])
    assert stored_pools.store(file, [number]) == ()
    assert stored_pools.read(file) == ((line,), ())
    assert (line.key, line.hosts, line.campaigns, line.state) == (KEY, 3, 3, "quotable")
    assert line.members == tuple(record.digest[:16] for record in number.members)


def test_lines_that_are_there_stay_byte_for_byte(number, file):
    stored_pools.store(file, [number])
    before = file.read_bytes()
    stored_pools.store(file, [Numbers(factory.hosts(4)).resolve(KEY)])
    assert file.read_bytes().startswith(before)
    assert len(stored_pools.read(file)[0]) == 2


def test_a_line_is_added_after_one_without_an_end(number, file):
    stored_pools.store(file, [number])
    file.write_bytes(file.read_bytes().rstrip())
    stored_pools.store(file, [Numbers(factory.hosts(4)).resolve(KEY)])
    assert len(stored_pools.read(file)[0]) == 2


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda line: line.replace(b'"hosts":3', b'"hosts":4'), "it was changed after it was stored; restore it"),
        (lambda line: line.replace(b'"digest":"', b'"digest":"0'), "it was changed after it was stored"),
        (lambda line: line[:40], "not JSON: Unterminated string starting at line 1 column 26"),
        (lambda line: line.replace(b"pool/1", b"pool/2"), "Invalid enum value 'pool/2'"),
        (lambda line: b"", "not JSON: Expecting value at line 1 column 1"),
    ],
    ids=["value", "digest", "cut", "schema", "empty"],
)
def test_a_line_that_is_not_as_it_was_stored_is_told_and_the_others_count(number, file, edit, reason):
    (line,) = stored_pools.store(file, [number])
    whole = file.read_bytes()
    file.write_bytes(edit(whole.rstrip()) + b"\n" + whole)
    found, (problem,) = stored_pools.read(file)
    assert found == (line,)
    assert problem.startswith(f"line 1 of '{file}' is no stored pool: {reason}")
    assert problem.endswith("restore it from the repository")


def test_a_number_of_one_host_is_not_stored(file):
    alone = Numbers([factory.record(profile="smoke")]).resolve(KEY)
    with pytest.raises(ValueError, match="is of one record, whose digest pins it"):
        stored_pools.store(file, [alone])


def test_publishing_stores_the_headline_once_and_what_it_is_by_then(tmp_path, monkeypatch):
    monkeypatch.setattr(publishing, "picture", lambda _: ())
    published = tmp_path / "site" / "records"
    for record in factory.hosts(4):
        store.add(record, tmp_path / "records")
    first, *others = sorted((tmp_path / "records").iterdir())
    stored = stored_pools.path(published)
    assert stored in publishing.publish(first, published)
    lines, _ = stored_pools.read(stored)
    assert [line.key.split("mnist_mlp/")[1] for line in lines] == [
        "gpu/step/speedup", "gpu/step/best-over-best", "cpu/step/seconds", "gpu/step/seconds",
    ]  # fmt: skip
    assert stored not in publishing.publish(first, published)
    for folder in others:
        publishing.publish(folder, published)
    assert stored_pools.read(stored)[0][:4] == lines
    assert [line.hosts for line in stored_pools.read(stored)[0][::4]] == [1, 2, 3, 4]


def test_the_last_digits_that_two_c_libraries_may_compute_differently_are_not_stored(number):
    other = replace(number, value=structs.replace(number.value, value=number.value.value * (1 + 1e-15)))
    assert other.value != number.value
    assert stored_pools.line_of(other) == stored_pools.line_of(number)


def test_they_lie_beside_the_published_records():
    assert stored_pools.path(Path("site/records")) == Path("site/pools.jsonl")


def test_nine_digits_are_stored_and_the_versions_that_are_known(number):
    unknown = structs.replace(number.record, software=structs.replace(number.record.software, packages={}))
    long = structs.replace(number.value, value=0.0123456789123)
    line = stored_pools.line_of(replace(number, value=long, members=(*number.members, unknown)))
    assert (line.value, line.versions) == (0.0123456789, ("jax 0.12.0",))


def test_a_stored_ratio_is_of_its_newest_record_on_the_gpu_and_says_if_it_was_open():
    hosts = factory.hosts()
    found = Numbers(hosts).resolve("test-gpu-16-cores/mnist_mlp/gpu/step/speedup")
    line = stored_pools.line_of(replace(found, members=(*found.members[3:], *found.members[:3])))  # the CPU's last
    records = {record.digest[:16]: record for record in hosts}
    again = stored_pools.number_of(line, records)
    assert (again.record, again.reasons) == (found.record, ())
    opened = stored_pools.number_of(structs.replace(line, state="open"), records)
    assert opened.reasons == ("open when it was stored",)
    first, second = line.members[:2]
    with pytest.raises(LookupError, match=f"lacks records: {first}, {second}; restore them in site/records"):
        stored_pools.number_of(line, {digest: records[digest] for digest in line.members[2:]})
    elsewhere = structs.replace(line, key=line.key.replace("test-gpu", "other"))
    with pytest.raises(LookupError, match="lacks records: those of its machine; restore"):
        stored_pools.number_of(elsewhere, records)

"""The table that says of older records on which host they ran, and which program: whole, small, and never mixed."""

import re
from collections import defaultdict
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import factory
import msgspec
import pytest

from suite.results.records import store
from suite.results.records.machine import Machine
from suite.results.records.record import Record

PUBLISHED = Path(__file__).parents[1] / "site" / "records"
OLD = ("result/0", "result/1")  # later schemas say both themselves
LARGEST_BYTES = 150_000
HOST, PROGRAM, DIGEST = r"~[a-z0-9-]{1,32}", r"[0-9a-f]{16}", r"[0-9a-f]{16}"


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as it is written: rows are numbers of a host and of a program."""

    version: int
    rule: str
    hosts: tuple[str, ...]
    programs: tuple[str, ...]
    records: dict[str, tuple[int | None, int | None]]


CONTENT = (files("suite.results.records") / "identities.json").read_bytes()
TABLE = msgspec.json.decode(CONTENT, type=Table)


@pytest.fixture(scope="session")
def old_records():
    return [record for record in store.load([PUBLISHED])[0] if record.schema in OLD]


@pytest.fixture(scope="session")
def later_records():
    """Later records in the table: their processes made no digest of their program, or another one."""
    return [r for r in store.load([PUBLISHED])[0] if r.schema not in OLD and key(r) in TABLE.records]


def key(record: Record) -> str:
    return record.digest[:16]


def hosts(record: Record) -> int | None:
    return TABLE.records[key(record)][0]


def machines_by_host(records: Iterable[Record]) -> dict[int | None, set[Machine]]:
    found = defaultdict(set)
    for record in records:
        found[hosts(record)].add(record.machine)
    return found


def mixed(machines: Iterable[Machine]) -> bool:
    """Return whether no single host can be all of these; of its cores and GPUs a part may have been granted."""
    machines = set(machines)
    fixed = {(m.cpu_model, m.memory_bytes, m.system, m.virtual) for m in machines}
    return len(fixed) > 1 or len({gpu.name for machine in machines for gpu in machine.gpus}) > 1


def missing_and_foreign(records: Iterable[Record], table: Table) -> tuple[set[str], set[str]]:
    keys = {key(record) for record in records}
    return keys - table.records.keys(), table.records.keys() - keys


def test_each_older_published_record_has_a_row_and_few_others_have(old_records, later_records):
    assert len({key(record) for record in old_records}) == len(old_records), "sixteen characters tell them apart"
    assert missing_and_foreign(old_records + later_records, TABLE) == (set(), set())


def test_a_later_record_has_a_row_for_a_program_that_it_does_not_state(later_records):
    assert later_records
    for record in later_records:
        host, program = TABLE.records[key(record)]
        assert host is None
        assert TABLE.programs[program] != record.program


def test_a_record_without_a_row_and_a_row_without_a_record_are_found():
    one, other = factory.record(), factory.record("other")
    table = msgspec.structs.replace(TABLE, records={key(one): (0, 0), "0" * 16: (0, 0)})
    assert missing_and_foreign([one, other], table) == ({key(other)}, {"0" * 16})


def test_the_records_of_a_campaign_ran_on_one_host(old_records):
    found = defaultdict(set)
    for record in old_records:
        found[record.campaign].add(hosts(record))
    assert {campaign: numbers for campaign, numbers in found.items() if len(numbers) != 1} == {}


def test_a_host_is_of_one_kind(old_records):
    assert {host for host, machines in machines_by_host(old_records).items() if mixed(machines)} == set()


@pytest.mark.parametrize(
    "change", [{"cpu_model": "Another"}, {"memory_bytes": 1}, {"system": "Another"}, {"gpus": (factory.H100,)}]
)
def test_two_kinds_under_one_host_are_found(change):
    one = msgspec.structs.replace(factory.record().machine, gpus=(msgspec.structs.replace(factory.H100, name="B200"),))
    assert mixed([one, msgspec.structs.replace(one, **change)])
    assert not mixed([one, msgspec.structs.replace(one, name="a part of it", cores=1, gpus=())])


def test_a_record_whose_processor_hides_its_number_shares_no_host_with_one_that_says_it(old_records):
    for machines in machines_by_host(old_records).values():
        assert len({"family" in machine.cpu_model for machine in machines}) == 1


def test_code_that_is_in_no_commit_is_no_program(old_records):
    unclean = [record for record in old_records if "+" in record.commit or not record.commit]
    assert unclean
    assert {TABLE.records[key(record)][1] for record in unclean} == {None}


def test_a_program_is_of_one_implementation(old_records, later_records):
    found = defaultdict(set)
    for record in old_records + later_records:
        if (program := TABLE.records[key(record)][1]) is not None:
            found[program].add(record.case.implementation)
    assert {program: names for program, names in found.items() if len(names) != 1} == {}


def test_the_table_has_the_form_that_is_read_and_is_small():
    assert len(CONTENT) < LARGEST_BYTES
    assert CONTENT.endswith(b"}\n")
    assert TABLE.version == 1
    assert TABLE.rule
    assert list(TABLE.records) == sorted(TABLE.records), "so that a change reads as one"
    assert all(re.fullmatch(DIGEST, digest) for digest in TABLE.records)
    for words, form, column in ((TABLE.hosts, HOST, 0), (TABLE.programs, PROGRAM, 1)):
        assert all(re.fullmatch(form, word) for word in words)
        assert len(set(words)) == len(words)
        numbers = {row[column] for row in TABLE.records.values()} - {None}
        assert numbers == set(range(len(words))), "each word has a record"

"""The file of a record is refused with the place and the reason, in one line; each limit is where it is said to be."""

import json

import factory
import msgspec
import pytest

from suite.results.records import acceptance
from suite.results.records.acceptance import parsed, schema_errors, validate
from suite.results.records.record import digest, to_json
from suite.results.records.run import Sample, Served

SERVED = Served(in_flight=4, latency_seconds=(0.5, 0.25), pictures=64, answers=60, wrong_answers=0)
ALONE = (Sample(wall_seconds=0.01, process_seconds=0.01),)
RECORD = factory.record(runs=(factory.run(0, 0.01), factory.run(2, 0.01, served=SERVED, blocking_samples=ALONE)))
RECORD = msgspec.structs.replace(RECORD, rounds=3)


def edited(**changes):
    """The content of a record, each of whose values at these paths, '__' between names, is another; its digest fits."""
    plain = json.loads(to_json(msgspec.structs.replace(RECORD, digest="")))
    for path, value in changes.items():
        *names, last = (int(name) if name.isdigit() else name for name in path.split("__"))
        inner = plain
        for name in names:
            inner = inner[name]
        inner[last] = value
    return sealed(plain)


def sealed(plain):
    content = to_json(plain)
    return content.replace(b'"digest": ""', b'"digest": "%s"' % digest(content).encode(), 1)


def said(content):
    with pytest.raises(ValueError, match=r"(?s).* at ") as raised:
        validate(content)
    return str(raised.value)


def test_an_honest_record_is_read_as_it_was_written():
    assert validate(edited()).runs == RECORD.runs


# What it must be as JSON


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\xff", "not UTF-8 at line 1 column 1"),
        (b'["a\n", \n"b\xff"]', "not UTF-8 at line 3 column 3"),
        (b"", "not JSON: Expecting value at line 1 column 1"),
        (b'{\n"a": }', "not JSON: Expecting value at line 2 column 6"),
        (b'"a', "not JSON: Unterminated string starting at line 1 column 1"),
        (b"[" * 100_000, "nested deeper than 16 levels at $"),
    ],
)
def test_what_is_no_json_is_refused_where_it_ends_to_be_any(content, error):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        parsed(content)
    assert str(raised.value) == error


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ('{"a": 1, "b": 2, "a": 1}', [("$.a", "the name is repeated")]),
        ("[0, NaN]", [("$[1]", "'NaN' is no number")]),
        ('{"a": [-Infinity]}', [("$.a[0]", "'-Infinity' is no number")]),
        (f"[{2**53}, -0.5]", []),
        (f"[{2**53 + 1}]", [("$[0]", "a number of 16 digits is too large")]),
        (f"[{-(2**53)}]", [("$[0]", "-9007199254740992 is negative")]),
        (f"[{10**17}]", [("$[0]", "a number of 18 digits is too large")]),
        (f"[{'9' * 5000}]", [("$[0]", "a number of 5000 digits is too large")]),
    ],
)
def test_what_no_reader_takes_alike_is_refused_in_its_place(text, reasons):
    assert list(schema_errors(parsed(text.encode()))) == reasons


def nested(levels):
    return [nested(levels - 1)] if levels > 1 else []


# What no record has, whichever its fields are


@pytest.mark.parametrize(
    ("value", "reasons"),
    [
        ("a" * 4000, []),
        ("a" * 4001, [("$", "a text of 4001 characters is too long")]),
        ("a\x1b[2J\x07", [("$", "the character U+001B is not printable")]),
        ("ü", []),
        (2.0**53, []),
        (9.686440653337107e26, []),  # a loss that diverged
        (-3.5e38, [("$", "a number is too large")]),
        (3.5e38, [("$", "a number is too large")]),
        (-1, [("$", "-1 is negative")]),
        (-0.5, []),
        (0, []),
        (True, []),
        (None, []),
        ({"a_seconds": 1e7, "b_seconds": 1e7 + 1}, [("$.b_seconds", "10000001.0 is longer than any measurement")]),
        ({"a_flop": 1e8, "b_seconds_ago": 1e8}, []),
        ({"a_seconds": 0.0, "b_seconds": -0.5}, [("$.b_seconds", "-0.5 is negative")]),
        ({"a_loss": -0.5}, []),
        ({"a": {"b": nested(14)}}, []),
        ({"a": {"b": nested(15)}}, [(f"$.a.b{'[0]' * 14}", "nested deeper than 16 levels")]),
        (nested(16), []),
        (nested(17), [(f"${'[0]' * 16}", "nested deeper than 16 levels")]),
        ({"a\n": 1}, [("$.'a\\n'", "a name: the character U+000A is not printable")]),
        ({"b" * 4001: 1}, [(f"$.{'b' * 60}", "a name: a text of 4001 characters is too long")]),
        ({"b" * 61 + "\n": 1}, [(f"$.'{'b' * 60}'", "a name: the character U+000A is not printable")]),
        ({"a": ["b", {"c": -1}]}, [("$.a[1].c", "-1 is negative")]),
        ([-1, "a\n"], [("$[0]", "-1 is negative"), ("$[1]", "the character U+000A is not printable")]),
    ],
)
def test_what_no_record_may_have_is_refused_in_its_place(value, reasons):
    assert list(schema_errors(value)) == reasons


@pytest.mark.parametrize("unit", ["seconds", "bytes", "watts", "joules", "mhz", "cores", "per_step", "ratio"])
def test_what_has_a_unit_is_not_negative(unit):
    assert [place for place, _ in schema_errors({f"a_{unit}": -0.5})] == [f"$.a_{unit}"]


# What fits the schema and cannot be


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"{}", "no schema at $.schema, this version reads "),
        (b'{"schema": 7}', "schema '7' at $.schema, this version reads "),
        (b'{"schema": -1}', "-1 is negative at $.schema"),
        (edited(rounds="three"), "Expected `int`, got `str` at $.rounds"),
        (edited(runs__0__round="x"), "Expected `int`, got `str` at $.runs[0].round"),
    ],
)
def test_what_is_of_another_form_is_refused(content, error):
    assert said(content).startswith(error)


def test_a_list_is_no_record():
    assert said(b"[]") == "not an object at $"


def test_the_longest_measurement_is_no_longer_than_any():
    assert list(schema_errors(1e7, "$.a_seconds")) == []


def test_a_record_with_a_former_value_keeps_its_former_name():
    former = edited(case__allocator="system")
    assert validate(former).case.allocator == "default-malloc"
    assert validate(former).name == "mnist_mlp.cpu.step.allocator-system"


def test_the_schemas_that_are_read_are_named():
    assert said(b"{}").endswith("reads result/0, result/1, result/2")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"campaign": "a b"}, "'a b' is no valid file name at $.campaign"),
        ({"workload": "a/b"}, "'a/b' is no valid file name at $.workload"),
        ({"machine__name": "?"}, "'?' is no valid file name at $.machine.name"),
        ({"case__variant": "a b"}, "'a b' is no valid file name at $.case.variant"),
        ({"description__name": "a b"}, "'a b' is no valid file name at $.description.name"),
        ({"campaign": "c " * 40}, f"{('c ' * 40)[:60]!r} is no valid file name at $.campaign"),
        ({"case__workload": "other"}, "'other' is not 'mnist_mlp' at $.case.workload"),
        ({"description__name": "other"}, "'other' is not 'mnist_mlp' at $.description.name"),
        ({"case__backend": "gpu"}, "'gpu' is not 'cpu' at $.case.backend"),
        ({"case__workload": "x" * 70}, f"'{'x' * 60}' is not 'mnist_mlp' at $.case.workload"),
        ({"case__workload": "o", "workload": "x" * 70, "description__name": "x" * 70},
         f"'o' is not '{'x' * 60}' at $.case.workload"),
        ({"rounds": 0}, "0 is less than 1 at $.rounds"),
        ({"case__batch": 0}, "0 is less than 1 at $.case.batch"),
        ({"case__devices": 0}, "0 is less than 1 at $.case.devices"),
        ({"case__threads": 0}, "0 is less than 1 at $.case.threads"),
        ({"machine__cores": 0}, "0 is less than 1 at $.machine.cores"),
        ({"description__batch": 0}, "0 is less than 1 at $.description.batch"),
        ({"created": "2026-01-01"}, "no time such as 2026-01-31T12:00:00Z at $.created"),
        ({"commit": "a b"}, "no commit at $.commit"),
        ({"commit": "a" * 81}, "no commit at $.commit"),
        ({"runs__1__round": 0}, "round 0 is repeated, or is not one of the 3 planned at $.runs[1].round"),
        ({"runs__0__round": 3}, "round 3 is repeated, or is not one of the 3 planned at $.runs[0].round"),
        ({"runs__1__started": "soon"}, "no time such as 2026-01-31T12:00:00Z at $.runs[1].started"),
        ({"runs__0__steps_per_sample": 0}, "0 is less than 1 at $.runs[0].steps_per_sample"),
        ({"runs__1__served__latency_seconds__1": 0.0}, "0.0 is no time at $.runs[1].served.latency_seconds[1]"),
        ({"runs__1__warmup__0__wall_seconds": 0.0}, "0.0 is no time at $.runs[1].warmup[0].wall_seconds"),
        ({"runs__1__samples__2__wall_seconds": 0.0}, "0.0 is no time at $.runs[1].samples[2].wall_seconds"),
        ({"runs__1__alone__0__wall_seconds": 0.0}, "0.0 is no time at $.runs[1].alone[0].wall_seconds"),
        ({"method": 0}, "result/2 needs a method of at least 1 at $.method"),
        ({"schema": "result/1"}, "result/1 has no method at $.method"),
        ({"schema": "result/0", "method": 0}, "result/0 has no host at $.runs[0].host"),
        ({"schema": "result/1", "method": 0, "runs__0__host": ""}, "result/1 has no program at $.runs[0].program"),
        ({"runs__0__host": "0123456789abcde"}, "'0123456789abcde' is not 16 hexadecimal characters at $.runs[0].host"),
        ({"runs__1__program": "f" * 70}, f"'{'f' * 60}' is not 16 hexadecimal characters at $.runs[1].program"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_its_place(changes, error):
    assert said(edited(**changes)) == error


@pytest.mark.parametrize(
    "changes",
    [
        {"rounds": 3, "case__batch": 1, "description__batch": 1, "machine__cores": 1, "case__threads": 1},
        {"commit": ""},
        {"commit": "a" * 80},
        {"commit": "v1.2+changed"},
        {"method": 1},
        {"runs__0__host": "", "runs__0__program": ""},
        {"runs__0__samples": [], "runs__0__steps_per_sample": 0},
        {"runs__0__steps_per_sample": 1},
    ],
)
def test_what_can_be_is_read(changes):
    assert validate(edited(**changes)).campaign == RECORD.campaign


def test_of_an_older_schema_is_what_says_no_method_no_host_and_no_program():
    none = {f"runs__{number}__{name}": "" for number in range(2) for name in ("host", "program")}
    for schema in ("result/0", "result/1"):
        assert validate(edited(schema=schema, method=0, **none)).schema == schema


def test_one_round_on_one_device_is_read():
    one = msgspec.structs.replace(RECORD, rounds=1, runs=RECORD.runs[:1], digest="")
    assert validate(sealed(json.loads(to_json(one)))).rounds == 1


def test_a_record_that_was_changed_after_it_was_written_is_refused():
    changed = edited().replace(b'"commit": "abc"', b'"commit": "abd"')
    assert said(changed) == "it was changed after it was written: its digest does not match at $.digest"


def test_where_several_things_are_wrong_the_first_is_said_and_all_are_found():
    bad = msgspec.structs.replace(RECORD, campaign="a b", commit="a b", rounds=0)
    assert [place for place, _ in acceptance.contradictions(bad)] == [
        "$.campaign",
        "$.rounds",
        "$.commit",
        "$.runs[0].round",
        "$.runs[1].round",
    ]

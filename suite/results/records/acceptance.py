"""Validation of a record's file before anything else reads it; each error is one line with place and reason."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from suite import former
from suite.results.records.record import Record, Schema, digest, plain_name

_READ = get_args(Schema)
_DECODER = msgspec.json.Decoder(Record)
_DEEPEST, _LONGEST = 16, 4000
_LARGEST = {int: 2**53, float: 3.4028235e38}  # JavaScript rounds larger integers; a loss that diverges is a float32
_LONGEST_SECONDS = 10**7
_UNITS = ("_seconds", "_bytes", "_watts", "_joules", "_mhz", "_cores", "_per_step", "_ratio")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_HASH = re.compile(r"([0-9a-f]{16})?")
COMMIT = re.compile(r"[\w.+-]{0,80}")  # of the suite, as in records
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>")  # git's marks
_LFS = "version https://git-lfs.github.com/"


class _Refused:
    """Stands for an invalid value until its place is known."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def validate(content: bytes) -> Record:
    """Return the record in a file's content.

    Raises ValueError with the reason and the place: line and column, or a path from '$'.
    """
    plain = parsed(content)
    for place, reason in schema_errors(plain):
        raise ValueError(f"{reason} at {place}")
    if not isinstance(plain, dict):
        raise ValueError("not an object at $")
    if plain.get("schema") not in _READ:
        found = f"schema {str(plain['schema'])!r}" if "schema" in plain else "no schema"
        raise ValueError(f"{found} at $.schema, this version reads {', '.join(_READ)}")
    try:
        record = _DECODER.decode(content)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `")
        raise ValueError(f"{reason} at {place.rstrip('`') or '$'}") from None
    for place, reason in contradictions(record):
        raise ValueError(f"{reason} at {place}")
    if digest(content, record.digest) != record.digest:
        raise ValueError("it was changed after it was written: its digest does not match at $.digest")
    if former.is_former(plain["case"]):
        vars(record)["name"] = former.former_file_name(record.name)  # its file and address stay the same
    return record


def parsed(content: bytes) -> Any:
    """Return JSON as plain data, with `_Refused` in place of invalid values. Raises ValueError if it is not JSON."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        found = "UTF-16, as PowerShell's '>' writes it, not UTF-8" if utf16 else "not UTF-8"
        raise ValueError(f"{found} at {_spot(content[: error.start])}") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise ValueError(f"{_not_json(text, error)} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise ValueError(f"nested deeper than {_DEEPEST} levels at $") from None


def fault(content: bytes, otherwise: object) -> str:
    """Return why content is not JSON, in the words for records; `otherwise` if it is JSON."""
    try:
        parsed(content)
    except ValueError as error:
        return str(error)
    return str(otherwise)


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    """Return why a text is not JSON: what git or an editor left in it, else what the grammar expects."""
    if text.startswith("\ufeff"):
        return "it was changed after it was written: a byte order mark (BOM) comes first"
    if text.startswith(_LFS):
        return "a pointer of Git LFS, whose file 'git lfs pull' fetches"
    if text.startswith(_CONFLICT, error.pos):
        return "not JSON: git left a conflict"
    return f"not JSON: {error.msg.removesuffix(' at')}"


def _spot(before: bytes) -> str:
    return f"line {before.count(10) + 1} column {len(before) - before.rfind(10)}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        members[key] = _Refused("the name is repeated") if key in members else value
    return members


def _constant(word: str) -> _Refused:
    return _Refused(f"'{word}' is no number")


def _integer(digits: str) -> int | _Refused:
    if len(digits) > 17 or abs(int(digits)) > _LARGEST[int]:
        return _Refused(f"a number of {len(digits)} digits is too large")
    return int(digits)


def schema_errors(value: Any, place: str = "$", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield place and reason of every value that no field of a record may have."""
    match value:
        case _Refused():
            yield place, value.reason
        case str():
            yield from ((place, reason) for reason in _text_errors(value))
        case bool() | None:
            return
        case int() | float():
            if not abs(value) <= _LARGEST[type(value)]:
                yield place, "a number is too large"
            elif value < 0 and (isinstance(value, int) or place.endswith(_UNITS)):
                yield place, f"{value!r} is negative"
            elif place.endswith("_seconds") and value > _LONGEST_SECONDS:
                yield place, f"{value!r} is longer than any measurement"
        case list() | dict():
            if depth >= _DEEPEST:
                yield place, f"nested deeper than {_DEEPEST} levels"
                return
            if isinstance(value, list):
                for number, each in enumerate(value):
                    if not _harmless(each):
                        yield from schema_errors(each, f"{place}[{number}]", depth + 1)
                return
            for key, each in value.items():
                if _sound(key) and _harmless(each):
                    continue
                inside = f"{place}.{key[:60] if key.isprintable() else ascii(key[:60])}"
                yield from ((inside, f"a name: {reason}") for reason in _text_errors(key))
                yield from schema_errors(each, inside, depth + 1)


def _harmless(value: Any) -> bool:
    """Return whether a value is valid everywhere in a record. Nearly all are, so this check comes first."""
    kind = type(value)
    if kind is float or kind is int:
        return 0 <= value <= _LONGEST_SECONDS
    return _sound(value) if kind is str else value is None or kind is bool


def _sound(text: str) -> bool:
    return len(text) <= _LONGEST and text.isprintable()


def _text_errors(text: str) -> Iterator[str]:
    if len(text) > _LONGEST:
        yield f"a text of {len(text)} characters is too long"
    bad = next((c for c in text if not c.isprintable()), None)
    if bad is not None:
        yield f"the character U+{ord(bad):04X} is not printable"


def contradictions(record: Record) -> Iterator[tuple[str, str]]:
    """Yield place and reason of every contradiction in a record that fits the schema."""
    case = record.case
    for place, name in (
        ("$.campaign", record.campaign),
        ("$.workload", record.workload),
        ("$.machine.name", record.machine.slug),
        ("$.case.variant", case.variant),
        ("$.description.name", record.description.name),
    ):
        if not plain_name(name):
            yield place, f"{name[:60]!r} is no valid file name"
    for place, one, other in (
        ("$.case.workload", case.workload, record.workload),
        ("$.description.name", record.description.name, record.workload),
        ("$.case.backend", case.backend, record.backend),
    ):
        if one != other:
            yield place, f"{one[:60]!r} is not {other[:60]!r}"
    for place, count in (
        ("$.rounds", record.rounds),
        ("$.case.batch", case.batch),
        ("$.case.devices", case.devices),
        ("$.case.threads", 1 if case.threads is None else case.threads),
        ("$.machine.cores", record.machine.cores),
        ("$.description.batch", record.description.batch),
    ):
        if count < 1:
            yield place, f"{count} is less than 1"
    if not _MOMENT.fullmatch(record.created):
        yield "$.created", "no time such as 2026-01-31T12:00:00Z"
    if not COMMIT.fullmatch(record.commit):
        yield "$.commit", "no commit"
    yield from _identity_contradictions(record)
    seen = set()
    for number, run in enumerate(record.runs):
        place = f"$.runs[{number}]"
        if run.round in seen or run.round >= record.rounds:
            yield f"{place}.round", f"round {run.round} is repeated, or is not one of the {record.rounds} planned"
        seen.add(run.round)
        if not _MOMENT.fullmatch(run.started):
            yield f"{place}.started", "no time such as 2026-01-31T12:00:00Z"
        if run.samples and run.steps_per_sample < 1:
            yield f"{place}.steps_per_sample", f"{run.steps_per_sample} is less than 1"
        for index, seconds in enumerate(run.served.latency_seconds if run.served is not None else ()):
            if seconds <= 0:
                yield f"{place}.served.latency_seconds[{index}]", f"{seconds!r} is no time"
        for kind, samples in (("warmup", run.warmup), ("samples", run.samples), ("alone", run.blocking_samples)):
            for index, sample in enumerate(samples):
                if sample.wall_seconds <= 0:
                    yield f"{place}.{kind}[{index}].wall_seconds", f"{sample.wall_seconds!r} is no time"


def _identity_contradictions(record: Record) -> Iterator[tuple[str, str]]:
    """Yield place and reason of a method, host or program that contradicts the record's schema."""
    numbered = record.schema not in ("result/0", "result/1")
    if numbered and record.method < 1:
        yield "$.method", f"{record.schema} needs a method of at least 1"
    elif not numbered and record.method:
        yield "$.method", f"{record.schema} has no method"
    for number, run in enumerate(record.runs):
        for name, value in (("host", run.host), ("program", run.program)):
            if value and not numbered:
                yield f"$.runs[{number}].{name}", f"{record.schema} has no {name}"
            elif not _HASH.fullmatch(value):
                yield f"$.runs[{number}].{name}", f"{value[:60]!r} is not 16 hexadecimal characters"

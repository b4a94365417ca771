"""Cited and headline pools, one per line: a pinned key's number is stored, never recomputed.

The file is append-only. Each line states the digest of its other content, which detects edits.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from suite import former
from suite.results.cite.number import PINNED, Number, parse, version_of
from suite.results.pooled.speedup import State
from suite.results.records import files
from suite.results.records.acceptance import fault
from suite.results.records.record import Record
from suite.results.stats import pooling
from suite.results.stats.pooling import Pooled
from suite.workload import Plain

FILE_NAME = "pools.jsonl"  # beside the folder of the published records
_ENDS = ("value", "low", "high", "range_low", "range_high")  # of a stored number
_DIGEST = b'"digest":"%s"'  # as in a line
_DIGITS = 9  # significant digits of a stored number: beyond them exp and log differ between C libraries


class StoredPool(Plain, frozen=True, kw_only=True):
    """One number of a pool at the time of storing."""

    schema: Literal["pool/1"] = "pool/1"
    key: str
    value: float
    low: float | None  # 95 % interval of the kind of machine
    high: float | None
    range_low: float | None  # of a further campaign
    range_high: float | None
    hosts: int  # of the smaller side
    campaigns: int
    state: State
    ways: str  # of best over best; '' for other metrics
    estimator: int  # its version
    method: int  # of timing
    versions: tuple[str, ...]  # of what was timed
    measured: str  # its newest record: UTC, ISO 8601
    members: tuple[str, ...]  # first 16 digits of its records' digests, the numerator's first
    digest: str = ""  # sha256 of the line with a blank digest

    def __post_init__(self) -> None:
        """Replace former names in key and ways by the current ones."""
        msgspec.structs.force_setattr(self, "key", former.key(self.key))
        msgspec.structs.force_setattr(self, "ways", former.ways(self.ways))


def path(published: Path) -> Path:
    """Return the path of the stored pools of a folder of published records."""
    return published.parent / FILE_NAME


def line_of(number: Number) -> StoredPool:
    """Return the line that stores a pool's number. Raises ValueError for a number of one campaign."""
    if not number.pooled:
        raise ValueError(f"'{number.key.text()}' is of one record, whose digest pins it; only pools are stored")
    value = number.value
    ends: dict[str, Any] = {name: _rounded(getattr(value, name)) for name in _ENDS}
    line = StoredPool(
        key=number.key.unpinned.text(),
        **ends,
        hosts=value.hosts,
        campaigns=len(number.campaigns),
        state=number.state,
        ways=number.ways,
        estimator=pooling.VERSION,
        method=number.record.method,
        versions=tuple(sorted({version_of(record) for record in number.members} - {""})),
        measured=number.measured,
        members=tuple(record.digest[:PINNED] for record in number.members),
    )
    return msgspec.structs.replace(line, digest=_digest(msgspec.json.encode(line)))


def read(file: Path) -> tuple[tuple[StoredPool, ...], tuple[str, ...]]:
    """Return the lines of a file, () if there is no file, and a sentence for each invalid line."""
    if not file.is_file():
        return (), ()
    lines, problems = [], []
    for number, text in enumerate(files.content(file).rstrip().splitlines(), 1):
        try:
            line = msgspec.json.decode(text, type=StoredPool)
            reason = "" if _digest(text, line.digest) == line.digest else "it was changed after it was stored"
        except msgspec.DecodeError as error:
            line, reason = None, fault(b"\n" * (number - 1) + text, error)
        if line is not None and not reason:
            lines.append(line)
        else:
            problems.append(f"line {number} of '{file}' is no stored pool: {reason}; restore it from the repository")
    return tuple(lines), tuple(problems)


def store(file: Path, numbers: Iterable[Number]) -> tuple[StoredPool, ...]:
    """Append the missing lines of numbers to a file and return them. Raises RuntimeError if it is not writable."""
    lines, _ = read(file)
    new = list(dict.fromkeys(line_of(number) for number in numbers if line_for(number, lines) is None))
    if not new:
        return ()
    with files.writing(file):
        ends_with_line = not file.is_file() or file.read_bytes()[-1:] in (b"", b"\n")
        with file.open("ab") as out:
            out.write((b"" if ends_with_line else b"\n") + b"".join(msgspec.json.encode(line) + b"\n" for line in new))
    return tuple(new)


def line_for(number: Number, lines: Iterable[StoredPool]) -> StoredPool | None:
    """Return the line that stores exactly this number of a pool; None if there is none.

    The line's digest may cover former names. Raises ValueError for a number of one campaign.
    """
    now = _undigested(line_of(number))
    return next((line for line in lines if _undigested(line) == now), None)


def _undigested(line: StoredPool) -> StoredPool:
    return msgspec.structs.replace(line, digest="")


def number_of(line: StoredPool, records: Mapping[str, Record]) -> Number:
    """Return the number that a line stores; `records` maps the first digits of digests to published records.

    Raises LookupError if records are missing, or none is of its machine.
    """
    key = replace(parse(line.key), digest=line.digest[:PINNED])
    members = tuple(records[digest] for digest in line.members if digest in records)
    backend = key.case.split("/")[1]
    own = [record for record in members if (record.machine.slug, record.backend) == (key.machine, backend)]
    if len(members) < len(line.members) or not own:
        lost = ", ".join(digest for digest in line.members if digest not in records) or "those of its machine"
        raise LookupError(f"stored pool '{key.text()}' lacks records: {lost}; restore them in site/records")
    return Number(
        key=key,
        value=Pooled(
            **{name: getattr(line, name) for name in _ENDS},
            hosts=line.hosts,
            processes=sum(len(record.runs) for record in members),
        ),
        state=line.state,
        reasons=() if line.state == "quotable" else (f"{line.state} when it was stored",),
        record=own[-1],
        members=members,
        digest=line.digest,
        ways=line.ways,
    )


def under(number: Number, digest: str) -> Number:
    """Return a pool's number under the key that is pinned to its stored line."""
    return replace(number, key=replace(number.key, digest=digest[:PINNED]), digest=digest)


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _digest(text: bytes, stated: str = "") -> str:
    """Return the sha256 of a line with its stated digest blanked."""
    return hashlib.sha256(text.replace(_DIGEST % stated.encode(), _DIGEST % b"")).hexdigest()

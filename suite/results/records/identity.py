"""What makes two results evidence of the same thing: host, program, method and kind of CPU.

Records of `result/2` state them. Records of `result/1` and `result/0` are of method 0; their program and host are in a
committed table, `identities.json`, made from the project's history. It also has the program of the few records of
`result/2` whose process made no digest, or one with a setting that does not bear on its time:

    {
     "version": 1,
     "rule": "how hosts were clustered and programs told apart",
     "hosts": ["~1", "~2"],
     "programs": ["0123456789abcdef"],
     "records": {
      "<first 16 characters of the record's digest>": [host, program],
      ...
     }
    }

`host` and `program` are indices of the lists, or null if unknown. A clustered host begins with '~', so it never equals
a hashed one. A record that lacks them and is not in the table, such as an old one of somebody else's, is pooled with
its own campaign only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated

import msgspec

from suite.results.records.machine import CpuKind
from suite.results.records.record import Record, once
from suite.scopes import SCOPES
from suite.workload import Plain

FILE_NAME = "identities.json"
KEY_LENGTH = 16  # characters of a digest in the table

_Index = Annotated[int, msgspec.Meta(ge=0)] | None
HostKey = tuple[str, CpuKind, tuple[str, ...], str]


class Table(Plain, frozen=True, kw_only=True):
    """Hosts and programs of records that do not state them."""

    version: int = 1
    rule: str = ""
    hosts: tuple[Annotated[str, msgspec.Meta(pattern=r"^~[a-z0-9-]{1,32}$")], ...] = ()
    programs: tuple[Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")], ...] = ()
    records: dict[Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")], tuple[_Index, _Index]] = msgspec.field(
        default_factory=dict
    )


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What must agree before times of one case and versions are pooled, and their host."""

    host: str  # '' if unknown
    program: str  # '' if unknown, or if nothing is compiled, as in scope `input`
    method: int
    cpu_kind: CpuKind
    gpus: tuple[str, ...]  # their names
    campaign: str
    own_campaign_only: bool  # too little is known to pool it with others

    @property
    def host_key(self) -> HostKey:
        """The key of a host.

        The hash alone is not trusted: a cloned image or a foreign record can repeat it. Records of unknown host count
        as one host of their kind. With `own_campaign_only` each campaign counts as a host.
        """
        return self.host, self.cpu_kind, self.gpus, self.campaign if self.own_campaign_only and not self.host else ""

    @property
    def words(self) -> str:
        """Host, program, method and kind of CPU in one line."""
        host, program = self.host or "not known", self.program or ("not known" if self.own_campaign_only else "none")
        return f"host {host}, program {program}, method {self.method}, CPU {self.cpu_kind.words}"


def same_host(one: Identity, other: Identity) -> bool:
    """Return whether two count as one host: equal hash, kind of CPU, granted cores and GPUs."""
    return one.host_key == other.host_key


def count_hosts(identities: Iterable[Identity]) -> int:
    """Return the number of different hosts."""
    return len({each.host_key for each in identities})


@once
def identity(record: Record) -> Identity:
    """Return a record's identity, from its own fields or from the published table."""
    return identity_in(record, table())


def identity_in(record: Record, known: Table) -> Identity:
    """Return a record's identity; `known` supplies what a record does not state, or states wrongly.

    `own_campaign_only` is set if its runs had several hosts, or if it has no program although its scope compiles one.
    """
    host, program, several = record.host, record.program, len({run.host for run in record.runs if not run.reason}) > 1
    places = known.records.get(record.digest[:KEY_LENGTH], (None, None))
    if not record.method:
        host, program = _at(known.hosts, places[0]), _at(known.programs, places[1])
    elif places[1] is not None:
        program = _at(known.programs, places[1])
    lowered = record.method == 0 or SCOPES[record.case.scope].computes
    return Identity(
        host=host,
        program=program,
        method=record.method,
        cpu_kind=record.machine.cpu_kind,
        gpus=tuple(gpu.name for gpu in record.machine.gpus),
        campaign=record.campaign,
        own_campaign_only=several or (lowered and not program),
    )


def _at(words: tuple[str, ...], index: int | None) -> str:
    return "" if index is None else words[index]


@cache
def table() -> Table:
    """Return the published table; an empty one if there is none. Raises ValueError if it is invalid."""
    path = files("suite.results.records").joinpath(FILE_NAME)
    return read(path.read_bytes()) if path.is_file() else Table()


def read(content: bytes) -> Table:
    """Return the table in a file's content.

    Raises ValueError if it is no table, has another version or an index out of range.
    """
    try:
        table_read = msgspec.json.decode(content, type=Table)
    except msgspec.DecodeError as error:
        raise ValueError(f"'{FILE_NAME}' is no table of identities: {error}; restore it from the repository") from None
    if table_read.version != 1:
        raise ValueError(f"'{FILE_NAME}' has version {table_read.version}, this suite reads 1; restore it")
    for key, places in table_read.records.items():
        for index, words in zip(places, (table_read.hosts, table_read.programs), strict=True):
            if index is not None and index >= len(words):
                raise ValueError(f"'{FILE_NAME}' has an index out of range at '{key}'; restore it from the repository")
    return table_read

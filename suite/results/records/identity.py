"""What makes two results evidence of the same thing: host, program, method and kind of CPU.

A record of `result/2` says them itself. Those of `result/1` and `result/0` are all of method 0; their program and host
stand in a committed table, `identities.json`, made once from the project's history:

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

`host` and `program` are indices of the lists, or null where nothing can be said. A clustered host begins with '~', so
it never is a hashed one. A record of those schemas that is not in the table, such as one that somebody else publishes,
is pooled with its own campaign alone.
"""

from collections.abc import Iterable, Mapping
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
KEY_LENGTH = 16  # of a digest, as it stands in the table

_Index = Annotated[int, msgspec.Meta(ge=0)] | None
HostKey = tuple[str, CpuKind, tuple[str, ...], str]


class Table(Plain, frozen=True, kw_only=True):
    """What is known of records that do not say it themselves."""

    version: int = 1
    rule: str = ""
    hosts: tuple[Annotated[str, msgspec.Meta(pattern=r"^~[a-z0-9-]{1,32}$")], ...] = ()
    programs: tuple[Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")], ...] = ()
    records: dict[Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")], tuple[_Index, _Index]] = msgspec.field(
        default_factory=dict
    )


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What has to agree before times of the same case and versions are pooled, and which host they are of."""

    host: str  # '' if unknown
    program: str  # '' if unknown, or if nothing was lowered, as in scope `input`
    method: int
    cpu_kind: CpuKind
    gpus: tuple[str, ...]  # their names
    campaign: str
    own_campaign_only: bool  # too little is known: pooled with its own campaign alone

    @property
    def host_key(self) -> HostKey:
        """What distinguishes hosts: as many hosts as different keys.

        The hash alone is not trusted: a cloned image or a foreign record can repeat it. All whose hash is unknown count
        as one host of their kind; of one that stands alone each campaign is a host.
        """
        return self.host, self.cpu_kind, self.gpus, self.campaign if self.own_campaign_only and not self.host else ""

    @property
    def words(self) -> str:
        """Host, program, method and kind of CPU in one line."""
        host, program = self.host or "not known", self.program or ("not known" if self.own_campaign_only else "none")
        return f"host {host}, program {program}, method {self.method}, CPU {self.cpu_kind.words}"


def same_host(one: Identity, other: Identity) -> bool:
    """Return whether two count as one host: equal hash, kind of CPU, cores granted and GPUs."""
    return one.host_key == other.host_key


def count_hosts(identities: Iterable[Identity]) -> int:
    """Return how many hosts these are of."""
    return len({each.host_key for each in identities})


@once
def identity(record: Record) -> Identity:
    """Return a record's identity, from its own fields or from the published table."""
    return identity_in(record, table())


def identity_in(record: Record, known: Table) -> Identity:
    """Return a record's identity; `known` is asked of one that does not say it itself.

    Alone stands who has runs of several hosts, or, but for scope `input`, no program.
    """
    host, program, several = record.host, record.program, len({run.host for run in record.runs if not run.reason}) > 1
    if not record.method:
        places = known.records.get(record.digest[:KEY_LENGTH], (None, None))
        host, program = _at(known.hosts, places[0]), _at(known.programs, places[1])
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


def by_host(of_hosts: Iterable[Record]) -> Mapping[HostKey, tuple[Record, ...]]:
    """Return the records of each host, in their order."""
    groups: dict[HostKey, list[Record]] = {}
    for record in of_hosts:
        groups.setdefault(identity(record).host_key, []).append(record)
    return {key: tuple(records) for key, records in groups.items()}


@cache
def table() -> Table:
    """Return the published table; an empty one if there is none.

    Raises ValueError for one that is no such table.
    """
    path = files("suite.results.records").joinpath(FILE_NAME)
    return read(path.read_bytes()) if path.is_file() else Table()


def read(content: bytes) -> Table:
    """Return the table in a file's content.

    Raises ValueError, naming the place, if it is another thing, of another version, or points beyond its lists.
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
                raise ValueError(f"'{FILE_NAME}' points beyond its lists at '{key}'; restore it from the repository")
    return table_read

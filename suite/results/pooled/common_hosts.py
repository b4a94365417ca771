"""The hosts that two pools have in common, and a pool on some of its hosts alone."""

from collections.abc import Iterable
from dataclasses import replace

from suite.results.pooled.pools import Pool
from suite.results.records.identity import HostKey, identity
from suite.results.records.record import Record

Host = HostKey | str


def common_hosts(one: Iterable[Record], other: Iterable[Record]) -> frozenset[Host]:
    """Return the hosts of both; of an unknown host the campaign stands for it."""
    return frozenset(map(_host, one)) & frozenset(map(_host, other))


def on_hosts(pool: Pool, hosts: frozenset[Host]) -> Pool:
    """Return the pool of those of its hosts."""
    return replace(pool, records=tuple(record for record in pool.records if _host(record) in hosts))


def _host(record: Record) -> Host:
    who = identity(record)
    return who.host_key if who.host else who.campaign

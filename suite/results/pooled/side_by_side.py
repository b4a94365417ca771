"""Pools cut to the hosts that timed all of them, for ratios of times that must be of the same hosts.

Hosts of one kind of machine differ. A ratio of times of different hosts has their difference in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from suite.results.pooled.pools import Pool
from suite.results.records.identity import HostKey, identity
from suite.results.records.record import Record

Host = HostKey | str


def host_of(record: Record) -> Host:
    """Return a record's host; if it is unknown, the campaign stands for it."""
    who = identity(record)
    return who.host_key if who.host else who.campaign


def common_hosts(one: Iterable[Record], other: Iterable[Record]) -> frozenset[Host]:
    """Return the hosts of both."""
    return frozenset(map(host_of, one)) & frozenset(map(host_of, other))


def on_hosts(pool: Pool, hosts: frozenset[Host]) -> Pool:
    """Return the pool's records of these hosts, which must be some of its own, as a pool."""
    return replace(pool, records=tuple(record for record in pool.records if host_of(record) in hosts))


def most_side_by_side(pools: Sequence[Pool]) -> tuple[Pool, ...]:
    """Return as many of the pools as one host timed, in their order, each cut as `side_by_side` does."""
    hosts = [frozenset(map(host_of, pool.records)) for pool in pools]
    each = dict.fromkeys(host_of(record) for pool in pools for record in pool.records)
    timed = [frozenset(place for place, some in enumerate(hosts) if host in some) for host in each]
    most = max(timed, key=lambda places: (len(places), sum(places <= others for others in timed)))
    return side_by_side([pools[place] for place in sorted(most)])


def side_by_side(pools: Sequence[Pool]) -> tuple[Pool, ...]:
    """Return the pools, each with the records of the hosts that timed all of them; () if no host did.

    Of a host with campaigns that timed all, these alone count: it may have been busier in others.
    """
    hosts = frozenset.intersection(*(frozenset(map(host_of, pool.records)) for pool in pools))
    campaigns = frozenset.intersection(*(frozenset(pool.campaigns) for pool in pools))
    paired = {host_of(record) for pool in pools for record in pool.records if record.campaign in campaigns}

    def counts(record: Record) -> bool:
        host = host_of(record)
        return record.campaign in campaigns if host in paired else host in hosts

    return tuple(replace(pool, records=tuple(filter(counts, pool.records))) for pool in pools) if hosts else ()

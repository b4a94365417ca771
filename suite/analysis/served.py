"""What serving answers share: a network's pools and speed-ups by way, and derived clusters."""

from collections import defaultdict
from collections.abc import Iterable

from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.stats.statistics import Estimate
from suite.scopes import Scope

BATCHES = (1, 8, 32, 128)

Way = tuple[Scope, int]  # scope, and pictures per step or request
Networks = dict[str, dict[Way, dict[str, Pool]]]  # by name, then by backend

REQUESTS: Way = ("serve", 1)


def plain_requests(record: Record) -> bool:
    """Return whether a record is of JAX's requests in the headline setting."""
    return record.usual("batch") and (record.case.scope, record.case.batch) == REQUESTS


def sides_of(evidence: Evidence) -> Networks:
    """Return each inference network's pools, the smallest network first: requests, then steps by batch."""
    fits = list(evidence.fitting(lambda r: not r.description.trained and asked(r)))
    networks: Networks = {}
    for pool in sorted(fits, key=lambda pool: (pool.newest.description.flop_per_example, _order(way_of(pool.case)))):
        backends = networks.setdefault(pool.case.workload, {}).setdefault(way_of(pool.case), {})
        other = backends.setdefault(pool.case.backend, pool)
        if pool.hosts > other.hosts:  # of two allocators the one with more hosts
            backends[pool.case.backend] = pool
    return networks


def served(speedups: Iterable[PooledSpeedUp]) -> dict[str, dict[Way, PooledSpeedUp]]:
    """Return each inference network's valid speed-ups, the smallest network first: requests, then steps by batch."""
    networks: dict[str, dict[Way, PooledSpeedUp]] = defaultdict(dict)
    valid = (item for item in speedups if not item.record.description.trained and item.state != "invalid")
    fits = (item for item in valid if asked(item.record))
    for item in sorted(fits, key=lambda item: (item.record.description.flop_per_example, _order(way_of(item.case)))):
        networks[item.workload][way_of(item.case)] = item
    return networks


def asked(record: Record) -> bool:
    """Return whether a record is of requests or of a step in the headline setting."""
    return plain_requests(record) or record.headline_step("batch")


def way_of(case: Case) -> Way:
    """Return a case's scope and batch."""
    return case.scope, case.batch


def _order(way: Way) -> tuple[bool, int]:
    return way != REQUESTS, way[1]


def cluster(gain: Estimate, gpus: int, machines: int) -> Estimate:
    """Return the derived throughput of so many GPUs over the CPUs of so many machines, if both scale perfectly."""
    return gain.times(gpus / machines)

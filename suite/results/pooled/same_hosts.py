"""Whether the hosts of a step's speed-up also timed another amount of the work, and its speed-up on these alone.

Hosts of one kind of machine differ. If other hosts timed a step with its copy, it may even seem faster than the step.
"""

from collections.abc import Iterable
from dataclasses import replace

from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.identity import HostKey, identity
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled

Host = HostKey | str


def step_beside(step: PooledSpeedUp, item: PooledSpeedUp) -> Pooled | None:
    """Return the step's speed-up on the hosts that timed both sides of it and of the item; None if none did."""
    return step_on(step, common_hosts(item.cpu.records, item.gpu.records))


def step_on(step: PooledSpeedUp, hosts: frozenset[Host]) -> Pooled | None:
    """Return the step's speed-up on those of the hosts that timed both of its sides; None if none did."""
    both = hosts & common_hosts(step.cpu.records, step.gpu.records)
    return _on(step.cpu, both).over(_on(step.gpu, both)) if both else None


def common_hosts(cpu: Iterable[Record], gpu: Iterable[Record]) -> frozenset[Host]:
    """Return the hosts of both sides; of an unknown host the campaign stands for it."""
    return frozenset(map(_host, cpu)) & frozenset(map(_host, gpu))


def _host(record: Record) -> Host:
    who = identity(record)
    return who.host_key if who.host else who.campaign


def _on(pool: Pool, hosts: frozenset[Host]) -> Pool:
    return replace(pool, records=tuple(record for record in pool.records if _host(record) in hosts))

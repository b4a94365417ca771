"""Whether the hosts of a step's speed-up also timed another amount of the work, and its speed-up on these alone.

Hosts of one kind of machine differ. If other hosts timed a step with its copy, it may even seem faster than the step.
"""

from suite.results.pooled.side_by_side import Host, common_hosts, on_hosts
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.stats.pooling import Pooled


def step_beside(step: PooledSpeedUp, item: PooledSpeedUp) -> Pooled | None:
    """Return the step's speed-up on the hosts that timed both sides of it and of the item; None if none did."""
    return step_on(step, common_hosts(item.cpu.records, item.gpu.records))


def step_on(step: PooledSpeedUp, hosts: frozenset[Host]) -> Pooled | None:
    """Return the step's speed-up on those of the hosts that timed both of its sides; None if none did."""
    both = hosts & common_hosts(step.cpu.records, step.gpu.records)
    return on_hosts(step.cpu, both).over(on_hosts(step.gpu, both)) if both else None

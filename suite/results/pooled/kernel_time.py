"""A second clock: the GPU's busy time of a step, beside the step's wall time.

The host's clock times a step, the GPU's own clock its kernels. A step cannot end before its kernels do. The share in
which the GPU works is that of the hosts that timed both, since hosts differ in how fast they launch.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from suite import units
from suite.results.pooled.pools import Found, Pool
from suite.results.pooled.side_by_side import side_by_side
from suite.results.stats.pooling import Pooled

_TOLERANCE = 0.05  # of two clocks, and of what a profiler adds to a kernel


@dataclass(frozen=True, kw_only=True)
class KernelTime:
    """A step and its kernels, of the same hosts; the rest of the step are gaps, in which the GPU waits."""

    step: Pool
    kernels: Pool
    elsewhere: bool  # whether other hosts timed one of them too, so that its time on this kind of machine is another

    @property
    def busy(self) -> Pooled:
        """The share of the step in which the GPU works."""
        return self.kernels.over(self.step)

    @property
    def gap_seconds(self) -> float:
        """Seconds of a step in which the GPU waits; below 0 only by what two clocks differ."""
        return self.step.seconds.value - self.kernels.seconds.value

    @property
    def operations(self) -> float | None:
        """Kernels, copies and memory sets of a step; None if its process failed."""
        return next((run.profiled.operations_per_step for run in self.kernels.newest.runs if run.profiled), None)


def kernel_time(kernels: Pool, steps: Iterable[Pool]) -> KernelTime | None:
    """Return the first of the steps' pools that shares a host with the kernels, beside these; None if none does.

    Both are of the hosts that timed both. The first pool is the one that other pages show.
    """
    for place, step in enumerate(steps):
        if both := side_by_side((step, kernels)):
            cut = any(len(one.records) < len(pool.records) for one, pool in zip(both, (step, kernels), strict=True))
            return KernelTime(step=both[0], kernels=both[1], elsewhere=cut or place > 0)
    return None


def kernels_of(machine: str, step: Pool, current: Found) -> Pool | None:
    """Return the kernels of a GPU step, whichever hosts profiled them; None if none did."""
    if (step.case.backend, step.case.scope) != ("gpu", "step"):
        return None
    return current.get((machine, msgspec.structs.replace(step.case, scope="kernels")))


def too_short(machine: str, step: Pool, current: Found) -> tuple[str, ...]:
    """Return why a step's time cannot be true, beside its kernels; () if nothing speaks against it.

    It is more than 5 % below theirs, and each lies outside the other's interval.
    """
    kernels = kernels_of(machine, step, current)
    if kernels is None:
        return ()
    wall, busy = step.seconds, kernels.seconds
    if wall.high is None or busy.low is None or busy.value <= (1 + _TOLERANCE) * wall.value:
        return ()
    if busy.value <= wall.high or wall.value >= busy.low:
        return ()
    return (f"a step takes {units.seconds(wall.value)}, its kernels alone {units.seconds(busy.value)}",)

"""A second clock: the GPU's busy time of a step, beside the step's wall time.

The host's clock times a step, the GPU's own clock its kernels. A step cannot end before its kernels do.
"""

from dataclasses import dataclass

import msgspec

from suite import units
from suite.results.pooled.pools import Found, Pool
from suite.results.stats.pooling import Pooled

_TOLERANCE = 0.05  # of two clocks, and of what a profiler adds to a kernel


@dataclass(frozen=True, kw_only=True)
class KernelTime:
    """A step and its kernels, on one kind of machine; the rest of the step are gaps, in which the GPU waits."""

    step: Pool
    kernels: Pool

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


def kernel_time(machine: str, step: Pool, current: Found) -> KernelTime | None:
    """Return a GPU step beside its kernels; None if none were profiled."""
    if (step.case.backend, step.case.scope) != ("gpu", "step"):
        return None
    kernels = current.get((machine, msgspec.structs.replace(step.case, scope="kernels")))
    return KernelTime(step=step, kernels=kernels) if kernels else None


def too_short(machine: str, step: Pool, current: Found) -> tuple[str, ...]:
    """Return why a step's time cannot be true, beside its kernels; () if nothing speaks against it.

    It is more than 5 % below theirs, and each lies outside the other's interval.
    """
    both = kernel_time(machine, step, current)
    if both is None:
        return ()
    wall, busy = step.seconds, both.kernels.seconds
    if wall.high is None or busy.low is None or busy.value <= (1 + _TOLERANCE) * wall.value:
        return ()
    if busy.value <= wall.high or wall.value >= busy.low:
        return ()
    return (f"a step takes {units.seconds(wall.value)}, its kernels alone {units.seconds(busy.value)}",)

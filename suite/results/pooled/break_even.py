"""After how many steps the GPU has won back its longer start: where both sides have taken the same time.

A side's total time is its cold start, which includes the first step, and its further steps.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.stats.pooling import moments, reach
from suite.results.stats.statistics import Estimate
from suite.results.stats.turning import stays_above

_FARTHEST = 1e12  # steps; what is not won back by then never is


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """The steps from which the GPU stays ahead, the first one included, and the seconds until then.

    1 step means at once, infinity never. The ends are None if too little is known of how hosts differ.
    """

    start: PooledSpeedUp
    step: PooledSpeedUp
    steps: float
    low: float | None = None
    high: float | None = None

    @property
    def quotable(self) -> bool:
        """Whether both of its numbers are."""
        return self.start.quotable and self.step.quotable

    def seconds(self, steps: float) -> float:
        """Return the CPU's time until then, at the break-even also the GPU's: it starts late and then hardly waits.

        So the ends of the steps give those of the seconds.
        """
        return self.start.cpu.seconds.value + (steps - 1) * self.step.cpu.seconds.value


def break_even(start: PooledSpeedUp, step: PooledSpeedUp) -> BreakEven:
    """Return the steps from which the CPU's total time exceeds the GPU's, from a cold start's speed-up and a step's.

    Its interval ends where the interval of the ratio of total times no longer holds 1.
    """

    def end(of: Callable[[Estimate], float | None]) -> float | None:
        return stays_above(lambda steps: of(total_ratio(start, step, steps)), _FARTHEST)

    steps = end(lambda ratio: ratio.value)
    assert steps is not None
    return BreakEven(
        start=start, step=step, steps=steps, low=end(lambda ratio: ratio.high), high=end(lambda ratio: ratio.low)
    )


def total_ratio(start: PooledSpeedUp, step: PooledSpeedUp, steps: float) -> Estimate:
    """Return the ratio of the two sides' times of so many steps, the first of which is the cold start.

    On each side a slow start and slow steps count as fully correlated, so the interval is rather too wide.
    """
    cpu, cpu_error = _total(start.cpu, step.cpu, steps)
    gpu, gpu_error = _total(start.gpu, step.gpu, steps)
    if not (cpu_error[1] and gpu_error[1]):
        return Estimate(value=cpu / gpu)
    spread = math.exp(reach((cpu_error, gpu_error)))
    return Estimate(value=cpu / gpu, low=cpu / gpu / spread, high=cpu / gpu * spread)


def _total(start: Pool, each: Pool, steps: float) -> tuple[float, tuple[float, float]]:
    """Return a side's seconds, the variance of their logarithm and its degrees of freedom."""
    rest = (steps - 1) * each.seconds.value
    time = start.seconds.value + rest
    (_, error2, _, known), (_, errors2, _, other) = (moments(pool.cell, pool.among) for pool in (start, each))
    share = rest / time
    return time, (((1 - share) * math.sqrt(error2) + share * math.sqrt(errors2)) ** 2, min(known, other))

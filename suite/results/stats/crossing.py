"""The size above which a ratio stays above 1, from its values and intervals at some sizes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from suite.results.stats.statistics import Estimate

Outcome = Literal["always", "never", "from", "not separated"]


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The size from which a ratio stays above 1; None if outside the measured sizes."""

    outcome: Outcome
    size: float | None = None
    low: float | None = None  # below it the ratio is certainly below 1
    high: float | None = None  # from it on the ratio is certainly above 1


def crossing(points: Sequence[tuple[float, Estimate]]) -> Crossing:
    """Return the crossing of a ratio with 1: always above, never, from a size with its interval, or not separated.

    Between neighbouring sizes the logarithm of the ratio, and of each end of its interval, is interpolated linearly in
    the logarithm of the size. The size's interval ends where the ends of the ratio's interval cross 1 for the last
    time. A ratio without an interval bounds nothing.
    """
    curve = sorted(points, key=lambda point: point[0])
    sizes = [math.log(size) for size, _ in curve]
    values = [math.log(ratio.value) for _, ratio in curve]
    lows = [-math.inf if ratio.low is None else math.log(ratio.low) for _, ratio in curve]
    highs = [math.inf if ratio.high is None else math.log(ratio.high) for _, ratio in curve]
    if not curve:
        return Crossing(outcome="not separated")
    if min(lows) > 0:
        return Crossing(outcome="always")
    if max(highs) < 0:
        return Crossing(outcome="never")
    size, low, high = (_last_rise(sizes, ends) for ends in (values, highs, lows))
    if low is None and high is None:
        return Crossing(outcome="not separated", size=size)
    return Crossing(outcome="from", size=size, low=low, high=high)


def _last_rise(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """Return where the values last rise above 0; None if before the first or after the last size."""
    below = [index for index, value in enumerate(values) if value <= 0]
    if not below or below[-1] == len(values) - 1:
        return None
    start = below[-1]
    (left, right), (low, high) = sizes[start : start + 2], values[start : start + 2]
    if math.isinf(low) or math.isinf(high):  # unknown on one side: the other side's size is certain
        return math.exp(right if math.isinf(low) else left)
    return math.exp(left + (right - left) * -low / (high - low))

"""How a value depends on a size: power-law fit, rank correlation, and the size from which a ratio stays above 1."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import correlation, linear_regression, variance
from typing import Literal

from suite.results.stats.statistics import Estimate, t_quantile

Outcome = Literal["always", "never", "from", "not separated"]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """value = factor x place^exponent; the exponent's 95 % interval is None for two points."""

    factor: float
    exponent: float
    low: float | None
    high: float | None

    def at(self, place: float) -> float:
        """Return the fitted value."""
        return self.factor * place**self.exponent


def power_law(places: Sequence[float], values: Sequence[float]) -> Fit | None:
    """Return the least-squares line of the logarithms; None for fewer than two different places."""
    xs, ys = [math.log(place) for place in places], [math.log(value) for value in values]
    if len(set(xs)) < 2:
        return None
    exponent, constant = linear_regression(xs, ys)
    factor = math.exp(constant)
    if len(xs) < 3:
        return Fit(factor=factor, exponent=exponent, low=None, high=None)
    rest = sum((b - constant - exponent * a) ** 2 for a, b in zip(xs, ys, strict=True))
    spread = (len(xs) - 1) * variance(xs)
    reach = t_quantile(len(xs) - 2) * math.sqrt(rest / (len(xs) - 2) / spread)
    return Fit(factor=factor, exponent=exponent, low=exponent - reach, high=exponent + reach)


def rank_correlation(places: Sequence[float], values: Sequence[float]) -> float | None:
    """Return the rank correlation, from -1 to 1; None if one side is constant.

    Source: Spearman, The proof and measurement of association between two things (1904); equal values share a rank.
    """
    if min(len(set(places)), len(set(values))) < 2:
        return None
    return correlation(_ranks(places), _ranks(values))


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


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
    return _crossing(sizes, values, lows, highs, math.exp)


def crossing_of_times(points: Sequence[tuple[float, Estimate, float]]) -> Crossing:
    """Return `crossing` from few sizes far apart, of a ratio of times, given the denominator's seconds at each size.

    Between neighbouring sizes each of the two times is interpolated linearly in the size, as a fixed cost and a cost
    for each unit of work make it. The logarithm of their ratio is then bent, and a chord of it crosses 1 too early.
    """
    curve = sorted(points, key=lambda point: point[0])
    sizes = [float(size) for size, *_ in curve]
    values = [seconds * (ratio.value - 1) for _, ratio, seconds in curve]
    lows = [-math.inf if ratio.low is None else seconds * (ratio.low - 1) for _, ratio, seconds in curve]
    highs = [math.inf if ratio.high is None else seconds * (ratio.high - 1) for _, ratio, seconds in curve]
    return _crossing(sizes, values, lows, highs, float)


def _crossing(
    sizes: Sequence[float],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    size_of: Callable[[float], float],
) -> Crossing:
    """Return where the values and both ends of their intervals come to be above 0; `size_of` gives a place's size."""
    if not sizes:
        return Crossing(outcome="not separated")
    if min(lows) > 0:
        return Crossing(outcome="always")
    if max(highs) < 0:
        return Crossing(outcome="never")
    rises = (_last_rise(sizes, ends) for ends in (values, highs, lows))
    size, low, high = (None if place is None else size_of(place) for place in rises)
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
        return right if math.isinf(low) else left
    return left + (right - left) * -low / (high - low)

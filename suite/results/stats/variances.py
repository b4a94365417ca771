"""Robust pooling of variances: a far outlier counts no more than the cut of normal noise.

Source: Huber, Robust estimation of a location parameter (1964).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

SMALLEST, _LARGEST = 1e-12, 100.0  # variances of logarithms
EFFICIENCY = 0.8  # share of the degrees of freedom that remains after the cut
HEAVIEST = 4  # most degrees of freedom that one sample counts for
_CUT = 0.05  # chance that normal noise exceeds the cut
_WILD = 1e-3  # chance of a sample's variance below which the sample is an outlier


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """Sample variance of some values, and the known noise in it."""

    values: Sequence[float]
    variance: float
    noise: float

    @property
    def degrees(self) -> int:
        """Degrees of freedom."""
        return len(self.values) - 1

    @property
    def weight(self) -> int:
        """The degrees of freedom that it counts for in a pool."""
        return min(self.degrees, HEAVIEST)

    def times(self, factor: float) -> "Spread":
        """Return it with its variance multiplied by a factor, and no known noise."""
        return Spread(values=self.values, variance=factor * self.variance, noise=0.0)

    def over(self, expected: float) -> float:
        """Return its variance over the expected variance plus the noise."""
        return self.variance / max(expected + self.noise, SMALLEST)

    def wild(self, expected: float) -> bool:
        """Return whether normal noise of the expected variance cannot explain its variance."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.degrees * self.over(expected))) <= _WILD


def spread(values: Sequence[float], noise: float = 0.0) -> Spread:
    """Return the spread of two values or more."""
    centre = fmean(values)  # statistics.variance is exact, but ten times slower
    squares = sum((value - centre) ** 2 for value in values)
    return Spread(values=values, variance=squares / (len(values) - 1), noise=noise)


def calm(spreads: Sequence[Spread]) -> list[Spread]:
    """Return the spreads that are no outliers: a cell judged by itself tells nothing of the others."""
    expected = agreed(spreads)
    return [each for each in spreads if not each.wild(expected)]


def agreed(spreads: Sequence[Spread]) -> float:
    """Return the pooled variance beside the noise of each; 0 without spreads, or if the noise explains all.

    A ratio above the cut, which normal noise exceeds in 5 of 100 cases, counts as the cut.
    """
    weighed = [(each, each.weight, _cut(each.degrees)) for each in spreads]
    usual = sum(weight * _usual(each.degrees) for each, weight, _ in weighed)

    def excess(value: float) -> float:
        return sum(weight * min(each.over(value), cut) for each, weight, cut in weighed) - usual

    return root(excess, SMALLEST, _LARGEST) if spreads and excess(SMALLEST) > 0 else 0.0


def root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a falling function between `low` and `high`, by bisection of the logarithm."""
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return math.sqrt(low * high)


@cache
def _cut(degrees: int) -> float:
    """Return the ratio of sample to expected variance that normal noise exceeds in 5 of 100 cases."""
    from scipy.special import chdtri

    return float(chdtri(degrees, _CUT)) / degrees


@cache
def _usual(degrees: int) -> float:
    """Return the mean ratio of sample to expected variance of normal noise after the cut."""
    from scipy.special import chdtr

    cut = _cut(degrees)
    return float(chdtr(degrees + 2, cut * degrees)) + cut * _CUT

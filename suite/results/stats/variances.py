"""The variance that several samples agree on: one that is far off counts for no more than normal noise would let it.

Source: Huber, Robust estimation of a location parameter (1964).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

SMALLEST, _LARGEST = 1e-12, 100.0  # variances of logarithms
EFFICIENCY = 0.8  # degrees of freedom that the cut leaves of those that went in
HEAVIEST = 4  # degrees of freedom that one sample counts for among others
_CUT = 0.05  # chance with which normal noise exceeds what one sample may count for
_WILD = 1e-3  # chance of a sample's own variance, below which it is none of the others'


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """How far values are apart, and the noise that is known to be in their variance."""

    values: Sequence[float]
    variance: float
    noise: float

    @property
    def degrees(self) -> int:
        """Degrees of freedom."""
        return len(self.values) - 1

    @property
    def weight(self) -> int:
        """The degrees of freedom for which it counts among others."""
        return min(self.degrees, HEAVIEST)

    def times(self, factor: float) -> "Spread":
        """Return it with a variance that is by this factor larger, of which no noise is known."""
        return Spread(values=self.values, variance=factor * self.variance, noise=0.0)

    def over(self, expected: float) -> float:
        """Return its variance over that which is expected beside the noise."""
        return self.variance / max(expected + self.noise, SMALLEST)

    def wild(self, expected: float) -> bool:
        """Return whether normal noise of the variance expected cannot explain it."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.degrees * self.over(expected))) <= _WILD


def spread(values: Sequence[float], noise: float = 0.0) -> Spread:
    """Return how far two values or more are apart."""
    centre = fmean(values)  # statistics.variance is exact, and takes ten times as long
    squares = sum((value - centre) ** 2 for value in values)
    return Spread(values=values, variance=squares / (len(values) - 1), noise=noise)


def calm(spreads: Sequence[Spread]) -> list[Spread]:
    """Return those that are not wild beside the others: a cell that is judged by itself says nothing of them."""
    expected = agreed(spreads)
    return [each for each in spreads if not each.wild(expected)]


def agreed(spreads: Sequence[Spread]) -> float:
    """Return the variance that these agree on beside their noise; 0 if there are none, or none is needed.

    One far above its expectation counts as if it were at the cut, which normal noise exceeds in 5 of 100 cases.
    """
    weighed = [(each, each.weight, _cut(each.degrees)) for each in spreads]
    usual = sum(weight * _usual(each.degrees) for each, weight, _ in weighed)

    def excess(value: float) -> float:
        return sum(weight * min(each.over(value), cut) for each, weight, cut in weighed) - usual

    return root(excess, SMALLEST, _LARGEST) if spreads and excess(SMALLEST) > 0 else 0.0


def root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0, between these."""
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return math.sqrt(low * high)


@cache
def _cut(degrees: int) -> float:
    """Return what a sample variance of normal noise over its expectation exceeds in 5 of 100 cases."""
    from scipy.special import chdtri

    return float(chdtri(degrees, _CUT)) / degrees


@cache
def _usual(degrees: int) -> float:
    """Return what a sample variance of normal noise over its expectation is on average, if cut."""
    from scipy.special import chdtr

    cut = _cut(degrees)
    return float(chdtr(degrees + 2, cut * degrees)) + cut * _CUT

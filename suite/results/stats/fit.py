"""Power-law fit with the interval of its exponent, and rank correlation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import correlation, linear_regression, variance

from suite.results.stats.statistics import t_quantile


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

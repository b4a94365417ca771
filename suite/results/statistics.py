"""Estimates with intervals: one number per process, t intervals on the log scale."""

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev

from suite.workload import Plain


class Estimate(Plain, frozen=True, kw_only=True):
    """A positive value with its 95 % interval; the ends are None when one process alone gave it."""

    value: float
    low: float | None = None
    high: float | None = None
    processes: int = 1

    @property
    def relative_half_width(self) -> float | None:
        """Half the interval's length on the log scale, as a share of the value."""
        if self.low is None or self.high is None:
            return None
        return math.expm1(math.log(self.high / self.low) / 2)


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % point of Student's t distribution."""
    from scipy.special import stdtrit  # a light part of scipy; scipy.stats costs half a second of import

    return float(stdtrit(degrees, 0.975))


def geometric_mean(values: Sequence[float]) -> Estimate:
    """Return the geometric mean of positive values, one per process, with a t interval on the log scale.

    Source: for log-normal noise the interval is exact; see Kalibera and Jones, Rigorous benchmarking (2013).
    """
    if not values or min(values) <= 0 or not all(map(math.isfinite, values)):
        raise ValueError(f"a geometric mean needs positive finite values, got {list(values)}")
    logs = [math.log(value) for value in values]
    centre = fmean(logs)
    if len(logs) == 1:
        return Estimate(value=math.exp(centre))
    reach = t_quantile(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return Estimate(
        value=math.exp(centre), low=math.exp(centre - reach), high=math.exp(centre + reach), processes=len(logs)
    )


def paired_ratio(numerator: dict[int, float], denominator: dict[int, float]) -> Estimate | None:
    """Return numerator over denominator from the rounds that both have; None if they share no round."""
    rounds = sorted(numerator.keys() & denominator.keys())
    return geometric_mean([numerator[r] / denominator[r] for r in rounds]) if rounds else None


def trend(values: Sequence[float]) -> float:
    """Return by which share the last quarter's median exceeds the first quarter's."""
    quarter = max(1, len(values) // 4)
    return median(values[-quarter:]) / median(values[:quarter]) - 1

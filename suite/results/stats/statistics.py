"""Estimates with t intervals on the log scale, one value per process, and tests of differences."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import fmean, median, stdev, variance

from suite.workload import Plain

COVERAGE = 0.95  # of every interval
_FEWEST_FOR_TREND, _BEYOND_NOISE = 4, 2.4  # values; standard deviations, which 1.6 % of steady results exceed


class Estimate(Plain, frozen=True, kw_only=True):
    """A positive value with its 95 % interval; the ends are None for a single process."""

    value: float
    low: float | None = None
    high: float | None = None
    processes: int = 1

    @property
    def relative_half_width(self) -> float | None:
        """Half the interval's length on the log scale, relative to the value; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return math.expm1(math.log(self.high / self.low) / 2)

    def per(self, quantity: float) -> "Estimate":
        """Return a quantity over this value, with its interval inverted: a rate from a time."""
        low, high = (None if end is None else quantity / end for end in (self.high, self.low))
        return Estimate(value=quantity / self.value, low=low, high=high, processes=self.processes)

    def times(self, factor: float) -> "Estimate":
        """Return this value times an exactly known positive number."""
        return self.mapped(lambda value: factor * value)

    def mapped(self, function: Callable[[float], float]) -> "Estimate":
        """Return this value and the ends of its interval under an increasing function."""
        low, high = (None if end is None else function(end) for end in (self.low, self.high))
        return Estimate(value=function(self.value), low=low, high=high, processes=self.processes)


def t_quantile(degrees: float) -> float:
    """Return the 97.5 % point of Student's t distribution."""
    from scipy.special import stdtrit  # a light part of scipy; scipy.stats costs half a second of import

    return float(stdtrit(degrees, (1 + COVERAGE) / 2))


def t_chance(degrees: float, size: float) -> float:
    """Return the two-sided chance of a Student's t value at least this large."""
    from scipy.special import stdtr

    return 2 * float(stdtr(degrees, -abs(size)))


def geometric_mean(values: Sequence[float]) -> Estimate:
    """Return the geometric mean of positive values, one per process, with a t interval on the log scale.

    The interval is exact for log-normal noise. Source: Kalibera and Jones, Rigorous benchmarking (2013). Raises
    ValueError for no values, or one that is not positive and finite.
    """
    return _geometric_mean(tuple(values))


@lru_cache(2**14)  # the site's pages ask for the same ratios many times
def _geometric_mean(values: tuple[float, ...]) -> Estimate:
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
    """Return numerator over denominator from their common rounds; None if they share no round."""
    rounds = sorted(numerator.keys() & denominator.keys())
    return geometric_mean([numerator[r] / denominator[r] for r in rounds]) if rounds else None


def product(groups: Sequence[Sequence[float]]) -> Estimate:
    """Return the product of the geometric means of independent groups of positive values, one per process.

    The degrees of freedom combine all groups; there is no interval if a group has one process. The interval is too
    short if a group of two has most of the variance: beside a group of ten its coverage is about 90 %.

    Source: Satterthwaite, An approximate distribution of estimates of variance components (1946).
    """
    return _product([_logarithms(group) for group in groups])


def _product(logs: Sequence[Sequence[float]]) -> Estimate:
    value, processes = math.exp(math.fsum(map(fmean, logs))), min(map(len, logs))
    if processes == 1:
        return Estimate(value=value)
    error, degrees = _spread(logs)
    reach = t_quantile(degrees) * error
    return Estimate(value=value, low=value * math.exp(-reach), high=value * math.exp(reach), processes=processes)


def _logarithms(values: Sequence[float], sign: int = 1) -> list[float]:
    return [sign * math.log(value) for value in values]


def unpaired_ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Estimate | None:
    """Return the ratio of two geometric means of processes that were not measured side by side; None without values.

    The degrees of freedom combine both sides.

    Source: Welch, The generalization of "Student's" problem when several different population variances are involved
        (1947).
    """
    if not numerator or not denominator:
        return None
    return _product([_logarithms(numerator), _logarithms(denominator, -1)])


def _spread(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the standard error of a sum of means of two values or more each, and its degrees of freedom."""
    errors = [variance(group) / len(group) for group in groups]
    shares = sum(error**2 / (len(group) - 1) for error, group in zip(errors, groups, strict=True))
    return math.sqrt(sum(errors)), sum(errors) ** 2 / shares if shares else 1.0


def sign_interval(ratios: Sequence[float]) -> tuple[float, float] | None:
    """Return an interval with at least 95 % coverage of the median under any noise; None below 6 values.

    Its ends are order statistics of the values, chosen by the binomial distribution.
    """
    count = len(ratios)
    outside = [sum(math.comb(count, heads) for heads in range(cut)) / 2**count for cut in range(count // 2 + 1)]
    cut = max(index for index, chance in enumerate(outside) if 2 * chance <= 1 - COVERAGE)
    ordered = sorted(ratios)
    return (ordered[cut - 1], ordered[-cut]) if cut else None


def paired_p_value(numerator: dict[int, float], denominator: dict[int, float]) -> float | None:
    """Return the p value of a difference, by the t test on common rounds; None for fewer than two rounds."""
    logs = [math.log(numerator[r] / denominator[r]) for r in numerator.keys() & denominator.keys()]
    return _two_sided(fmean(logs), stdev(logs) / math.sqrt(len(logs)), len(logs) - 1) if len(logs) > 1 else None


def unpaired_p_value(numerator: Sequence[float], denominator: Sequence[float]) -> float | None:
    """Return the p value of a difference, by Welch's test; None if a side has fewer than two values."""
    if min(len(numerator), len(denominator)) < 2:
        return None
    logs = [_logarithms(numerator), _logarithms(denominator, -1)]
    return _two_sided(math.fsum(map(fmean, logs)), *_spread(logs))


def _two_sided(difference: float, error: float, degrees: float) -> float:
    if not error:
        return 0.0 if difference else 1.0
    return t_chance(degrees, difference / error)


def holm(chances: Sequence[float]) -> tuple[float, ...]:
    """Return adjusted p values: the chance of one false alarm in the whole table stays at 5 %.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    raised, worst = [0.0] * len(chances), 0.0
    for rank, index in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        worst = max(worst, min(1.0, (len(chances) - rank) * chances[index]))
        raised[index] = worst
    return tuple(raised)


def trend(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the relative rise of values within a group, the median over groups; None if it may be noise.

    A group's rise compares the mean of its last two fifths with that of its first two. The noise test counts pairs in
    which the later value is larger; five values must fall one by one to count. Groups of fewer than four are ignored.

    Source: Hirsch, Slack and Smith, Techniques of trend analysis (1982), the seasonal Kendall test.
    """
    long_groups = [group for group in groups if len(group) >= _FEWEST_FOR_TREND]
    if not long_groups:
        return None
    score = sum(map(_kendall, long_groups))
    spread = math.sqrt(sum(len(group) * (len(group) - 1) * (2 * len(group) + 5) / 18 for group in long_groups))
    rise = median(map(_rise, long_groups))
    return rise if abs(score) > _BEYOND_NOISE * spread and score * rise > 0 else None


def _kendall(values: Sequence[float]) -> int:
    """Return the number of rising pairs minus the number of falling ones."""
    pairs = [(before, after) for index, before in enumerate(values) for after in values[index + 1 :]]
    return sum((after > before) - (after < before) for before, after in pairs)


def _rise(values: Sequence[float]) -> float:
    share = 2 * len(values) // 5
    return fmean(values[-share:]) / fmean(values[:share]) - 1

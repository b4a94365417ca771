"""A share of trials with an interval that allows for dependent trials."""

from collections import defaultdict
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass

from suite.results.stats.statistics import COVERAGE, t_quantile

Trial = tuple[bool, Set[Hashable]]  # outcome, and links: trials that share one are dependent


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of trials, from 0 to 1, with its 95 % interval."""

    value: float
    low: float
    high: float
    trials: int


def share(trials: Sequence[Trial], clusters: int) -> Share | None:
    """Return the share of true trials; None without trials. `clusters` is the number of independent clusters.

    The interval uses the effective number of trials: as many independent ones would have the share's variance. If all
    outcomes are equal no variance is visible, and each cluster counts as one trial.

    Source: Korn and Graubard, Confidence intervals for proportions with small expected number of positive counts
    (1998); for trials that belong to two clusters, Aronow, Samii and Assenova, Cluster-robust variance estimation for
    dyadic data (2015).
    """
    from scipy.special import betaincinv

    if not trials:
        return None
    value, count = sum(good for good, _ in trials) / len(trials), len(trials)
    effective = min(count, _effective(trials, value, clusters))
    true, false, tail = effective * value, effective * (1 - value), (1 - COVERAGE) / 2
    low = float(betaincinv(true, false + 1, tail)) if true else 0.0
    high = float(betaincinv(true + 1, false, 1 - tail)) if false else 1.0
    return Share(value=value, low=low, high=high, trials=count)


def highest_rate(failures: int, trials: int) -> float:
    """Return the rate of failures, from 0 to 1, that so many independent trials exclude at 95 %.

    Without a failure it is about 3 / trials: the rule of three.
    """
    from scipy.special import betaincinv

    return float(betaincinv(failures + 1, trials - failures, COVERAGE)) if failures < trials else 1.0


def _effective(trials: Sequence[Trial], value: float, clusters: int) -> float:
    """Return the effective number of independent trials."""
    if clusters < 2 or value in (0.0, 1.0):
        return clusters
    linked: dict[Hashable, set[int]] = defaultdict(set)
    for index, (_, links) in enumerate(trials):
        for link in links:
            linked[link].add(index)
    off = [good - value for good, _ in trials]
    alone = sum(each**2 for each in off)
    together = sum(
        each * sum(off[index] for index in set().union(*(linked[link] for link in links)))
        for each, (_, links) in zip(off, trials, strict=True)
    )
    effect = max(together / alone, 1.0) * clusters / (clusters - 1)  # design effect on the variance
    return len(off) / effect * (t_quantile(len(off) - 1) / t_quantile(clusters - 1)) ** 2

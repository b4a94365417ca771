"""Variance components of a kind of machine with few hosts, partly borrowed from similar kinds."""

import math
import operator
from collections.abc import Iterable, Sequence

from suite.results.stats.variance_components import Components
from suite.results.stats.variances import root

_DEGREES = 1e-2, 1e6  # fewest and most degrees of freedom
_BOTH = operator.attrgetter("tau2"), operator.attrgetter("sigma2")


def unlikeness(groups: Iterable[Iterable[Components]]) -> float:
    """Return how much kinds of machine differ: the variance of the log of their hosts' variance, beyond chance.

    Only kinds in one group are compared. 0 if no group has two kinds.

    Source: DerSimonian and Laird (1986).
    """
    beyond = scale = 0.0
    for group in groups:
        logs = _log_variances(group)
        weights = [1 / chance for _, chance in logs]
        if len(logs) > 1:
            centre = _mean(logs, weights)
            beyond += sum(weight * (log - centre) ** 2 for weight, (log, _) in zip(weights, logs, strict=True))
            beyond -= len(logs) - 1
            scale += sum(weights) - sum(weight**2 for weight in weights) / sum(weights)
    return max(beyond / scale, 0.0) if scale else 0.0


def borrowed(own: Components, others: Iterable[Components], between: float) -> Components:
    """Return the components of a kind with too few hosts: its own and other kinds', weighted by degrees of freedom.

    `between` is the unlikeness of kinds: the larger it is, the fewer degrees of freedom the others count for.

    Source: Smyth, Linear models and empirical Bayes methods for assessing differential expression (2004).
    """
    from scipy.special import psi

    others = list(others)
    logs = _log_variances(others)
    if own.enough or not logs:
        return own
    weights = [1 / (between + chance) for _, chance in logs]
    degrees = _degrees(between + 1 / sum(weights))
    variance = math.exp(_mean(logs, weights) + float(psi(degrees / 2)) - math.log(degrees / 2))
    scale = variance / sum(kind.degrees * kind.total for kind in others)
    tau2, sigma2 = (scale * sum(kind.degrees * each(kind) for kind in others) for each in _BOTH)
    total = own.degrees + degrees
    return Components(
        tau2=(own.degrees * own.tau2 + degrees * tau2) / total,
        sigma2=(own.degrees * own.sigma2 + degrees * sigma2) / total,
        degrees=total,
        cells=own.cells,
    )


def _log_variances(kinds: Iterable[Components]) -> list[tuple[float, float]]:
    """Return for each kind with degrees of freedom the log of its hosts' variance, and that log's sampling variance.

    The log is corrected for its bias at few degrees of freedom.
    """
    from scipy.special import psi, zeta

    halves = [(kind.total, kind.degrees / 2) for kind in kinds if kind.degrees and kind.total]
    return [(math.log(total) + math.log(half) - float(psi(half)), float(zeta(2, half))) for total, half in halves]


def _mean(logs: Sequence[tuple[float, float]], weights: Sequence[float]) -> float:
    return sum(weight * log for weight, (log, _) in zip(weights, logs, strict=True)) / sum(weights)


def _degrees(variance: float) -> float:
    """Return the degrees of freedom for which the log of a sample variance has this variance."""
    from scipy.special import zeta

    return root(lambda degrees: float(zeta(2, degrees / 2)) - variance, *_DEGREES)

"""The certificate of a CPU time: whether no other way of the same step is much faster."""

from collections.abc import Iterable, Sequence
from typing import Literal

from suite.results.pooled.ways import Way, is_baseline
from suite.results.single.baselines import CERTIFIED_FROM

Certificate = Literal["certified", "open", "not certified"]


def certificate(ways: Sequence[Way]) -> Certificate:
    """Return the certificate of a step on the CPU, given its other ways, the fastest first."""
    if any(map(surely_below, ways)):
        return "not certified"
    fastest = fastest_baseline(ways)
    if fastest is None or fastest.over.low is None or fastest.over.low < CERTIFIED_FROM:
        return "open"
    return "certified"


def undecided(ways: Iterable[Way]) -> str:
    """Return why a certificate is open."""
    fastest = fastest_baseline(ways)
    if fastest is None:
        return "no baseline was timed on this CPU"
    return f"{fastest.takes} of JAX's time, the bound is {CERTIFIED_FROM}"


def fastest_baseline(ways: Iterable[Way]) -> Way | None:
    """Return the first baseline of ways sorted by time; None if there is none."""
    return next(filter(is_baseline, ways), None)


def surely_below(way: Way) -> bool:
    """Return whether a way is so much faster that the CPU is not used well.

    Another implementation must surely take less than 0.7 of the time, JAX with fewer threads surely less than 1.
    """
    case, high = way.pool.case, way.over.high
    if case.implementation == "jax" and case.threads is None:
        return False
    return high is not None and high < (1.0 if case.implementation == "jax" else CERTIFIED_FROM)

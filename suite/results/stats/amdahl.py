"""How a time falls with the threads, t(p) = fixed + divided / p, and how many threads would reach another time.

A power law would fit as well in between, but it falls without end: it always has an answer, however far away. Here the
part that no thread shortens is a number of its own, and its interval says whether any number of threads is enough.
Threads that wait for memory or for each other make a real time fall less, so the law is in favour of the threads.

Source: Amdahl, Validity of the single processor approach to achieving large scale computing capabilities (1967).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suite.results.stats.statistics import Estimate, t_quantile
from suite.results.stats.turning import stays_above

FEWEST = 3  # numbers of threads: two give a line, but not whether it is one
_MOST = 1e6  # threads
_SMALLEST = 1e-4  # error of a logarithm


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A time with the standard error of its logarithm; 0 degrees of freedom if that is not known."""

    seconds: float
    error: float
    degrees: float


@dataclass(frozen=True, kw_only=True)
class Amdahl:
    """The law with its 95 % intervals: seconds that no thread shortens, and seconds of one thread that divide.

    Errors of the times may be independent, or common to all as those of one host are: the wider of both counts.
    """

    fixed: float
    divided: float
    variances: tuple[float, float, float]  # of fixed, of divided, and their covariance, if errors are independent
    common: float  # error of the logarithm of all times, if it is common to them
    quantile: float | None  # None if nothing is known of the errors

    def at(self, threads: float) -> Estimate:
        """Return the seconds with so many threads; infinity is a number too."""
        value = self.fixed + self.divided / threads
        if self.quantile is None:
            return Estimate(value=value)
        reach = self.quantile * self._error(threads)
        return Estimate(value=value, low=max(value - reach, 0.0), high=value + reach)

    def _error(self, threads: float) -> float:
        fixed, divided, both = self.variances
        independent = math.sqrt(max(fixed + divided / threads**2 + 2 * both / threads, 0.0))
        return max(independent, self.common * (self.fixed + self.divided / threads))

    def reaching(self, other: Timed) -> Estimate:
        """Return how many threads take as long as the other time: 1 if one does, infinity if no number does.

        The ends are those from which the law may be, and surely is, as fast: Fieller, Some problems in interval
        estimation (1954).
        """

        def end(errors: float) -> float:
            def fast(threads: float) -> float:
                error = math.hypot(self._error(threads), other.error * other.seconds)
                return (other.seconds + errors * error) / (self.fixed + self.divided / threads)

            place = stays_above(fast, _MOST)
            assert place is not None
            return place

        if self.quantile is None or not other.degrees:
            return Estimate(value=end(0))
        errors = max(self.quantile, t_quantile(other.degrees))
        return Estimate(value=end(0), low=end(errors), high=end(-errors))


def amdahl(threads: Sequence[int], times: Sequence[Timed]) -> Amdahl | None:
    """Return the law of these times by weighted least squares; None for fewer than three numbers of threads.

    If it misses them by more than their errors say, all errors are larger by as much. Source: Birge, The calculation of
    errors by the method of least squares (1932).
    """
    if len(set(threads)) < FEWEST:
        return None
    known = all(time.degrees for time in times)
    weights = [1 / (max(time.error, _SMALLEST) if known else 1.0) ** 2 / time.seconds**2 for time in times]
    shares, values = [1 / count for count in threads], [time.seconds for time in times]

    def total(*factors: Sequence[float]) -> float:
        return math.fsum(map(math.prod, zip(weights, *factors, strict=True)))

    one, x, xx, y, xy = total(), total(shares), total(shares, shares), total(values), total(shares, values)
    det = one * xx - x * x
    fixed, divided = (xx * y - x * xy) / det, (one * xy - x * y) / det
    if fixed < 0:
        fixed, divided = 0.0, xy / xx
    elif divided < 0:
        fixed, divided = y / one, 0.0
    misses = [value - fixed - divided * share for share, value in zip(shares, values, strict=True)]
    free = len(times) - 2
    larger = total(misses, misses) / free
    degrees = min(time.degrees for time in times) if larger <= 1 else min(free, *(time.degrees for time in times))
    scale = max(larger, 1.0) / det
    return Amdahl(
        fixed=fixed,
        divided=divided,
        variances=(scale * xx, scale * one, -scale * x),
        common=max(time.error for time in times),
        quantile=t_quantile(degrees) if known else None,
    )

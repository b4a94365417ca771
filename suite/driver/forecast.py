"""How long a campaign's processes take: as long as the last one like it, else a guess corrected by those that ended."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from suite.driver.campaign import Unit, units
from suite.driver.duration import first_seconds, process_seconds, shortest_seconds
from suite.driver.journal import Done, Header
from suite.driver.profiles import EFFORTS
from suite.results.single.validity import is_short
from suite.workload import Backend, Case

_CORRECTION = (0.1, 20.0)  # a guess is off by no more
_LEAST_SECONDS = 1.0  # of a process


class Forecast:
    """Durations in seconds of the processes of a plan; a unit is what one process measures."""

    def __init__(self, header: Header, done: Sequence[Done] = ()) -> None:
        self._about = {description.name: description for description in header.descriptions}
        self._effort, self._cores = EFFORTS.get(header.profile, EFFORTS["quick"]), header.machine.cores
        self._units: dict[Case, Unit] = {unit[0]: unit for unit in units(header.cases)}
        self._guesses: dict[Unit, float] = {}
        self._chosen: set[Unit] = set()  # whose kernels are in the cache
        self._seen: dict[Unit, float] = {}
        self._shares: dict[Backend, dict[Unit, float]] = defaultdict(dict)  # logarithms of duration over guess
        self.learn(sorted(done, key=lambda entry: entry.run.round))

    def seconds(self, unit: Unit) -> float:
        """Return how long the unit's next process takes."""
        return self._seen[unit] if unit in self._seen else self._corrected(unit, self._guess(unit))

    def shortest(self, unit: Unit) -> float:
        """Return how long a process takes that takes the shortest sample of a unit's steps."""
        return self._corrected(unit, self._shortest_guess(unit))

    def total(self, these: Iterable[Unit]) -> float:
        """Return how long one process of each unit takes."""
        return sum(map(self.seconds, these))

    def learn(self, done: Iterable[Done]) -> None:
        """Learn from what processes left, in the order in which they ran; those that failed tell nothing.

        One that took its shortest sample corrects guesses, and does not say how long a whole one takes.
        """
        for entry in done:
            unit = self._units.get(entry.case)  # each process tells once, by the first of its cases
            if unit is None or entry.run.reason or entry.seconds <= 0:
                continue
            seconds = max(entry.seconds - self._choosing(unit), _LEAST_SECONDS)
            self._chosen.add(unit)
            short = is_short(entry.case, entry.run)
            if not short:
                self._seen[unit] = seconds
            guess = self._shortest_guess(unit) if short else self._guess(unit)
            self._shares[unit[0].backend][unit] = math.log(seconds / guess)

    def _guess(self, unit: Unit) -> float:
        if unit not in self._guesses:
            about = self._about[unit[0].workload]
            self._guesses[unit] = process_seconds(unit, about, self._effort, self._cores)
        return self._guesses[unit]

    def _shortest_guess(self, unit: Unit) -> float:
        return shortest_seconds(unit, self._about[unit[0].workload], self._cores)

    def _choosing(self, unit: Unit) -> float:
        """Return what a unit's first process takes to choose kernels that the others find in the cache."""
        return 0.0 if unit in self._chosen else first_seconds(unit, self._about[unit[0].workload])

    def _corrected(self, unit: Unit, guess: float) -> float:
        """Return a guess times how much longer than guessed the processes on its backend took, on average."""
        low, high = _CORRECTION
        shares = self._shares[unit[0].backend].values()
        return guess * (min(max(math.exp(fmean(shares)), low), high) if shares else 1.0) + self._choosing(unit)

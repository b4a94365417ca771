"""How long a campaign's processes take: as long as the last one like it, else a guess corrected by those that ended."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from suite.measure.campaign import Unit, units
from suite.measure.estimate import first_seconds, process_seconds, shortest_seconds
from suite.measure.profiles import EFFORTS
from suite.results.journal import Done, Header
from suite.workload import Backend

_CORRECTION = (0.1, 20.0)  # a guess is off by no more


class Forecast:
    """Durations in seconds of the processes of a plan; a unit is what one process measures."""

    def __init__(self, header: Header, done: Sequence[Done] = ()) -> None:
        self._about = {description.name: description for description in header.descriptions}
        self._effort, self._cores = EFFORTS.get(header.profile, EFFORTS["quick"]), header.machine.cores
        self._seen: dict[Unit, float] = {}
        self._first: set[Unit] = set()
        for unit in units(header.cases):
            runs = [entry.run for entry in done if entry.case == unit[0]]
            for run in sorted(runs, key=lambda run: run.round):
                self.ends(unit, sum(stage.wall_seconds for stage in run.stages), bool(run.reason))

    def seconds(self, unit: Unit) -> float:
        """Return how long the unit's next process takes."""
        if unit in self._seen:
            return self._seen[unit]
        return self._correction(unit[0].backend) * self._guess(unit) + self._choosing(unit)

    def shortest(self, unit: Unit) -> float:
        """Return how long a process takes that takes the shortest sample of a unit's steps."""
        guess = shortest_seconds(unit, self._about[unit[0].workload], self._cores)
        return self._correction(unit[0].backend) * guess + self._choosing(unit)

    def total(self, these: Iterable[Unit]) -> float:
        """Return how long one process of each unit takes."""
        return sum(map(self.seconds, these))

    def ends(self, unit: Unit, seconds: float, failed: bool = False) -> None:
        """Learn from a process that ended after so many seconds; one that failed says nothing."""
        if failed or seconds <= 0:
            return
        choosing = 0.0 if unit in self._first else self._choosing(unit)
        self._first.add(unit)
        self._seen[unit] = max(seconds - choosing, 1.0)

    def _guess(self, unit: Unit) -> float:
        return process_seconds(unit, self._about[unit[0].workload], self._effort, self._cores)

    def _choosing(self, unit: Unit) -> float:
        """Return what a unit's first process takes to choose kernels that the others find in the cache."""
        return first_seconds(unit, self._about[unit[0].workload])

    def _correction(self, backend: Backend) -> float:
        """Return how much longer than guessed the processes on a backend took, as a factor."""
        shares = [math.log(took / self._guess(unit)) for unit, took in self._seen.items() if unit[0].backend == backend]
        low, high = _CORRECTION
        return min(max(math.exp(fmean(shares)), low), high) if shares else 1.0

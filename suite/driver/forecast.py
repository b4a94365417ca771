"""How long a campaign's processes take: as long as the last one like it, else a guess corrected by those that ended."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from suite.case import Backend, Case
from suite.driver.campaign import ProcessGroup, process_groups
from suite.driver.duration import first_seconds, process_seconds, shortest_seconds
from suite.driver.journal import CompletedRun, Header
from suite.driver.profiles import EFFORTS
from suite.results.single.validity import is_short

_CORRECTION = (0.1, 20.0)  # a guess is off by no more
_LEAST_SECONDS = 1.0  # of a process


class Forecast:
    """Durations in seconds of the processes of a plan; a group is what one process measures."""

    def __init__(self, header: Header, done: Sequence[CompletedRun] = ()) -> None:
        self._about = {description.name: description for description in header.descriptions}
        self._effort, self._cores = EFFORTS.get(header.profile, EFFORTS["quick"]), header.machine.cores
        self._groups: dict[Case, ProcessGroup] = {group[0]: group for group in process_groups(header.cases)}
        self._guesses: dict[ProcessGroup, float] = {}
        self._chosen: set[ProcessGroup] = set()  # whose kernels are in the cache
        self._seen: dict[ProcessGroup, float] = {}
        self._shares: dict[Backend, dict[ProcessGroup, float]] = defaultdict(dict)  # logarithms of duration over guess
        self.learn(sorted(done, key=lambda entry: entry.run.round))

    def seconds(self, group: ProcessGroup) -> float:
        """Return how long the group's next process takes."""
        return self._seen[group] if group in self._seen else self._corrected(group, self._guess(group))

    def shortest(self, group: ProcessGroup) -> float:
        """Return how long a process takes that takes the shortest sample of a group's steps."""
        return self._corrected(group, self._shortest_guess(group))

    def total(self, these: Iterable[ProcessGroup]) -> float:
        """Return how long one process of each group takes."""
        return sum(map(self.seconds, these))

    def learn(self, done: Iterable[CompletedRun]) -> None:
        """Learn from what processes left, in the order in which they ran; those that failed tell nothing.

        One that took its shortest sample corrects guesses, and does not say how long a whole one takes.
        """
        for entry in done:
            group = self._groups.get(entry.case)  # each process tells once, by the first of its cases
            if group is None or entry.run.reason or entry.seconds <= 0:
                continue
            seconds = max(entry.seconds - self._choosing(group), _LEAST_SECONDS)
            self._chosen.add(group)
            short = is_short(entry.case, entry.run)
            if not short:
                self._seen[group] = seconds
            guess = self._shortest_guess(group) if short else self._guess(group)
            self._shares[group[0].backend][group] = math.log(seconds / guess)

    def _guess(self, group: ProcessGroup) -> float:
        if group not in self._guesses:
            about = self._about[group[0].workload]
            self._guesses[group] = process_seconds(group, about, self._effort, self._cores)
        return self._guesses[group]

    def _shortest_guess(self, group: ProcessGroup) -> float:
        return shortest_seconds(group, self._about[group[0].workload], self._cores)

    def _choosing(self, group: ProcessGroup) -> float:
        """Return what a group's first process takes to choose kernels that the others find in the cache."""
        return 0.0 if group in self._chosen else first_seconds(group, self._about[group[0].workload])

    def _corrected(self, group: ProcessGroup, guess: float) -> float:
        """Return a guess times how much longer than guessed the processes on its backend took, on average."""
        low, high = _CORRECTION
        shares = self._shares[group[0].backend].values()
        return guess * (min(max(math.exp(fmean(shares)), low), high) if shares else 1.0) + self._choosing(group)

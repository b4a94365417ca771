"""How long a campaign still takes: a guess for each of its processes, until one like it has been seen."""

from collections import Counter
from collections.abc import Sequence

from suite.measure.campaign import Unit, units
from suite.measure.estimate import first_seconds, process_seconds
from suite.measure.profiles import EFFORTS
from suite.results.journal import Done, Header


class Remaining:
    """What a campaign has before it, given what its journal holds; the units are those of its header's cases."""

    def __init__(self, header: Header, done: Sequence[Done]) -> None:
        about = {description.name: description for description in header.descriptions}
        effort, cores, these = EFFORTS[header.profile], header.machine.cores, units(header.cases)
        rounds = {unit: header.rounds_of(unit[0]) for unit in these}
        ended, failed = Counter(entry.case for entry in done), {entry.case for entry in done if entry.run.reason}
        self.planned, self._rounds = sum(rounds.values()), rounds  # processes
        self._left = {unit: 0 if unit[0] in failed else n - ended[unit[0]] for unit, n in rounds.items()}
        self._each = {unit: process_seconds(unit, about[unit[0].workload], effort, cores) for unit in these}
        self._first = {
            unit: first_seconds(unit, about[unit[0].workload]) for unit in these if self._left[unit] == rounds[unit]
        }

    @property
    def processes(self) -> int:
        """How many processes are still to come."""
        return sum(self._left.values())

    @property
    def seconds(self) -> float:
        """How long these take."""
        return sum(self._each[unit] * left for unit, left in self._left.items()) + sum(self._first.values())

    def grows(self, header: Header) -> None:
        """Count the further rounds of a plan that has more of them now; one that failed was counted as it ended."""
        for unit, before in self._rounds.items():
            more = max(0, header.rounds_of(unit[0]) - before)
            self._rounds[unit] += more
            self._left[unit] += more
            self.planned += more

    def ends(self, unit: Unit, seconds: float, failed: bool) -> None:
        """Count a process that took so many seconds: its unit's others take as long, and one that failed has none."""
        self._each[unit] = max(seconds - self._first.pop(unit, 0.0), 1.0)
        self._left[unit] = 0 if failed else self._left[unit] - 1

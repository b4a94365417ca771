"""Thresholds: the work of one call from which the GPU takes less time than the CPU, by way of writing the step.

Work is FLOP for dense networks, elements (rows times columns) for tables. A call is what Python dispatches at once: one
step, or all steps of a scan. Both sides are pooled over hosts, so the interval includes how much hosts differ.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from suite import families, units
from suite.case import Case
from suite.results.pooled.pools import FEWEST_HOSTS, OUTDATED, Found, Pool
from suite.results.pooled.speedup import differences, twin
from suite.results.records.record import Record
from suite.results.stats.fit import Crossing, crossing_of_times
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import State
from suite.variants import steps_per_call, way_of

Unit = Literal["FLOP", "elements"]
UNITS: Mapping[str, Unit] = {"crossover_mlp": "FLOP", "crossover_trees": "elements"}  # by family
USUAL_DEPTH = 2  # hidden layers of the networks between which a threshold is read
MOST_TIMES_OFF = 2.0  # most times by which an end of a quotable threshold's interval differs from it


@dataclass(frozen=True, kw_only=True)
class Call:
    """One size on both sides of a machine; above a ratio of 1 the GPU wins."""

    cpu: Pool
    gpu: Pool
    ratio: Pooled
    apart: tuple[str, ...]  # differences between the computations of the two sides

    @property
    def case(self) -> Case:
        """The case of its GPU side."""
        return self.gpu.case

    @property
    def size(self) -> families.Size:
        """Width and depth of its network, or the columns of its table."""
        return families.size_of(self.case.workload)

    @property
    def work(self) -> float:
        """FLOP or elements of one call."""
        about, case = self.gpu.newest.description, self.case
        each = about.flop_per_example or self.size.width
        return float(case.batch * each * steps_per_call(case))

    @property
    def usual(self) -> bool:
        """Whether a threshold is read from it: a table, or a network of the usual depth and batch."""
        of_table = self.size.depth == 0
        return of_table or (self.size.depth == USUAL_DEPTH and self.case.batch == self.gpu.newest.description.batch)


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """The threshold of one way on one machine, with the calls behind it, the least work first."""

    machine: str  # as in keys
    family: str
    way: str  # such as 'jax nnx-jit'
    calls: tuple[Call, ...]

    @property
    def unit(self) -> Unit:
        """What its work is counted in."""
        return UNITS[self.family]

    @cached_property
    def usual(self) -> tuple[Call, ...]:
        """The calls between which the threshold is read."""
        return tuple(call for call in self.calls if call.usual and not call.apart)

    @cached_property
    def found(self) -> Crossing:
        """From which work of a call on the GPU wins."""
        return crossing_of_times([(call.work, call.ratio.estimate, call.gpu.pooled.value) for call in self.usual])

    @property
    def known(self) -> bool:
        """Whether it lies between two sizes, so that it has a key."""
        return self.found.outcome == "from" and self.found.size is not None

    @property
    def around(self) -> tuple[Call, ...]:
        """The calls next to it; all usual ones if it does not lie between two of them."""
        size = self.found.size
        if not self.known or size is None:
            return self.usual
        below = sum(call.work <= size for call in self.usual)
        return self.usual[below - 1 : below + 1]

    @property
    def hosts(self) -> int:
        """The number of hosts of the side with the fewest."""
        return min(call.ratio.hosts for call in self.around)

    @property
    def processes(self) -> int:
        """The number of processes of the side with the fewest."""
        return min(call.ratio.processes for call in self.around)

    @property
    def records(self) -> tuple[Record, ...]:
        """The records between which it is read: the CPU's and the GPU's at each of the sizes."""
        return tuple(record for call in self.around for side in (call.cpu, call.gpu) for record in side.records)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it may not be quoted."""
        return tuple(self._lacking())

    def _lacking(self) -> Iterator[str]:
        yield from dict.fromkeys(words for call in self.calls if call.usual for words in call.apart)
        if any(call.ratio.outdated for call in self.around):
            yield OUTDATED
        if self.hosts < FEWEST_HOSTS:
            yield f"{units.pluralize(self.hosts, 'host')} of {FEWEST_HOSTS}"
        turn = self.found
        if turn.outcome == "not separated":
            yield "not separated from the noise"
        if turn.outcome == "from" and None in (turn.size, turn.low, turn.high):
            yield "an end of its interval lies outside the sizes"
        if turn.size and turn.low and turn.high and max(turn.size / turn.low, turn.high / turn.size) > MOST_TIMES_OFF:
            yield f"an end of its interval is over {MOST_TIMES_OFF:g} times off"

    @property
    def state(self) -> State:
        """Its state."""
        return "open" if self.reasons else "quotable"


def thresholds(current: Found) -> tuple[Threshold, ...]:
    """Return the threshold of each machine, family and way that has two usual sizes or more, sorted."""
    ways: dict[tuple[str, str, str], list[Call]] = defaultdict(list)
    for (machine, case), gpu in current.items():
        cpu = _cpu_side(machine, case, current)
        if cpu is not None:
            call = Call(cpu=cpu, gpu=gpu, ratio=cpu.over(gpu), apart=tuple(dict.fromkeys(differences(cpu, gpu))))
            ways[machine, families.family_of(case.workload), way_of(case)].append(call)
    listed = (
        Threshold(machine=machine, family=family, way=way, calls=_in_order(calls))
        for (machine, family, way), calls in sorted(ways.items())
    )
    return tuple(threshold for threshold in listed if len(threshold.usual) > 1)


def _in_order(calls: Sequence[Call]) -> tuple[Call, ...]:
    return tuple(sorted(calls, key=lambda call: call.work))


def _cpu_side(machine: str, case: Case, current: Found) -> Pool | None:
    """Return the CPU side of a step on a GPU in full float32 of a family's member; None for any other case."""
    if (case.backend, case.scope, case.precision) != ("gpu", "step", "float32-highest"):
        return None
    return twin(machine, case, current) if families.family_of(case.workload) else None

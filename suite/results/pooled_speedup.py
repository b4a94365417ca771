"""Speed-ups of a kind of machine: CPU time over GPU time, each pooled over hosts, and what may be said of it.

A speed-up has one of four states:

    quotable       certified, at least three hosts on both sides, a half-width of 15 % at most
    open           too few hosts, too wide, or the certificate is not decided
    not certified  another way of the same step surely takes much less time on this CPU
    invalid        CPU and GPU did not compute the same
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import msgspec

from suite import units
from suite.results import pooling
from suite.results.agreement import disagreements
from suite.results.identity import identity
from suite.results.pooling import Cell, Components, Pooled
from suite.results.pools import FEWEST_HOSTS, Pool, current, kind_of, pools
from suite.results.record import Record
from suite.results.state import WIDEST, State, wide
from suite.results.summary import by_round
from suite.variants import peer_name
from suite.workload import Backend, Case, Scope

Certificate = Literal["certified", "open", "not certified"]
CERTIFIED_FROM = 0.7  # fastest baseline's time over JAX's, on the CPU
_ASIDE = ("stacked", "resident")  # ways of JAX that are no step of the same batch
_Place = tuple[str, str, Backend, Scope, int]  # machine, workload, backend, scope and batch
Found = Mapping[tuple[str, Case], Pool]  # the current pool of each machine and case


@dataclass(frozen=True, kw_only=True)
class Way:
    """Another way of a step, and its time over JAX's."""

    pool: Pool
    over: Pooled

    @property
    def words(self) -> str:
        """Its implementation, variant and threads."""
        return way_words(self.pool.newest.case)

    @property
    def takes(self) -> str:
        """Which share of JAX's time it takes, with the interval if there is one."""
        within = f" ({units.interval(self.over.low, self.over.high)})" if self.over.low is not None else ""
        return f"{self.words} takes {self.over.value:.2f}{within}"


@dataclass(frozen=True, kw_only=True)
class PooledSpeedUp:
    """CPU time over GPU time of JAX on one kind of machine; ways are the fastest first."""

    machine: str  # as it stands in keys
    cpu: Pool
    gpu: Pool
    ratio: Pooled
    cpu_ways: tuple[Way, ...]
    gpu_ways: tuple[Way, ...]
    apart: tuple[str, ...] = ()  # where the two sides did not compute the same
    fewer_cores: Way | None = None  # the fastest of other CPUs with fewer cores that surely take less time

    @property
    def record(self) -> Record:
        """The newest record of its GPU side."""
        return self.gpu.newest

    @property
    def case(self) -> Case:
        """The case of its GPU side."""
        return self.gpu.case

    @property
    def workload(self) -> str:
        """The name of its model."""
        return self.case.workload

    @property
    def headline(self) -> bool:
        """Whether it is of JAX's step in the headline setting."""
        return self.record.headline_step()

    @property
    def general(self) -> bool:
        """Whether it stands among the headline's, and is no experiment's alone."""
        return any(record.general for record in self.gpu.records)

    @property
    def hosts(self) -> int:
        """How many hosts stand behind the side that has fewer."""
        return min(self.cpu.hosts, self.gpu.hosts)

    @property
    def baselines(self) -> tuple[Way, ...]:
        """The ways of other implementations on the CPU."""
        return tuple(filter(_is_baseline, self.cpu_ways))

    @property
    def gpu_baselines(self) -> tuple[Way, ...]:
        """The ways of other implementations on the GPU."""
        return tuple(filter(_is_baseline, self.gpu_ways))

    @property
    def certificate(self) -> Certificate | None:
        """Whether the CPU is used well; None where it is not asked, as of all but steps."""
        if self.case.scope != "step":
            return None
        if any(_surely_below(way) for way in self.cpu_ways):
            return "not certified"
        fastest = next(iter(self.baselines), None)
        if fastest is None or fastest.over.low is None or fastest.over.low < CERTIFIED_FROM:
            return "open"
        return "certified"

    @property
    def state(self) -> State:
        """What may be said of it."""
        if self.apart:
            return "invalid"
        if self.certificate == "not certified":
            return "not certified"
        return "open" if any(self._lacking()) else "quotable"

    @property
    def quotable(self) -> bool:
        """True if it may be quoted."""
        return self.state == "quotable"

    @property
    def caveat(self) -> str:
        """Why it may not be quoted, as a sentence after another; '' if it may."""
        if self.quotable:
            return ""
        return f" Not to be quoted{' yet' if self.state == 'open' else f', {self.state}'}: {self.reasons[0]}."

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why it may not be quoted, or what has to be known beside it."""
        slower = (f"{way.takes} of JAX's time on the CPU" for way in self.cpu_ways if _surely_below(way))
        wild = (
            f"hosts differ more than those of other models on the {side.case.backend.upper()}"
            for side in (self.cpu, self.gpu)
            if side.wild
        )
        versions = _versions(self.cpu.newest, self.gpu.newest)
        return (*self.apart, *slower, *self._lacking(), *wild, *versions, *self._elsewhere())

    def _elsewhere(self) -> Iterator[str]:
        """Yield that another CPU with fewer cores is faster."""
        if self.fewer_cores is not None:
            machine, over = self.fewer_cores.pool.newest.machine, self.fewer_cores.over
            taken = f"{over.value:.2f} ({units.interval(over.low, over.high)})"
            yield (
                f"{units.counted(machine.cores, 'core')} of {machine.cpu_model} take {taken} of the time of these "
                f"{units.count(self.cpu.newest.machine.cores)}"
            )

    def _lacking(self) -> Iterator[str]:
        """Yield what it lacks to be quoted."""
        yield from lacking(self.ratio)
        if self.certificate == "open":
            yield "certificate open: " + self._undecided()

    def _undecided(self) -> str:
        fastest = next(iter(self.baselines), None)
        if fastest is None:
            return "no baseline was timed on this CPU"
        return f"{fastest.takes} of JAX's time, the bound is {CERTIFIED_FROM}"

    @property
    def best_cpu(self) -> Pool:
        """The fastest way on the CPU."""
        return min((self.cpu, *(way.pool for way in self.cpu_ways)), key=lambda pool: pool.pooled.value)

    @property
    def best_gpu(self) -> Pool:
        """The fastest way on the GPU."""
        return min((self.gpu, *(way.pool for way in self.gpu_ways)), key=lambda pool: pool.pooled.value)

    @cached_property
    def best_over_best(self) -> Pooled:
        """The fastest CPU way's time over the fastest GPU way's, of any implementation."""
        return pooling.ratio(*((pool.cell, pool.among) for pool in (self.best_cpu, self.best_gpu)))


def way_words(case: Case) -> str:
    """Return a way's implementation and variant, and threads or allocator where they are not the usual ones."""
    threads = f" with {units.counted(case.threads, 'thread')}" if case.threads else ""
    allocator = ", system allocator" if (case.backend, case.allocator) == ("cpu", "system") else ""
    return peer_name(case) + threads + allocator


def lacking(value: Pooled) -> Iterator[str]:
    """Yield what a pooled number lacks to be quoted, whatever it is of."""
    if value.hosts < FEWEST_HOSTS:
        yield f"{units.counted(value.hosts, 'host')} of {FEWEST_HOSTS}"
    if value.low is None:
        yield "no interval: nothing says how much hosts differ"
    elif words := wide(value.estimate):
        yield f"{words}, more than {100 * WIDEST:g} %"


def pooled_speedups(records: Iterable[Record]) -> tuple[PooledSpeedUp, ...]:
    """Return the current speed-up of each machine and case of JAX, in the order of machine and workload."""
    return of_pools(current(pools(records)))


def of_pools(found: Found) -> tuple[PooledSpeedUp, ...]:
    """Return the speed-up of each machine and case of JAX in these pools, in the order of machine and workload."""
    ways_of, made = ways(found), []
    sides: dict[Case, list[Pool]] = defaultdict(list)
    for (_, case), pool in found.items():
        sides[case].append(pool)
    for (machine, case), gpu in sorted(found.items(), key=lambda each: (each[0][0], each[0][1].text(0))):
        if (case.backend, case.implementation) != ("gpu", "jax") or gpu.newest.description.family == "ceiling":
            continue
        cpu = _twin(machine, case, found)
        if cpu is None:
            continue
        made.append(
            PooledSpeedUp(
                machine=machine,
                cpu=cpu,
                gpu=gpu,
                ratio=pooling.ratio((cpu.cell, cpu.among), (gpu.cell, gpu.among)),
                cpu_ways=ways_of(machine, cpu),
                gpu_ways=ways_of(machine, gpu),
                apart=tuple(dict.fromkeys(_apart(cpu, gpu))),
                fewer_cores=_fewer_cores(cpu, sides[cpu.case]),
            )
        )
    return tuple(made)


def ways(found: Found) -> Callable[[str, Pool], tuple[Way, ...]]:
    """Return what gives the other ways of a machine's pool among these, the fastest first."""
    places: dict[_Place, list[Pool]] = defaultdict(list)
    for (machine, case), pool in found.items():
        places[machine, case.workload, case.backend, case.scope, case.batch].append(pool)
    among = _ratio_components(places)

    def of(machine: str, mine: Pool) -> tuple[Way, ...]:
        case = mine.case
        return _ways(mine, places[machine, case.workload, case.backend, case.scope, case.batch], among)

    return of


def _twin(machine: str, case: Case, found: Found) -> Pool | None:
    """Return the CPU side of a GPU's case: float32 at highest precision, with the allocator that has more evidence."""
    twin = msgspec.structs.replace(case, backend="cpu", precision="float32-highest")
    sides = (
        found.get((machine, msgspec.structs.replace(twin, allocator=allocator)))
        for allocator in ("retaining", "system")
    )
    return max(filter(None, sides), key=lambda pool: min(pool.hosts, FEWEST_HOSTS), default=None)


_Among = Mapping[Hashable, Components]


def _ratio_components(ways: Mapping[_Place, Sequence[Pool]]) -> _Among:
    """Return how much hosts differ in the ratio of two implementations' times, by kind of machine and backend.

    Two steps of one host share its speed, so their ratio differs less than either.
    """
    cells: dict[Hashable, list[Cell]] = defaultdict(list)
    for same in ways.values():
        for mine in (pool for pool in same if _is_plain_jax(pool.case)):
            for other in same:
                if _comparable(mine, other) and (cell := _paired(mine, other)):
                    cells[_ratio_kind(mine)].append(cell)
                    cells[mine.case.backend].append(cell)
    return {kind: pooling.components(same) for kind, same in cells.items()}


def _ratio_kind(pool: Pool) -> Hashable:
    return kind_of(pool.newest.machine, pool.case.backend)


def _ways(mine: Pool, same: Sequence[Pool], among: _Among) -> tuple[Way, ...]:
    """Return the other ways of a step with their times over its own, the fastest first."""
    found = []
    for other in same:
        if not _comparable(mine, other):
            continue
        cell = _paired(mine, other)
        own, every = among.get(_ratio_kind(mine)), among.get(mine.case.backend)
        if cell and own is not None and every is not None:
            over = pooling.pooled(cell, every if pooling.borrows(own, every) else own)
        else:
            over = pooling.ratio((other.cell, other.among), (mine.cell, mine.among))
        found.append(Way(pool=other, over=over))
    return tuple(sorted(found, key=lambda way: way.over.value))


def _is_baseline(way: Way) -> bool:
    return way.pool.case.implementation != "jax"


def _is_plain_jax(case: Case) -> bool:
    return (case.implementation, case.variant) == ("jax", "plain")


def _comparable(mine: Pool, other: Pool) -> bool:
    """Return whether another pool is of another way of the same step: implementation, variant, layout or threads."""
    free = {name: getattr(mine.case, name) for name in ("implementation", "variant", "layout", "threads", "allocator")}
    if other.case.of_either_allocator == mine.case.of_either_allocator or other.case.variant in _ASIDE:
        return False
    if mine.case.variant in _ASIDE and other.case.implementation == "jax":
        return False
    return msgspec.structs.replace(other.case, **free) == mine.case


def _paired(mine: Pool, other: Pool) -> Cell:
    """Return the other's time over mine by host, one value a round that both have; of campaigns that timed both."""
    hosts: dict[Hashable, list[float]] = defaultdict(list)
    theirs = {record.campaign: record for record in other.records}
    for record in mine.records:
        beside = theirs.get(record.campaign)
        if beside is None:
            continue
        one, two = by_round(beside), by_round(record)
        hosts[identity(record).host_key] += [one[number] / two[number] for number in sorted(one.keys() & two.keys())]
    return tuple(tuple(values) for values in hosts.values() if values)


def _surely_below(way: Way) -> bool:
    """Return whether a way is surely so much faster that the CPU is not used well.

    Of another implementation it takes less than 0.7 of the time; of JAX with fewer threads any less.
    """
    case, high = way.pool.case, way.over.high
    if case.implementation == "jax" and case.threads is None:
        return False
    return high is not None and high < (1.0 if case.implementation == "jax" else CERTIFIED_FROM)


def _fewer_cores(mine: Pool, others: Iterable[Pool]) -> Way | None:
    """Return the fastest of other CPUs that have fewer cores and surely take less time; None if there is none."""
    fewer = (pool for pool in others if pool.newest.machine.cores < mine.newest.machine.cores)
    ways = [Way(pool=pool, over=pooling.ratio((pool.cell, pool.among), (mine.cell, mine.among))) for pool in fewer]
    surely = (way for way in ways if way.over.high is not None and way.over.high < 1)
    return min(surely, key=lambda way: way.over.value, default=None)


def _apart(cpu: Pool, gpu: Pool) -> Iterator[str]:
    """Yield where the sides of a campaign that timed both did not compute the same."""
    sides = {record.campaign: record for record in cpu.records}
    for record in gpu.records:
        if record.campaign in sides:
            yield from (f"not the same: {words}" for words in disagreements(sides[record.campaign], record))


def _versions(cpu: Record, gpu: Record) -> Iterator[str]:
    """Yield where the two sides ran under other versions of JAX."""
    one, other = (record.software.packages.get("jax", "") for record in (cpu, gpu))
    if one != other:
        yield f"JAX {one} on the CPU, {other} on the GPU"

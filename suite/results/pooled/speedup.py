"""Speed-ups of a kind of machine: CPU time over GPU time, each pooled over hosts, and whether they may be quoted.

A speed-up has one of four states:

    quotable       certified, at least three hosts on both sides, a half-width of at most 15 %
    open           too few hosts, too wide, an earlier method of timing, or undecided certificate
    not certified  another way of the same step surely takes much less time on this CPU
    invalid        CPU and GPU did not compute the same, or the GPU's step is shorter than its kernels
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from suite import units
from suite.case import Case
from suite.results.pooled.kernel_time import too_short
from suite.results.pooled.pools import FEWEST_HOSTS, OUTDATED, Found, Pool, current, pools
from suite.results.pooled.side_by_side import side_by_side
from suite.results.pooled.ways import (
    Certificate,
    Way,
    certificate,
    doubts,
    fewer_cores,
    is_baseline,
    slow_cpu,
    surely_below,
    ways,
)
from suite.results.records.record import STABLE, Record
from suite.results.single.paired_speedup import disagreements
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import MAX_HALF_WIDTH, State, too_wide
from suite.scopes import SCOPES


@dataclass(frozen=True, kw_only=True)
class PooledSpeedUp:
    """CPU time over GPU time of one implementation on one kind of machine; other ways are sorted, the fastest first."""

    machine: str  # as in keys
    cpu: Pool
    gpu: Pool
    ratio: Pooled
    cpu_ways: tuple[Way, ...]
    gpu_ways: tuple[Way, ...]
    certifying: tuple[Way, ...] = ()  # those on the CPU that decide the certificate: of a copied step the step's
    apart: tuple[str, ...] = ()  # differences between the computations of the two sides
    impossible: tuple[str, ...] = ()  # why the GPU's time cannot be true
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
        """Whether it is JAX's step in the headline setting."""
        return self.record.headline_step()

    @property
    def general(self) -> bool:
        """Whether it belongs to the headline results, not to an experiment alone."""
        return any(record.general for record in self.gpu.records)

    @property
    def hosts(self) -> int:
        """The number of hosts of the smaller side."""
        return min(self.cpu.hosts, self.gpu.hosts)

    @property
    def baselines(self) -> tuple[Way, ...]:
        """The baselines on the CPU, the fastest first."""
        return tuple(filter(is_baseline, self.cpu_ways))

    @property
    def gpu_baselines(self) -> tuple[Way, ...]:
        """The baselines on the GPU, the fastest first."""
        return tuple(filter(is_baseline, self.gpu_ways))

    @property
    def certificate(self) -> Certificate | None:
        """Whether the CPU is used well; None if the scope needs no certificate, or the way is one of many."""
        if SCOPES[self.case.scope].certified_by is None or not _is_headline_way(self.case):
            return None
        return certificate(self.certifying)

    @property
    def state(self) -> State:
        """Its state."""
        return state_of(self._lacking(), (*self.apart, *self.impossible), self.certificate)

    @property
    def quotable(self) -> bool:
        """Whether it may be quoted."""
        return self.state == "quotable"

    @property
    def caveat(self) -> str:
        """Why it may not be quoted, as a further sentence; '' if it may."""
        if self.quotable:
            return ""
        return f" Not to be quoted{' yet' if self.state == 'open' else f', {self.state}'}: {self.reasons[0]}."

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why it may not be quoted, and what to know beside it."""
        slower = (
            f"{way.takes} of JAX's time on the CPU" for way in self.certifying or self.cpu_ways if surely_below(way)
        )
        wild = (
            f"hosts differ more than those of other models on the {side.case.backend.upper()}"
            for side in (self.cpu, self.gpu)
            if side.wild
        )
        versions = _versions(self.cpu.newest, self.gpu.newest)
        slow = filter(None, [self.slow_cpu])
        return (*self.apart, *self.impossible, *slower, *self._lacking(), *wild, *versions, *slow)

    @property
    def slow_cpu(self) -> str:
        """How much less time another CPU with fewer cores takes; '' unless one surely does."""
        return slow_cpu(self.cpu, self.fewer_cores)

    @property
    def marked_slow(self) -> str:
        """The same where a status says so: of scopes whose times are steady."""
        return self.slow_cpu if SCOPES[self.case.scope].steady else ""

    def _lacking(self) -> Iterator[str]:
        """Yield what it lacks to be quotable."""
        yield from lacking(self.ratio, (*self.cpu.records, *self.gpu.records))
        if self.certificate == "open":
            yield from doubts(self.certifying)

    @property
    def best_cpu(self) -> Pool:
        """The fastest way on the CPU, as compared on the same hosts."""
        best = _faster(self.cpu_ways)
        return self.cpu if best is None else best.pool

    @property
    def best_gpu(self) -> Pool:
        """The fastest way on the GPU, as compared on the same hosts."""
        best = _faster(self.gpu_ways)
        return self.gpu if best is None else best.pool

    @cached_property
    def best_over_best(self) -> Pooled:
        """The fastest CPU way's time over the fastest GPU way's, of any implementation.

        It is the speed-up times the CPU way's time over JAX's, divided by the GPU way's over JAX's.
        """
        cpu, gpu = _faster(self.cpu_ways), _faster(self.gpu_ways)
        ratio = self.ratio if cpu is None else self.ratio.times(cpu.over)
        return ratio if gpu is None else ratio.times(gpu.over.per(1))


def _faster(ways: Sequence[Way]) -> Way | None:
    """Return the first of ways sorted by their time over JAX's, if it takes less; None otherwise."""
    return ways[0] if ways and ways[0].over.value < 1 else None


def state_of(lacks: Iterable[str], wrong: Sequence[str] = (), certificate: Certificate | None = None) -> State:
    """Return the state of a pooled number, given what it lacks and what makes it wrong, such as sides that differ."""
    if wrong:
        return "invalid"
    if certificate == "not certified":
        return certificate
    return "open" if any(lacks) else "quotable"


def lacking(value: Pooled, members: Iterable[Record] = ()) -> Iterator[str]:
    """Yield what a pooled number of these records lacks to be quotable."""
    if value.outdated:
        yield OUTDATED
    if value.hosts < FEWEST_HOSTS:
        yield f"{units.pluralize(value.hosts, 'host')} of {FEWEST_HOSTS}"
    if value.low is None:
        yield "no interval: too few hosts to estimate how much they differ"
    elif words := too_wide(value.estimate):
        yield f"{words}, more than {100 * MAX_HALF_WIDTH:g} %"
    for schema in sorted({record.schema for record in members} - STABLE):
        yield f"{schema} was provisional"


def behind(quotable: Iterable[bool]) -> Iterator[str]:
    """Yield how many of the speed-ups behind a mean may not be quoted, if there are some."""
    all_of_them = tuple(quotable)
    if doubtful := all_of_them.count(False):
        of = units.pluralize(len(all_of_them), "speed-up")
        yield f"{units.count(doubtful)} of {of} behind it may not be quoted"


def pooled_speedups(records: Iterable[Record]) -> tuple[PooledSpeedUp, ...]:
    """Return the current speed-up of each machine and case of JAX, sorted by machine and case."""
    return of_pools(current(pools(records)))


def of_pools(current: Found) -> tuple[PooledSpeedUp, ...]:
    """Return the speed-up of each machine and case of JAX in these pools, sorted by machine and case.

    Where both sides wait for their host, only hosts that timed both count. Loops as written are not among them, see
    `of_ways`.
    """
    return _of(current, _is_headline_way, ways(current))


def of_ways(current: Found) -> tuple[PooledSpeedUp, ...]:
    """Return the speed-ups of loops as written and of baselines' steps, each against itself on the CPU.

    They have no certificate: that of JAX says how well the CPU can be used, these how well one way uses it.
    """
    return _of(current, lambda case: not _is_headline_way(case), lambda machine, pool: ())


def _is_headline_way(case: Case) -> bool:
    return case.implementation == "jax" and case.scope != "written"


def _of(
    current: Found, fits: Callable[[Case], bool], ways_of: Callable[[str, Pool], tuple[Way, ...]]
) -> tuple[PooledSpeedUp, ...]:
    ratios = []
    sides: dict[Case, list[Pool]] = defaultdict(list)
    for (_, case), pool in current.items():
        sides[case].append(pool)
    for (machine, case), gpu in sorted(current.items(), key=lambda each: (each[0][0], each[0][1].text(0))):
        if case.backend != "gpu" or not fits(case) or not gpu.newest.description.documented:
            continue
        cpu = twin(machine, case, current)
        if cpu is None or not same_method(cpu, gpu):
            continue
        if SCOPES[case.scope].waits_for_host:
            both = side_by_side([cpu, gpu])
            if not both:
                continue
            cpu, gpu = both

        def agreeing(side: Pool, machine: str = machine) -> tuple[Way, ...]:
            return tuple(way for way in ways_of(machine, side) if _agrees(machine, way, current))

        cpu_ways, step = agreeing(cpu), _certified_by(machine, cpu, current)
        ratios.append(
            PooledSpeedUp(
                machine=machine,
                cpu=cpu,
                gpu=gpu,
                ratio=cpu.over(gpu),
                cpu_ways=cpu_ways,
                gpu_ways=agreeing(gpu),
                certifying=cpu_ways if step is cpu else agreeing(step) if step else (),
                apart=tuple(dict.fromkeys(differences(cpu, gpu))),
                impossible=too_short(machine, gpu, current),
                fewer_cores=fewer_cores(cpu, sides[cpu.case]),
            )
        )
    return tuple(ratios)


def twin(machine: str, case: Case, current: Found) -> Pool | None:
    """Return the CPU side of a GPU case: float32 at highest precision, with the allocator that has more evidence."""
    twin = msgspec.structs.replace(case, backend="cpu", precision="float32-highest")
    sides = (
        current.get((machine, msgspec.structs.replace(twin, allocator=allocator)))
        for allocator in ("tuned-malloc", "default-malloc")
    )
    return max(filter(None, sides), key=lambda pool: min(pool.hosts, FEWEST_HOSTS), default=None)


def _certified_by(machine: str, cpu: Pool, current: Found) -> Pool | None:
    """Return the pool whose other ways say how well a CPU side uses the CPU; None if nothing does."""
    scope = SCOPES[cpu.case.scope].certified_by
    return current.get((machine, msgspec.structs.replace(cpu.case, scope=scope))) if scope else None


def _agrees(machine: str, way: Way, current: Found) -> bool:
    """Return whether nothing tells that the two sides of a way computed different things."""
    case = msgspec.structs.replace(way.pool.case, backend="gpu", allocator="tuned-malloc")
    gpu, cpu = current.get((machine, case)), twin(machine, case, current)
    return gpu is None or cpu is None or not any(differences(cpu, gpu))


def same_method(one: Pool, other: Pool) -> bool:
    """Return whether two times are of one method of timing, or one is of a record that states none."""
    methods = {one.method, other.method}
    return len(methods - {0}) < 2


def differences(cpu: Pool, gpu: Pool) -> Iterator[str]:
    """Yield each difference between the computations of the sides, for campaigns that timed both."""
    sides = {record.campaign: record for record in cpu.records}
    for record in gpu.records:
        if record.campaign in sides:
            yield from (f"not the same: {words}" for words in disagreements(sides[record.campaign], record))


def _versions(cpu: Record, gpu: Record) -> Iterator[str]:
    """Yield the JAX versions of the sides if they differ."""
    one, other = (record.software.packages.get("jax", "") for record in (cpu, gpu))
    if one != other:
        yield f"JAX {one} on the CPU, {other} on the GPU"

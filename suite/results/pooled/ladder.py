"""The clock ladder of a workload on a machine: what each scope includes, and the total time of many calls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from suite.case import Case
from suite.results.pooled.break_even import total_ratio
from suite.results.pooled.grouping import usable
from suite.results.pooled.same_hosts import step_on
from suite.results.pooled.side_by_side import Host, common_hosts
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.latency import blocking_step
from suite.results.single.summary import Summary, fastest, seconds_by_round, summary, time_ratio
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate
from suite.scopes import SCOPES, Scope

REST = "compile_rest"  # the stage of a whole run that compiles everything but the step
_COMPILING = {"compile", REST}
_PLACES: tuple[tuple[Scope, str], ...] = tuple((scope, cache) for scope, row in SCOPES.items() for cache in row.rungs)
CALLS = (1, 10, 100, 1000, 10_000, 100_000)  # on an H100 a small network needs more than a thousand to break even


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One scope in the headline setting: its pooled speed-up, else the result of the newest campaign with both sides.

    Without such a campaign each side is its own newest. A side may be missing. What may not pool, as disturbed times,
    counts for neither side.
    """

    case: Case  # of either side
    pooled: PooledSpeedUp | None = None
    cpu: Summary | None = None
    gpu: Summary | None = None
    compiling: bool = True  # False: a whole run without its compilations
    blocking: bool = False  # True: steps that each block before the next

    @property
    def name(self) -> str:
        """Its name in charts and tables."""
        if self.blocking:
            return "latency"
        name = SCOPES[self.case.scope].rungs[self.case.cache].name
        return name if self.compiling else f"{name}, compiled before"

    @property
    def words(self) -> str:
        """The scope as a phrase in a sentence."""
        if self.blocking:
            return "a blocking step"
        return SCOPES[self.case.scope].rungs[self.case.cache].short if self.compiling else "without its compilations"

    @property
    def data_words(self) -> str:
        """The data that it read, for the end of a phrase; '' if its content does not matter."""
        return next(side.record.data_words for side in (self.pooled, self.cpu, self.gpu) if side is not None)

    @property
    def ratio(self) -> Estimate | None:
        """CPU time over GPU time: pooled, else paired by round; None if the sides are of different campaigns."""
        if self.pooled is not None:
            return self.pooled.ratio.estimate
        return time_ratio(self.cpu, self.gpu) if self.cpu and self.gpu else None

    @property
    def hosts(self) -> frozenset[Host]:
        """The hosts of both sides; those of the one side if only one is known."""
        if self.pooled is not None:
            return common_hosts(self.pooled.cpu.records, self.pooled.gpu.records)
        sides = [[side.record] for side in (self.cpu, self.gpu) if side]
        return common_hosts(sides[0], sides[-1])


@dataclass(frozen=True, kw_only=True)
class Amortised:
    """CPU time over GPU time of a process's first `calls` steps together, with compilation."""

    calls: int
    ratio: Estimate
    quotable: bool  # whether both of its numbers are


def ladder(records: Iterable[Record], speedups: Iterable[PooledSpeedUp] = ()) -> tuple[Rung, ...]:
    """Return the rungs of a workload on a machine, from the step to the whole run.

    Of several data sets the usual one counts.
    """
    plain_records = [record for record in records if _plain(record) and _counts(record)]
    order = sorted(speedups, key=lambda item: item.record.usual_data)
    pooled = {(item.case.scope, item.case.cache): item for item in order if _plain(item.record)}
    rungs: list[Rung | None] = []
    for scope, cache in _PLACES:
        timed = [r for r in plain_records if (r.case.scope, r.case.cache) == (scope, cache)]
        timed = [record for record in timed if record.usual_data] or timed
        cpu, gpu = _sides(timed)
        if both := pooled.get((scope, cache)):
            rungs.append(Rung(case=both.case, pooled=both))
        elif either := cpu or gpu:
            rungs.append(Rung(case=either.record.case, cpu=cpu, gpu=gpu))
        rungs.append(_blocking_rung(timed) if scope == "step" else _compiled_before(scope, cpu, gpu))
    return tuple(rung for rung in rungs if rung is not None)


def elsewhere(rungs: Sequence[Rung]) -> tuple[Rung, ...]:
    """Return the rungs with a speed-up that no host of the step's has; the step is the first rung of its scope."""
    step = next((rung for rung in rungs if rung.case.scope == "step" and not rung.blocking), None)
    if step is None:
        return ()
    return tuple(rung for rung in rungs if rung is not step and rung.ratio and not rung.hosts & step.hosts)


def step_beside(rung: Rung, rungs: Sequence[Rung]) -> Pooled | None:
    """Return the pooled step's speed-up on the hosts of another rung; None if none of them timed it."""
    step = next((one.pooled for one in rungs if one.case.scope == "step" and one.pooled), None)
    return None if step is None or rung.pooled is step else step_on(step, rung.hosts)


def _sides(records: Sequence[Record]) -> tuple[Summary | None, Summary | None]:
    """Return the CPU and GPU summaries: of the newest campaign that timed both, else each side's newest."""
    timed = _of_both_sides(records) or records
    cpu, gpu = (_current(r for r in timed if r.backend == side) for side in ("cpu", "gpu"))
    return cpu, gpu


def _of_both_sides(records: Sequence[Record]) -> list[Record]:
    """Return the records of campaigns that timed both sides; smoke counts only if there is nothing else."""
    measured = [record for record in records if record.profile != "smoke"] or records
    timed = {(record.campaign, record.backend) for record in measured if seconds_by_round(record)}
    return [r for r in measured if {(r.campaign, "cpu"), (r.campaign, "gpu")} <= timed]


def _blocking_rung(steps: Sequence[Record]) -> Rung | None:
    """Return the rung of blocking steps; None if no campaign timed them although a sample has several steps."""
    campaigns = {record.campaign for record in steps if any(run.blocking_samples for run in record.runs)}
    known = [r for r in steps if r.campaign in campaigns and blocking_step(summary(r)) is not None]
    cpu, gpu = (side and blocking_step(side) for side in _sides(known))
    either = cpu or gpu
    return Rung(case=either.record.case, cpu=cpu, gpu=gpu, blocking=True) if either else None


def _compiled_before(scope: Scope, cpu: Summary | None, gpu: Summary | None) -> Rung | None:
    """Return a whole run's rung without its compilations; None if some were not recorded."""
    records = [side and _without_compiling(side.record) for side in (cpu, gpu) if scope == "run"]
    sides = [summary(record) if record else None for record in records]
    either = next(filter(None, sides), None)
    return Rung(case=either.record.case, cpu=sides[0], gpu=sides[1], compiling=False) if either else None


def _without_compiling(record: Record) -> Record | None:
    """Return a whole run's record without the time of its compilations; None if some were not recorded."""
    runs = []
    for run in record.runs:
        compiling = [stage for stage in run.stages if stage.name in _COMPILING]  # a search repeats stages
        if not run.reason and {stage.name for stage in compiling} != _COMPILING:
            return None
        wall, process = (
            sum(getattr(stage, clock) for stage in compiling) for clock in ("wall_seconds", "process_seconds")
        )
        samples = tuple(
            replace(sample, wall_seconds=sample.wall_seconds - wall, process_seconds=sample.process_seconds - process)
            for sample in run.samples
        )
        elapsed = None if run.elapsed_seconds is None else run.elapsed_seconds - wall
        runs.append(replace(run, samples=samples, elapsed_seconds=elapsed))
    return replace(record, runs=tuple(runs))


def amortised(rungs: Iterable[Rung], calls: Sequence[int] = CALLS) -> tuple[Amortised, ...]:
    """Return the effective speed-up after each count of calls, from a ladder's pooled cold start and step.

    The first call is the cold start. () if one of the two is not pooled.
    """
    pooled = {(rung.case.scope, rung.case.cache): rung.pooled for rung in rungs if rung.pooled}
    cold, step = pooled.get(("cold", "empty")), pooled.get(("step", "empty"))
    if cold is None or step is None:
        return ()
    quotable = cold.quotable and step.quotable
    return tuple(Amortised(calls=count, ratio=total_ratio(cold, step, count), quotable=quotable) for count in calls)


def _plain(record: Record) -> bool:
    """Return whether a record belongs to the headline results, in any scope and cache state."""
    return record.general and record.usual("cache")


def _counts(record: Record) -> bool:
    """Return whether a record is evidence, or of profile smoke, which counts if there is nothing else."""
    return usable(record) or (record.profile == "smoke" and not record.cut_short)


def _current(records: Iterable[Record]) -> Summary | None:
    """Return the summary of the current campaign, with its faster allocator."""
    all_records = list(records)
    last = max((record.current_key for record in all_records), default=None)
    return fastest(summary(record) for record in all_records if record.current_key == last)

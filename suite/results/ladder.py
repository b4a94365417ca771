"""The clock ladder of a workload on a machine: what each scope includes, and what many calls cost in all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from suite.results.latency import waited_for
from suite.results.record import Record
from suite.results.speedup import SpeedUp, speedups
from suite.results.statistics import Estimate, paired_ratio
from suite.results.summary import Summary, better, by_round, summary, time_ratio
from suite.workload import Case

REST = "compile_rest"  # the stage of a whole run that compiles all it needs beside its step
_COMPILING = {"compile", REST}
CALLS = (1, 10, 100, 1000, 10_000, 100_000)  # on an H100 a small network needs more than a thousand to break even
_RUNGS = {
    ("step", "empty"): "a step",
    ("transfer", "empty"): "with its batch copied",
    ("epoch", "empty"): "from storage on",
    ("cold", "empty"): "a cold start",
    ("cold", "warm"): "a cold start from a warm cache",
    ("run", "empty"): "the whole run",
}


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One scope in the headline setting, from the newest campaign with both sides, else each from its own newest.

    A side or the ratio may be missing.
    """

    case: Case  # of either side
    cpu: Summary | None
    gpu: Summary | None
    compiling: bool = True  # False: of a whole run, what is left when its compilations are taken out
    alone: bool = False  # True: of a step, one that is waited for before the next
    judged: SpeedUp | None = None  # its ratio with its status; None: no ratio, or of another rung

    @property
    def words(self) -> str:
        """What is counted, as a sentence needs it."""
        if self.alone:
            return "a step that is waited for"
        return _RUNGS[self.case.scope, self.case.cache] if self.compiling else "without its compilations"

    @property
    def both(self) -> tuple[Summary, Summary] | None:
        """CPU and GPU; None if they are not of one campaign."""
        if self.cpu is None or self.gpu is None or self.cpu.record.campaign != self.gpu.record.campaign:
            return None
        return self.cpu, self.gpu

    @property
    def ratio(self) -> Estimate | None:
        """The CPU's time over the GPU's, paired by round; None if they are not of one campaign."""
        return time_ratio(*self.both) if self.both else None

    @property
    def steady_sides(self) -> bool:
        """True if CPU and GPU are both steady."""
        return all(side is not None and side.steady for side in (self.cpu, self.gpu))

    @property
    def doubted(self) -> SpeedUp | None:
        """The speed-up, if it is not steady though both sides are."""
        if self.judged is None or self.judged.steady or not self.steady_sides:
            return None
        return self.judged


@dataclass(frozen=True, kw_only=True)
class Amortised:
    """What the first `calls` steps of a process cost together, compiling included: the CPU's time over the GPU's.

    Where the cold start is of one campaign and the step of another, no interval holds what both can differ by.
    """

    calls: int
    ratio: Estimate
    steady: bool  # whether all four times that it is of are
    joined: bool  # whether these are of two campaigns


def ladder(records: Iterable[Record]) -> tuple[Rung, ...]:
    """Return the rungs that the records of one workload and machine have, from the step to the whole run."""
    there = list(records)
    mine = [record for record in there if plain(record) and not record.cut_short]
    ratios = {(id(item.cpu.record), id(item.gpu.record)): item for item in speedups(there)}
    found: list[Rung | None] = []
    for scope, cache in _RUNGS:
        timed = [r for r in mine if (r.case.scope, r.case.cache, r.case.length) == (scope, cache, 1)]
        cpu, gpu = _sides(timed)
        if either := cpu or gpu:
            judged = ratios.get((id(cpu.record), id(gpu.record))) if cpu and gpu else None
            rung = Rung(case=either.record.case, cpu=cpu, gpu=gpu, judged=judged)
            found += [rung, _waited_for(timed) if scope == "step" else _compiled_before(rung)]
    return tuple(rung for rung in found if rung is not None)


def _sides(records: Sequence[Record]) -> tuple[Summary | None, Summary | None]:
    """Return CPU and GPU: of the newest campaign that timed both, if one did, else each from its own newest."""
    timed = _of_both_sides(records) or records
    cpu, gpu = (_current(r for r in timed if r.backend == side) for side in ("cpu", "gpu"))
    return cpu, gpu


def _of_both_sides(records: Sequence[Record]) -> list[Record]:
    """Return those of campaigns that timed both sides; none of smoke where anything else was measured."""
    measured = [record for record in records if record.profile != "smoke"] or records
    timed = {(record.campaign, record.backend) for record in measured if by_round(record)}
    return [r for r in measured if {(r.campaign, "cpu"), (r.campaign, "gpu")} <= timed]


def _waited_for(steps: Sequence[Record]) -> Rung | None:
    """Return the rung of steps that are each waited for, from the campaigns that timed them so.

    None if none did where a sample has more than one step.
    """
    campaigns = {record.campaign for record in steps if any(run.alone for run in record.runs)}
    known = [r for r in steps if r.campaign in campaigns and waited_for(summary(r)) is not None]
    cpu, gpu = (side and waited_for(side) for side in _sides(known))
    either = cpu or gpu
    return Rung(case=either.record.case, cpu=cpu, gpu=gpu, alone=True) if either else None


def _compiled_before(rung: Rung) -> Rung | None:
    """Return a whole run's rung without its compilations; None if they were not all told."""
    if rung.case.scope != "run":
        return None
    sides = [side and _without_compiling(side.record) for side in (rung.cpu, rung.gpu)]
    cpu, gpu = (summary(record) if record else None for record in sides)
    return Rung(case=rung.case, cpu=cpu, gpu=gpu, compiling=False) if cpu or gpu else None


def _without_compiling(record: Record) -> Record | None:
    """Return a whole run's record with its compilations taken out of its times; None if some were not told."""
    runs = []
    for run in record.runs:
        compiling = [stage for stage in run.stages if stage.name in _COMPILING]  # a search says each several times
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
    """Return the effective speed-up after so many calls, from a ladder's step and cold start.

    Each has a process of its own; the first round of one goes with the first of the other, and so on. Empty if one of
    the two lacks a side.
    """
    sides = {(rung.case.scope, rung.case.cache): rung.both for rung in rungs if not rung.alone}
    cold, step = sides.get(("cold", "empty")), sides.get(("step", "empty"))
    return _curve(tuple(zip(cold, step, strict=True)), calls) if cold and step else ()


def _curve(sides: Sequence[tuple[Summary, ...]], calls: Sequence[int]) -> tuple[Amortised, ...]:
    steady = all(item.steady for side in sides for item in side)
    joined = len({item.record.campaign for side in sides for item in side}) > 1
    times = [tuple(by_round(item.record) for item in side) for side in sides]
    curve = []
    for count in calls:
        cpu, gpu = (totals(cold, step, count) for cold, step in times)
        if (ratio := paired_ratio(cpu, gpu)) is not None:
            if joined and count > 1:  # the first call is the cold start alone
                ratio = Estimate(value=ratio.value, processes=ratio.processes)
            curve.append(Amortised(calls=count, ratio=ratio, steady=steady, joined=joined))
    return tuple(curve)


def totals(cold: dict[int, float], step: dict[int, float], calls: int) -> dict[int, float]:
    """Return by round the seconds of a cold start, which takes the first step, and all calls after it."""
    return {number: cold[number] + (calls - 1) * step[number] for number in cold.keys() & step.keys()}


def plain(record: Record) -> bool:
    """Return whether a record is JAX's in the headline setting, whatever its scope, and stands among the headline's."""
    return record.general and record.usual("cache", "length")


def _current(records: Iterable[Record]) -> Summary | None:
    """Return the summary of the current campaign, of its better allocator."""
    there = list(records)
    last = max((record.precedence for record in there), default=None)
    return better(summary(record) for record in there if record.precedence == last)

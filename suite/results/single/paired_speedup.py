"""Speed-ups on one host: CPU time over GPU time in one campaign, paired by round, with a certificate.

Both sides must have computed the same: inputs and losses are compared round by round. Source of the bounds: the
published pairs of both sides. First losses differ by at most 2e-6; the second loss, after an update, by 3e-3 for the
deepest network, whose batch norms of small batches amplify rounding.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from suite import units
from suite.case import Backend, Case, Implementation
from suite.results.records.record import Record
from suite.results.single.summary import Summary, fastest, seconds_by_round, summary, time_ratio
from suite.results.stats.state import State, too_wide
from suite.results.stats.statistics import Estimate, sign_interval
from suite.scopes import certifies_itself
from suite.variants import variants_of, way_name

CERTIFIED_FROM = 0.7  # fastest baseline's time over JAX's, on the CPU
_FIRST, _LATER = 1e-4, 1e-2  # relative to the CPU's loss: of the first step; of a later one, after an update
_ROUNDING = 1e-9  # of a mean of equal values


@dataclass(frozen=True, kw_only=True)
class SpeedUp:
    """CPU time over GPU time of one workload in one campaign on one machine."""

    cpu: Summary
    gpu: Summary
    ratio: Estimate
    baselines: tuple[tuple[Summary, Estimate], ...]  # other implementations on the CPU: their time over JAX's
    apart: tuple[str, ...]  # differences between the computations of the two sides
    caveat: str  # a caveat of the ratio, but of neither side
    uncovered: tuple[str, ...]  # why the CPU side has no certificate, or what the certificate does not cover

    @property
    def state(self) -> State:
        """Its state; of one host it is never quotable."""
        if self.apart or "invalid" in (self.cpu.state, self.gpu.state):
            return "invalid"
        return "not certified" if self.baselines and self.certificate is False else "open"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Its caveats, and what its certificate does not cover."""
        sides = (f"{side.record.backend}: {reason}" for side in (self.cpu, self.gpu) for reason in side.reasons)
        return (*self.apart, *sides, *filter(None, [self.caveat]), *self.uncovered)

    @property
    def fastest_baseline(self) -> tuple[Summary, Estimate] | None:
        """The fastest baseline on the CPU; None if none was compared."""
        return min(self.baselines, key=lambda baseline: baseline[1].value, default=None)

    @property
    def certified(self) -> bool:
        """Whether the CPU side has a baseline and none takes less than 0.7 of its time."""
        best = self.fastest_baseline
        return best is not None and best[1].value >= CERTIFIED_FROM

    @property
    def certificate(self) -> bool | None:
        """Whether it is certified; None if its scope needs no certificate."""
        return self.certified if certifies_itself(self.gpu.record.case.scope) else None


Result = Summary | SpeedUp  # results with a state and reasons


def record_of(item: Result) -> Record:
    """Return the record that identifies a result's campaign; both sides of a speed-up are of one."""
    return item.gpu.record if isinstance(item, SpeedUp) else item.record


def speedups(records: Iterable[Record]) -> tuple[SpeedUp, ...]:
    """Return every CPU-over-GPU ratio of JAX that the records allow, paired by round in a campaign.

    The CPU side is always float32 at highest precision, with its faster allocator; the GPU side may have another
    precision. Invalid times have no ratio.
    """
    campaigns: dict[tuple[str, str, str], list[Summary]] = defaultdict(list)
    for record in records:
        campaigns[record.campaign, record.machine.slug, record.workload].append(summary(record))
    ratios = []
    for group in campaigns.values():
        for gpu in group:
            if gpu.record.backend != "gpu" or gpu.record.case.implementation != "jax":
                continue
            if not gpu.record.description.documented:
                continue
            twin = msgspec.structs.replace(gpu.record.case, backend="cpu", precision="float32-highest")
            twin = twin.ignoring_allocator
            cpu = fastest(chosen(s for s in group if s.record.compared_as == twin))
            over = time_ratio(cpu, gpu) if cpu else None
            if cpu is not None and over is not None:
                ratios.append(_speedup(cpu, gpu, over, group))
    return tuple(ratios)


def chosen(ways: Iterable[Summary]) -> Sequence[Summary]:
    """Return the CPU summaries with the chosen thread count; all of them if none has it."""
    every = list(ways)
    return [item for item in every if item.record.chosen_threads] or every


def _speedup(cpu: Summary, gpu: Summary, ratio: Estimate, group: Sequence[Summary]) -> SpeedUp:
    caveat = _caveat(cpu.record, gpu.record, ratio) or too_wide(ratio)
    baselines, asked = baselines_of(cpu, group), certifies_itself(gpu.record.case.scope)
    return SpeedUp(
        cpu=cpu,
        gpu=gpu,
        ratio=ratio,
        baselines=baselines,
        apart=tuple(f"not the same: {words}" for words in disagreements(cpu.record, gpu.record)),
        caveat=caveat if cpu.steady and gpu.steady else "",
        uncovered=tuple(_of_the_certificate(cpu, group, baselines)) if asked else (),
    )


def _of_the_certificate(
    cpu: Summary, group: Sequence[Summary], baselines: Sequence[tuple[Summary, Estimate]]
) -> Iterator[str]:
    """Yield why the CPU side has no certificate, and what an existing one does not cover."""
    best = min((ratio.value for _, ratio in baselines), default=None)
    if best is None and any(other.state == "invalid" for other in others_of(cpu, group)):
        yield "CPU side not certified: the independent framework's result is invalid"
    elif best is None:
        yield "CPU side not compared with an independent framework in this campaign"
    elif best < CERTIFIED_FROM:
        yield f"a baseline takes {best:.2f} of JAX's time"
    if lacking := untimed(baselines):
        yield f"CPU side compared without a way that may be faster: {', '.join(lacking)}"


def _caveat(cpu: Record, gpu: Record, ratio: Estimate) -> str:
    """Return a caveat if the mean ratio is outside its sign interval, which assumes nothing of the noise; else ''."""
    mine, theirs = seconds_by_round(cpu), seconds_by_round(gpu)
    signs = sign_interval([mine[r] / theirs[r] for r in mine.keys() & theirs.keys()])
    if signs is None or signs[0] * (1 - _ROUNDING) <= ratio.value <= signs[1] * (1 + _ROUNDING):
        return ""
    return f"the ratio lies outside the sign interval, {units.interval(*signs)}; rerun when idle"


def current(ratios: Iterable[SpeedUp]) -> tuple[SpeedUp, ...]:
    """Return the current speed-up of each machine and case, sorted by case and machine."""
    latest: dict[tuple[str, str], SpeedUp] = {}
    for item in sorted(ratios, key=lambda s: min(s.cpu.record.current_key, s.gpu.record.current_key)):
        latest[item.gpu.record.machine_and_case] = item
    return tuple(latest[key] for key in sorted(latest, key=lambda key: (key[1], key[0])))


def baselines_of(summary: Summary, group: Iterable[Summary]) -> tuple[tuple[Summary, Estimate], ...]:
    """Return the baselines of a summary's case, each with its time over the summary's, paired by round."""
    baselines = []
    for other in others_of(summary, group):
        over = time_ratio(other, summary)
        if over is not None:
            baselines.append((other, over))
    return tuple(baselines)


def untimed(baselines: Iterable[tuple[Summary, Estimate]]) -> tuple[str, ...]:
    """Return the names of the untimed variants of these baselines' implementations on their backend."""
    cases = [baseline.record.case for baseline, _ in baselines]
    return not_timed(cases, sorted({case.implementation for case in cases}), cases[0].backend) if cases else ()


def not_timed(timed: Sequence[Case], implementations: Iterable[Implementation], backend: Backend) -> tuple[str, ...]:
    """Return the names of the variants of implementations on a backend that are not in `timed`."""
    return tuple(
        way_name(implementation, variant)
        for implementation in implementations
        for variant in variants_of(implementation, backend)
        if (implementation, variant) not in {(case.implementation, case.variant) for case in timed}
    )


def others_of(summary: Summary, group: Iterable[Summary]) -> Iterable[Summary]:
    """Yield the results of other implementations of the same case, valid or not."""
    own = summary.record.compared_as
    for other in group:
        if other.record.case.implementation != own.implementation and other.record.compared_as.taken_as(own) == own:
            yield other


def disagreements(cpu: Record, gpu: Record) -> Iterator[str]:
    """Yield each difference between a GPU in full float32 and the CPU of its campaign.

    Skipped are lower precisions, which change the loss, and whole runs, whose last loss ends a training of its own. Of
    other implementations only inputs count: their dropout differs between devices. So it is of `resident-loop`, whose
    first loss comes after an epoch of roundings.
    """
    if gpu.case.precision != "float32-highest" or gpu.case.scope == "run":
        return
    cpu_runs = {run.round: run for run in cpu.runs if not run.reason}
    for theirs in gpu.runs:
        run = cpu_runs.get(theirs.round)
        if run is None or theirs.reason:
            continue
        where = f"round {run.round + 1}"
        if run.input_digest != theirs.input_digest:
            yield f"{where}: the sides had other inputs"
        if gpu.case.implementation != "jax" or gpu.case.variant == "resident-loop":
            continue
        first = _FIRST if gpu.case.variant != "scan" else _LATER  # the first call of scan has many steps
        yield from _apart(f"{where}: the first loss", run.first_loss, theirs.first_loss, first)
        ours, other = (each.audit.replay if each.audit else None for each in (run, theirs))
        if ours is not None and other is not None:
            yield from _apart(f"{where}: the second loss", ours.twice, other.twice, _LATER)


def _apart(what: str, cpu: float | None, gpu: float | None, bound: float) -> Iterator[str]:
    if cpu is not None and gpu is not None and abs(cpu - gpu) > bound * abs(cpu):
        yield f"{what} is {cpu:.6g} on the CPU and {gpu:.6g} on the GPU"

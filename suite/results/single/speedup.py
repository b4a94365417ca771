"""Speed-ups on one host: CPU time over GPU time in one campaign, paired by round, with its certificate."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from suite import units
from suite.results.records.record import Record
from suite.results.single.baselines import CERTIFIED_FROM, baselines_of, others_of, untimed
from suite.results.single.same_computation import disagreements
from suite.results.single.summary import Summary, fastest, seconds_by_round, summary, time_ratio
from suite.results.stats.state import State, too_wide
from suite.results.stats.statistics import Estimate, sign_interval
from suite.scopes import SCOPES

_ROUNDING = 1e-9  # of a mean of equal values


@dataclass(frozen=True, kw_only=True)
class SpeedUp:
    """CPU time over GPU time of one workload in one campaign on one machine."""

    cpu: Summary
    gpu: Summary
    ratio: Estimate
    baselines: tuple[tuple[Summary, Estimate], ...]  # other implementations on the CPU: their time over JAX's
    gpu_baselines: tuple[tuple[Summary, Estimate], ...]
    apart: tuple[str, ...]  # where the two sides did not compute the same
    caveat: str  # what speaks against the ratio, but against neither side
    uncovered: tuple[str, ...]  # why the CPU side has no certificate, or what it does not cover

    @property
    def state(self) -> State:
        """What may be said of it, which is of one host and so never quotable."""
        if self.apart or "invalid" in (self.cpu.state, self.gpu.state):
            return "invalid"
        return "not certified" if self.certificate is False and self.beaten_by_baseline else "open"

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks against it, and what its certificate does not cover."""
        sides = (f"{side.record.backend}: {reason}" for side in (self.cpu, self.gpu) for reason in side.reasons)
        return (*self.apart, *sides, *filter(None, [self.caveat]), *self.uncovered)

    @property
    def steady(self) -> bool:
        """Whether nothing speaks against either side or the ratio."""
        return self.cpu.steady and self.gpu.steady and not self.apart and not self.caveat

    @property
    def complete(self) -> bool:
        """Whether it may be counted with: both sides make sense and lack no round."""
        return self.cpu.complete and self.gpu.complete

    @property
    def fastest_baseline(self) -> tuple[Summary, Estimate] | None:
        """The fastest other implementation on the CPU; None if none was compared."""
        return min(self.baselines, key=lambda baseline: baseline[1].value, default=None)

    @property
    def fastest_gpu_baseline(self) -> tuple[Summary, Estimate] | None:
        """The fastest other implementation on the GPU; None if none was compared."""
        return min(self.gpu_baselines, key=lambda baseline: baseline[1].value, default=None)

    @property
    def certified(self) -> bool:
        """True if the CPU side was compared and is no slower than 0.7 of the fastest baseline."""
        return bool(self.baselines) and not self.beaten_by_baseline

    @property
    def beaten_by_baseline(self) -> bool:
        """True if a baseline takes less than 0.7 of the CPU side's time."""
        best = self.fastest_baseline
        return best is not None and best[1].value < CERTIFIED_FROM

    @property
    def certificate(self) -> bool | None:
        """Whether it is certified; None where it needs no certificate, as it is not of a step."""
        return self.certified if SCOPES[self.gpu.record.case.scope].certified else None


Result = Summary | SpeedUp  # what has a state with its reasons


def record_of(item: Result) -> Record:
    """Return the record that tells of which campaign a result is; both sides of a speed-up are of one."""
    return item.gpu.record if isinstance(item, SpeedUp) else item.record


def speedups(records: Iterable[Record]) -> tuple[SpeedUp, ...]:
    """Return every CPU-over-GPU ratio of JAX that the records allow, paired by round inside a campaign.

    The CPU side is always float32 at highest precision, with its faster allocator; the GPU side may
    have another precision. A time that makes no sense has no ratio.
    """
    campaigns: dict[tuple[str, str, str], list[Summary]] = defaultdict(list)
    for record in records:
        campaigns[record.campaign, record.machine.slug, record.workload].append(summary(record))
    ratios = []
    for group in campaigns.values():
        for gpu in group:
            if gpu.record.backend != "gpu" or gpu.record.case.implementation != "jax":
                continue
            if gpu.record.description.family == "ceiling":
                continue  # no network
            twin = msgspec.structs.replace(gpu.record.case, backend="cpu", precision="float32-highest")
            twin = twin.ignoring_allocator
            cpu = fastest(chosen(s for s in group if s.record.compared_as == twin))
            over = time_ratio(cpu, gpu) if cpu else None
            if cpu is not None and over is not None:
                ratios.append(_speedup(cpu, gpu, over, group))
    return tuple(ratios)


def chosen(ways: Iterable[Summary]) -> Sequence[Summary]:
    """Return those of a CPU's ways that have the threads chosen for it; all of them where none has."""
    every = list(ways)
    return [item for item in every if item.record.chosen_threads] or every


def _speedup(cpu: Summary, gpu: Summary, ratio: Estimate, group: Sequence[Summary]) -> SpeedUp:
    caveat = _caveat(cpu.record, gpu.record, ratio) or too_wide(ratio)
    baselines, asked = baselines_of(cpu, group), SCOPES[gpu.record.case.scope].certified
    return SpeedUp(
        cpu=cpu,
        gpu=gpu,
        ratio=ratio,
        baselines=baselines,
        gpu_baselines=baselines_of(gpu, group),
        apart=tuple(f"not the same: {words}" for words in disagreements(cpu.record, gpu.record)),
        caveat=caveat if cpu.steady and gpu.steady else "",
        uncovered=tuple(_of_the_certificate(cpu, group, baselines)) if asked else (),
    )


def _of_the_certificate(
    cpu: Summary, group: Sequence[Summary], baselines: Sequence[tuple[Summary, Estimate]]
) -> Iterator[str]:
    """Yield why the CPU side has no certificate, and what the one that it has does not cover."""
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
    """Return why the ratio's mean is not to be trusted: it lies outside the interval that asks nothing of the noise."""
    mine, theirs = seconds_by_round(cpu), seconds_by_round(gpu)
    signs = sign_interval([mine[r] / theirs[r] for r in mine.keys() & theirs.keys()])
    if signs is None or signs[0] * (1 - _ROUNDING) <= ratio.value <= signs[1] * (1 + _ROUNDING):
        return ""
    return f"the ratio lies outside the sign interval, {units.interval(*signs)}; rerun when idle"


def current(ratios: Iterable[SpeedUp]) -> tuple[SpeedUp, ...]:
    """Return the current speed-up of each machine and case, in order of workload and machine."""
    latest: dict[tuple[str, str], SpeedUp] = {}
    for item in sorted(ratios, key=lambda s: min(s.cpu.record.current_key, s.gpu.record.current_key)):
        latest[item.gpu.record.machine_and_case] = item
    return tuple(latest[key] for key in sorted(latest, key=lambda key: (key[1], key[0])))

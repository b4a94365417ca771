"""Speed-ups on one host: CPU time over GPU time in one campaign, paired by round, with its certificate."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from suite import units
from suite.results.records.record import Record
from suite.results.single.peers import CERTIFIED_FROM, others_of, peers_of, untimed
from suite.results.single.same_computation import disagreements
from suite.results.single.summary import Summary, better, by_round, summary, time_ratio
from suite.results.stats.state import State, wide
from suite.results.stats.statistics import Estimate, sign_interval

_ROUNDING = 1e-9  # of a mean of equal values


@dataclass(frozen=True, kw_only=True)
class SpeedUp:
    """CPU time over GPU time of one workload in one campaign on one machine."""

    cpu: Summary
    gpu: Summary
    ratio: Estimate
    peers: tuple[tuple[Summary, Estimate], ...]  # other implementations on the CPU: their time over JAX's
    gpu_peers: tuple[tuple[Summary, Estimate], ...]
    apart: tuple[str, ...]  # where the two sides did not compute the same
    doubt: str  # what speaks against the ratio, but against neither side
    uncovered: tuple[str, ...]  # why the CPU side has no certificate, or what it does not cover

    @property
    def state(self) -> State:
        """What may be said of it, which is of one host and so never quotable."""
        if self.apart or "invalid" in (self.cpu.state, self.gpu.state):
            return "invalid"
        return "not certified" if self.certificate is False and self.outdone else "open"

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks against it, and what its certificate does not cover."""
        sides = (f"{side.record.backend}: {reason}" for side in (self.cpu, self.gpu) for reason in side.reasons)
        return (*self.apart, *sides, *filter(None, [self.doubt]), *self.uncovered)

    @property
    def steady(self) -> bool:
        """Whether nothing speaks against either side or the ratio."""
        return self.cpu.steady and self.gpu.steady and not self.apart and not self.doubt

    @property
    def whole(self) -> bool:
        """Whether it may be counted with: both sides make sense and lack no round."""
        return self.cpu.whole and self.gpu.whole

    @property
    def best_peer(self) -> tuple[Summary, Estimate] | None:
        """The fastest other implementation on the CPU; None if none was compared."""
        return min(self.peers, key=lambda peer: peer[1].value, default=None)

    @property
    def best_gpu_peer(self) -> tuple[Summary, Estimate] | None:
        """The fastest other implementation on the GPU; None if none was compared."""
        return min(self.gpu_peers, key=lambda peer: peer[1].value, default=None)

    @property
    def certified(self) -> bool:
        """True if the CPU side was compared and is no slower than 0.7 of the best peer."""
        return bool(self.peers) and not self.outdone

    @property
    def outdone(self) -> bool:
        """True if a peer is known that takes less than 0.7 of the CPU side's time."""
        best = self.best_peer
        return best is not None and best[1].value < CERTIFIED_FROM

    @property
    def certificate(self) -> bool | None:
        """Whether it is certified; None where it needs no certificate, as it is not of a step."""
        return self.certified if self.gpu.record.case.scope == "step" else None


Result = Summary | SpeedUp  # what has a state with its reasons


def record_of(item: Result) -> Record:
    """Return the record that tells of which campaign a result is; both sides of a speed-up are of one."""
    return item.gpu.record if isinstance(item, SpeedUp) else item.record


def speedups(records: Iterable[Record]) -> tuple[SpeedUp, ...]:
    """Return every CPU-over-GPU ratio of JAX that the records allow, paired by round inside a campaign.

    The CPU side is always float32 at highest precision, with the allocator that serves it better; the GPU side may
    have another precision. A time that makes no sense has no ratio.
    """
    campaigns: dict[tuple[str, str, str], list[Summary]] = defaultdict(list)
    for record in records:
        campaigns[record.campaign, record.machine.slug, record.workload].append(summary(record))
    found = []
    for group in campaigns.values():
        for gpu in group:
            if gpu.record.backend != "gpu" or gpu.record.case.implementation != "jax":
                continue
            if gpu.record.description.family == "ceiling":
                continue  # no network
            twin = msgspec.structs.replace(gpu.record.case, backend="cpu", precision="float32-highest")
            twin = twin.ignoring_allocator
            cpu = better(chosen(s for s in group if s.record.compared_as == twin))
            over = time_ratio(cpu, gpu) if cpu else None
            if cpu is not None and over is not None:
                found.append(_speedup(cpu, gpu, over, group))
    return tuple(found)


def chosen(ways: Iterable[Summary]) -> Sequence[Summary]:
    """Return those of a CPU's ways that have the threads chosen for it; all of them where none has."""
    every = list(ways)
    return [item for item in every if item.record.chosen_threads] or every


def _speedup(cpu: Summary, gpu: Summary, ratio: Estimate, group: Sequence[Summary]) -> SpeedUp:
    doubt = _doubt(cpu.record, gpu.record, ratio) or wide(ratio)
    peers, asked = peers_of(cpu, group), gpu.record.case.scope == "step"
    return SpeedUp(
        cpu=cpu,
        gpu=gpu,
        ratio=ratio,
        peers=peers,
        gpu_peers=peers_of(gpu, group),
        apart=tuple(f"not the same: {words}" for words in disagreements(cpu.record, gpu.record)),
        doubt=doubt if cpu.steady and gpu.steady else "",
        uncovered=tuple(_of_the_certificate(cpu, group, peers)) if asked else (),
    )


def _of_the_certificate(
    cpu: Summary, group: Sequence[Summary], peers: Sequence[tuple[Summary, Estimate]]
) -> Iterator[str]:
    """Yield why the CPU side has no certificate, and what the one that it has does not cover."""
    best = min((ratio.value for _, ratio in peers), default=None)
    if best is None and any(other.state == "invalid" for other in others_of(cpu, group)):
        yield "CPU side not certified: the independent framework's result is invalid"
    elif best is None:
        yield "CPU side not compared with an independent framework in this campaign"
    elif best < CERTIFIED_FROM:
        yield f"a baseline takes {best:.2f} of JAX's time"
    if lacking := untimed(peers):
        yield f"CPU side compared without a way that may be faster: {', '.join(lacking)}"


def _doubt(cpu: Record, gpu: Record, ratio: Estimate) -> str:
    """Return why the ratio's mean is not to be trusted: it lies outside the interval that asks nothing of the noise."""
    mine, theirs = by_round(cpu), by_round(gpu)
    signs = sign_interval([mine[r] / theirs[r] for r in mine.keys() & theirs.keys()])
    if signs is None or signs[0] * (1 - _ROUNDING) <= ratio.value <= signs[1] * (1 + _ROUNDING):
        return ""
    return f"the ratio lies outside the sign interval, {units.interval(*signs)}; rerun when idle"


def current(found: Iterable[SpeedUp]) -> tuple[SpeedUp, ...]:
    """Return the current speed-up of each machine and case, in order of workload and machine."""
    latest: dict[tuple[str, str], SpeedUp] = {}
    for item in sorted(found, key=lambda s: min(s.cpu.record.precedence, s.gpu.record.precedence)):
        latest[item.gpu.record.place] = item
    return tuple(latest[key] for key in sorted(latest, key=lambda key: (key[1], key[0])))

"""Speed-ups: CPU time over GPU time in one campaign, with its certificate and what other campaigns say of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from suite import units
from suite.results.agreement import disagreements
from suite.results.peers import others_of, peers_of, untimed, way
from suite.results.record import Record
from suite.results.repetition import found_again
from suite.results.statistics import Estimate, sign_interval
from suite.results.summary import (
    COUNTED,
    SOUND,
    Status,
    Summary,
    better,
    by_round,
    citable,
    summary,
    time_ratio,
    wide,
    worse,
)
from suite.variants import peer_name
from suite.workload import Case, Scope

CERTIFIED_FROM = 0.7  # best peer's time over JAX's, on the CPU
_ROUNDING = 1e-9  # of a mean of equal values


@dataclass(frozen=True, kw_only=True)
class SpeedUp:
    """CPU time over GPU time of one workload in one campaign on one machine."""

    cpu: Summary
    gpu: Summary
    ratio: Estimate
    peers: tuple[tuple[Summary, Estimate], ...]  # other implementations on the CPU: their time over JAX's
    gpu_peers: tuple[tuple[Summary, Estimate], ...]
    status: Status
    reasons: tuple[str, ...]
    elsewhere: tuple[tuple[Summary, Estimate], ...] = ()  # ways on this CPU that other campaigns alone timed beside JAX

    @property
    def whole(self) -> bool:
        """Whether it may be counted with: both sides make sense and lack no round."""
        return self.cpu.whole and self.gpu.whole

    @property
    def best_peer(self) -> tuple[Summary, Estimate] | None:
        """The fastest other implementation on the CPU; None if none was compared."""
        return min(self.peers, key=lambda peer: peer[1].value, default=None)

    @property
    def best_known_peer(self) -> tuple[Summary, Estimate] | None:
        """The fastest other implementation on the CPU, whichever campaign timed it beside JAX."""
        return min((*self.peers, *self.elsewhere), key=lambda peer: peer[1].value, default=None)

    @property
    def best_gpu_peer(self) -> tuple[Summary, Estimate] | None:
        """The fastest other implementation on the GPU; None if none was compared."""
        return min(self.gpu_peers, key=lambda peer: peer[1].value, default=None)

    @property
    def certified(self) -> bool:
        """True if the CPU side was compared and is no slower than 0.7 of the best peer, by whichever campaign."""
        return bool(self.peers) and not self.outdone

    @property
    def outdone(self) -> bool:
        """True if a peer is known that takes less than 0.7 of the CPU side's time."""
        best = self.best_known_peer
        return best is not None and best[1].value < CERTIFIED_FROM

    @property
    def certificate(self) -> bool | None:
        """Whether it is certified; None where it needs no certificate, as it is not of a step."""
        return self.certified if self.gpu.record.case.scope == "step" else None

    @property
    def solid(self) -> bool:
        """True if it may be drawn as a full mark: certified and steady."""
        return self.certified and self.status in SOUND

    @property
    def citable(self) -> bool:
        """True if it may be quoted."""
        return citable(self.gpu.record, self.ratio, self.status, self.certificate)


Result = Summary | SpeedUp  # what has a status with its reasons


def record_of(item: Result) -> Record:
    """Return the record that tells of which campaign a result is; both sides of a speed-up are of one."""
    return item.gpu.record if isinstance(item, SpeedUp) else item.record


def speedups(records: Iterable[Record]) -> tuple[SpeedUp, ...]:
    """Return every CPU-over-GPU ratio of JAX that the records allow, paired by round inside a campaign.

    The CPU side is always float32 at highest precision, with the allocator that serves it better; the GPU side may
    have another precision. A time that makes no sense has no ratio. A standard one that another campaign's sound one
    confirms is repeated; one is unstable that another campaign contradicts.
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
            twin = twin.of_either_allocator
            cpu = better(chosen(s for s in group if s.record.compared_as == twin))
            over = time_ratio(cpu, gpu) if cpu else None
            if cpu is not None and over is not None:
                found.append(_speedup(cpu, gpu, over, group))
    both: dict[tuple[str, ...], list[SpeedUp]] = defaultdict(list)
    for item in found:
        if item.status in COUNTED:
            both[*item.gpu.record.place, _start(item)].append(item)
    paired = {(side.record.campaign, side.record.place) for item in found for side in (item.cpu, item.gpu)}
    alone: dict[tuple[str, str], list[Summary]] = defaultdict(list)
    for item in (item for group in campaigns.values() for item in group):
        if item.status in SOUND and (item.record.campaign, item.record.place) not in paired:
            alone[item.record.place].append(item)
    compared = _comparisons(campaigns.values())
    found = [_compared_elsewhere(item, compared) for item in found]
    judged = [_contradicted(item, both[*item.gpu.record.place, _start(item)], alone) for item in found]
    return tuple(_repeated(judged, found))


Comparisons = Mapping[tuple[str, Case], Sequence[tuple[Summary, Estimate]]]


def _comparisons(groups: Iterable[Sequence[Summary]]) -> Comparisons:
    """Return by machine and JAX's step on its CPU what each campaign found of that step's peers."""
    found: dict[tuple[str, Case], list[tuple[Summary, Estimate]]] = defaultdict(list)
    for group in groups:
        mine: dict[Case, list[Summary]] = defaultdict(list)
        for item in group if any(item.record.case.implementation != "jax" for item in group) else ():
            case = item.record.case
            if (case.implementation, case.backend, case.scope) == ("jax", "cpu", "step"):
                mine[item.record.compared_as].append(item)
        for case, ways in mine.items():
            cpu = better(chosen(ways))
            if cpu is not None and cpu.status in COUNTED:
                peers = (peer for peer in peers_of(cpu, group) if peer[0].status in COUNTED)
                found[cpu.record.machine.slug, case].extend(peers)
    return found


def _compared_elsewhere(mine: SpeedUp, compared: Comparisons) -> SpeedUp:
    """Return a step's speed-up with the peers that its own campaign did not time and another one of its machine did.

    So no certificate is won by leaving a faster way out. Of each way the newest campaign counts.
    """
    record = mine.cpu.record
    own, found = {way(peer) for peer, _ in mine.peers}, {}
    for peer, ratio in compared.get((record.machine.slug, record.compared_as), ()):
        if peer.record.campaign != record.campaign and way(peer) not in own:
            found.setdefault(way(peer), {}).setdefault(peer.record.created, []).append((peer, ratio))
    elsewhere = tuple(min(ways[max(ways)], key=lambda peer: peer[1].value) for ways in found.values())
    said = [
        f"CPU side not certified: {peer_name(peer.record.case)}, which this campaign did not time, takes "
        f"{ratio.value:.2f} of JAX's time in that of {units.day(peer.record.created)}"
        for peer, ratio in elsewhere
        if ratio.value < CERTIFIED_FROM
    ]
    return replace(mine, elsewhere=elsewhere, reasons=(*mine.reasons, *said))


def _start(item: SpeedUp) -> str:
    """Return how the CPU of a cold start came by its memory: only one of the same way can confirm or contradict it.

    Of steps the better allocator counts, whichever it is.
    """
    case = item.cpu.record.case
    return case.allocator if case.scope == "cold" else ""


def _contradicted(
    mine: SpeedUp, same: Sequence[SpeedUp], alone: Mapping[tuple[str, str], Sequence[Summary]]
) -> SpeedUp:
    """Return the speed-up with what other campaigns say against it, which have it too or have timed a side alone."""
    said = [*_said_of_both(mine, same), *_said_of_a_side(mine, alone)]
    if not said:
        return mine
    status = "unstable" if mine.status in SOUND else mine.status
    return replace(mine, status=status, reasons=(*mine.reasons, *said))


def _said_of_both(mine: SpeedUp, same: Sequence[SpeedUp]) -> Iterator[str]:
    """Yield which of the newer campaigns, and of the two before, has clearly another ratio.

    So a ratio that moved is unstable until a further campaign confirms it, and what was before that does not count; one
    that moved slowly, in steps within the intervals, is unstable until two campaigns after each other confirm it.
    """
    newer = [o for o in same if o.gpu.record.created > mine.gpu.record.created]
    before = [o for o in same if o.gpu.record.created < mine.gpu.record.created]
    before = sorted(before, key=lambda o: o.gpu.record.created, reverse=True)[:2]
    if len(before) == 2 and before[0].ratio.apart(before[1].ratio):
        before.pop()  # it moved between these two
    names = [*("a newer campaign" for _ in newer), "the campaign before", "the second before"]
    for which, other in zip(names, (*newer, *before), strict=False):
        if other.ratio.apart(mine.ratio):
            words = f"{units.times(other.ratio.value)} ({units.interval(other.ratio.low, other.ratio.high)})"
            yield f"{which} has {words}; a further one has to decide"


def _said_of_a_side(mine: SpeedUp, alone: Mapping[tuple[str, str], Sequence[Summary]]) -> Iterator[str]:
    for side in (mine.cpu, mine.gpu):
        last = max(alone.get(side.record.place, ()), key=lambda other: other.record.created, default=side)
        newer = last.record.created > side.record.created
        if newer and last.seconds and side.seconds and last.seconds.apart(side.seconds):
            words = units.seconds(last.seconds.value, units.half_width(last.seconds.low, last.seconds.high))
            yield f"{side.record.backend}: a newer campaign has {words}; measure both sides again"


def _repeated(found: Sequence[SpeedUp], alone: Sequence[SpeedUp]) -> Iterable[SpeedUp]:
    """Yield the speed-ups, those that another campaign confirms as repeated; `alone` have each campaign's own word."""
    others: dict[tuple[str, str], list[tuple[Record, Estimate]]] = defaultdict(list)
    for item in alone:
        if item.status in SOUND:
            others[item.gpu.record.name, _start(item)].append((item.gpu.record, item.ratio))
    for item in found:
        same = others[item.gpu.record.name, _start(item)]
        again = item.status == "standard" and found_again(item.gpu.record, item.ratio, same)
        yield replace(item, status="repeated") if again else item


def chosen(ways: Iterable[Summary]) -> Sequence[Summary]:
    """Return those of a CPU's ways that have the threads chosen for it; all of them where none has."""
    every = list(ways)
    return [item for item in every if item.record.chosen_threads] or every


def _speedup(cpu: Summary, gpu: Summary, ratio: Estimate, group: Sequence[Summary]) -> SpeedUp:
    reasons = tuple(f"{s.record.backend}: {reason}" for s in (cpu, gpu) for reason in s.reasons)
    status, doubt = worse(cpu.status, gpu.status), _doubt(cpu.record, gpu.record, ratio) or wide(gpu.record, ratio)
    if doubt and status in SOUND:
        status, reasons = "unstable", (*reasons, doubt)
    if apart := tuple(f"not the same: {words}" for words in disagreements(cpu.record, gpu.record)):
        status, reasons = "invalid", (*apart, *reasons)
    peers = peers_of(cpu, group)
    if gpu.record.case.scope == "step":
        reasons += tuple(_of_the_certificate(cpu, group, peers))
    return SpeedUp(
        cpu=cpu,
        gpu=gpu,
        ratio=ratio,
        peers=peers,
        gpu_peers=peers_of(gpu, group),
        status=status,
        reasons=reasons,
    )


def _of_the_certificate(
    cpu: Summary, group: Sequence[Summary], peers: Sequence[tuple[Summary, Estimate]]
) -> Iterator[str]:
    """Yield why the CPU side has no certificate, and what the one that it has does not cover."""
    best = min((ratio.value for _, ratio in peers), default=None)
    if best is None and any(other.status == "invalid" for other in others_of(cpu, group)):
        yield "CPU side not certified: the independent framework's result is invalid"
    elif best is None:
        yield "CPU side not compared with an independent framework in this campaign"
    elif best < CERTIFIED_FROM:
        yield f"CPU side not certified: the best peer takes {best:.2f} of JAX's time"
    if lacking := untimed(peers):
        yield f"CPU side compared without a way that may be faster: {', '.join(lacking)}"


def _doubt(cpu: Record, gpu: Record, ratio: Estimate) -> str:
    """Return why the ratio's mean is not to be trusted: it lies outside the interval that asks nothing of the noise."""
    mine, theirs = by_round(cpu), by_round(gpu)
    signs = sign_interval([mine[r] / theirs[r] for r in mine.keys() & theirs.keys()])
    if signs is None or signs[0] * (1 - _ROUNDING) <= ratio.value <= signs[1] * (1 + _ROUNDING):
        return ""
    return f"skewed: the ratio lies outside the sign interval, {units.interval(*signs)}; rerun when idle"


def of_headline(records: Iterable[Record], scope: Scope = "step") -> tuple[SpeedUp, ...]:
    """Return the current speed-ups in the headline setting, each beside the peers of its campaign."""
    beside = (r for r in records if r.case.scope == scope and r.usual("implementation", "variant", "layout"))
    return tuple(item for item in current(speedups(beside)) if item.gpu.record.usual())


def current(found: Iterable[SpeedUp]) -> tuple[SpeedUp, ...]:
    """Return the current speed-up of each machine and case, in order of workload and machine."""
    latest: dict[tuple[str, str], SpeedUp] = {}
    for item in sorted(found, key=lambda s: min(s.cpu.record.precedence, s.gpu.record.precedence)):
        latest[item.gpu.record.place] = item
    return tuple(latest[key] for key in sorted(latest, key=lambda key: (key[1], key[0])))

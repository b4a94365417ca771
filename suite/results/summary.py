"""What records say: a time with interval and status per case, speed-ups, and how the CPU side stands."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, get_args

import msgspec

from suite import units
from suite.results import validity
from suite.results.record import SCHEMA, Record, Run, Telemetry
from suite.results.repetition import found_again
from suite.results.statistics import Estimate, geometric_mean, paired_ratio, sign_interval, trend
from suite.variants import peer_name, variants_of
from suite.workload import Case

Status = Literal["invalid", "incomplete", "unstable", "smoke", "quick", "standard", "repeated"]

SOUND: tuple[Status, ...] = ("quick", "standard", "repeated")
COUNTED: tuple[Status, ...] = ("unstable", *SOUND)  # whole, and more than a sign that it runs
CERTIFIED_FROM = 0.7  # best peer's time over JAX's, on the CPU
WIDEST = {"smoke": None, "quick": 0.10, "standard": 0.05}  # relative half-width
_SPREAD, _TREND, _DOUBLING = 0.05, 0.01, 0.05
_ROUNDING = 1e-9  # of a mean of equal values
_PAUSE = 3.0  # longest sample over the median: the process was stopped, the machine suspended or taken away
_OTHERS_CORES = 0.1  # busy with other work, for each granted core
_STEAL = 0.02  # of the machine's CPU time, had by other virtual machines
# A power cap is left out: it is a limit of the product, met at every run, and shown with the telemetry.
THROTTLING = frozenset({"hardware slowdown", "thermal slowdown", "hardware thermal slowdown", "power brake"})


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One record in numbers; `seconds` is per step, or of the whole cold start or run."""

    record: Record
    seconds: Estimate | None
    status: Status
    reasons: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether it may be counted with: it has a time, makes sense, and lacks no round."""
        return self.seconds is not None and self.status not in ("invalid", "incomplete")

    @property
    def examples_per_second(self) -> float | None:
        """Throughput in steady state; None where starting counts too, or when there is no time."""
        if self.seconds is None or self.record.case.scope not in ("step", "transfer", "epoch", "input", "serve"):
            return None
        return self.record.case.batch / self.seconds.value

    @property
    def examples_per_second_estimate(self) -> Estimate | None:
        """Throughput in steady state with its interval."""
        if self.seconds is None or self.record.case.scope not in ("step", "serve") or self.record.case.batch < 1:
            return None
        return self.seconds.per(self.record.case.batch)

    @property
    def flop_per_second(self) -> float | None:
        """Analytic FLOP per second in steady state; None where none are computed or counted."""
        rate, flop = self.examples_per_second, self.record.description.flop_per_example
        return rate * flop if rate is not None and flop and self.record.case.scope != "input" else None


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
        return self.best_peer is not None and self.best_peer[1].value >= CERTIFIED_FROM

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


def citable(record: Record, value: Estimate, status: Status, certified: bool | None) -> bool:
    """Return whether a number may be quoted: of a schema that stays, steady, with an interval, and certified.

    `certified` is None where it need not be.
    """
    return record.schema == SCHEMA and value.low is not None and status in SOUND and certified is not False


def step_seconds(run: Run) -> float | None:
    """Return the process's one number, the median over its samples; None for a failed run."""
    if run.reason or not run.samples or run.steps_per_sample < 1:
        return None
    return median(sample.wall_seconds for sample in run.samples) / run.steps_per_sample


def longest(run: Run) -> float:
    """Return the longest sample over the median one; 0 if there is none."""
    walls = [sample.wall_seconds for sample in run.samples]
    return max(walls) / median(walls) if walls and median(walls) > 0 else 0.0


def by_round(record: Record) -> dict[int, float]:
    """Return the number of each round whose process ended well."""
    return {run.round: value for run in record.runs if (value := step_seconds(run)) is not None and value > 0}


def summary(record: Record) -> Summary:
    """Return the record's time, and the status that its profile and its troubles leave it."""
    values = by_round(record)
    seconds = geometric_mean(list(values.values())) if values else None
    invalid = tuple(validity.invalid(record))
    failed = tuple(dict.fromkeys(run.reason for run in record.runs if run.reason))
    missing = record.rounds - len(values)
    if invalid:
        return Summary(record=record, seconds=seconds, status="invalid", reasons=invalid)
    if missing > 0 or record.reason:
        words = (record.reason,) if record.reason else failed or (f"{missing} of {record.rounds} rounds are missing",)
        return Summary(record=record, seconds=seconds, status="incomplete", reasons=words)
    unsteady = tuple(_unsteady(record, values, seconds))
    if unsteady and record.profile != "smoke":
        return Summary(record=record, seconds=seconds, status="unstable", reasons=unsteady)
    return Summary(record=record, seconds=seconds, status=record.profile, reasons=unsteady)


def wide(record: Record, value: Estimate | None) -> str:
    """Return why an interval is wider than the record's profile allows; '' if it is not."""
    widest = WIDEST[record.profile]
    width = value.relative_half_width if value else None
    if widest is None or width is None or width <= widest:
        return ""
    return (
        f"wide: the interval's half-width is {width:.0%}, allowed are {widest:.0%}; rerun when idle, or with more "
        "--rounds"
    )


def _unsteady(record: Record, values: dict[int, float], seconds: Estimate | None) -> Iterable[str]:
    if record.cut_short:
        yield "cut short: profile smoke takes a few examples of the documented run; take another profile"
    if words := wide(record, seconds):
        yield words
    if len(values) > 1:
        middle = median(values.values())
        spread = median(abs(value - middle) for value in values.values()) / middle
        if spread > _SPREAD:
            yield f"spread: processes differ by {spread:.0%}; rerun when idle"
    if record.case.scope in ("step", "serve"):
        steady = [run for run in record.runs if run.samples]
        slopes = [trend([s.wall_seconds for s in run.samples]) for run in steady if len(run.samples) >= 4]
        if slopes and abs(median(slopes)) > _TREND and record.profile == "standard":
            yield f"trend: samples changed by {median(slopes):+.1%} from first to last quarter; raise the warm-up"
        pauses = [longest(run) for run in steady]
        if pauses and max(pauses) > _PAUSE:
            yield f"paused: one sample took {max(pauses):.1f} times as long as the median; rerun when idle"
        ratios = [run.doubling_ratio for run in steady if run.doubling_ratio is not None]
        if ratios and abs(median(ratios) - 2) > 2 * _DOUBLING:
            yield f"not proportional: twice the steps took {median(ratios):.2f} times as long"
    loads = [run.load_by_others for run in record.runs if run.load_by_others is not None]
    if record.backend == "cpu" and loads and median(loads) > _OTHERS_CORES * record.machine.cores:
        yield f"busy: other processes used {median(loads):.1f} cores; rerun when idle"
    yield from _disturbed(record, [run.telemetry for run in record.runs if run.telemetry is not None])


def _disturbed(record: Record, watched: Sequence[Telemetry]) -> Iterable[str]:
    """Yield what the telemetry holds against a result: that of the GPUs it used, and of the host."""
    used = [gpu for seen in watched for gpu in seen.gpus[: record.case.devices]] if record.backend == "gpu" else []
    if causes := sorted({word for gpu in used for word in gpu.reasons or ()} & THROTTLING):
        yield f"throttled: the GPU lowered its clocks ({', '.join(causes)}); cool or power it better"
    if others := max((gpu.other_processes or 0 for gpu in used), default=0):
        yield f"shared: {others} other processes used the GPU; end them"
    steals = [seen.steal for seen in watched if seen.steal is not None]
    if steals and median(steals) > _STEAL:
        yield f"stolen: other virtual machines had {median(steals):.0%} of the CPU time; take a machine of your own"
    if periods := sum(seen.throttled_periods or 0 for seen in watched):
        yield f"held back: the control group stopped the process in {periods} periods; lift its quota or pin to it"


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
            if gpu.record.backend != "gpu" or gpu.record.case.implementation != "jax" or gpu.status == "invalid":
                continue
            if gpu.record.description.family == "ceiling":
                continue  # no network
            twin = msgspec.structs.replace(gpu.record.case, backend="cpu", precision="float32-highest")
            cpu = better(s for s in group if msgspec.structs.replace(s.record.case, allocator=twin.allocator) == twin)
            sensible = cpu is not None and cpu.status != "invalid"
            ratio = paired_ratio(by_round(cpu.record), by_round(gpu.record)) if cpu and sensible else None
            if cpu is not None and ratio is not None:
                found.append(_speedup(cpu, gpu, ratio, group))
    both: dict[tuple[str, str], list[SpeedUp]] = defaultdict(list)
    for item in found:
        if item.status in COUNTED:
            both[item.gpu.record.place].append(item)
    paired = {(side.record.campaign, side.record.place) for item in found for side in (item.cpu, item.gpu)}
    alone: dict[tuple[str, str], list[Summary]] = defaultdict(list)
    for item in (item for group in campaigns.values() for item in group):
        if item.status in SOUND and (item.record.campaign, item.record.place) not in paired:
            alone[item.record.place].append(item)
    return tuple(_repeated([_contradicted(item, both[item.gpu.record.place], alone) for item in found], found))


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
    """Yield which of the newer campaigns, and of the one before, has clearly another ratio.

    So a ratio that moved is unstable until a further campaign confirms it, and what was before that does not count.
    """
    before = [o for o in same if o.gpu.record.created < mine.gpu.record.created]
    last = max(before, key=lambda o: o.gpu.record.created, default=None)
    for other in same:
        newer = other.gpu.record.created > mine.gpu.record.created
        if (newer or other is last) and other.ratio.apart(mine.ratio):
            words = f"{units.times(other.ratio.value)} ({units.interval(other.ratio.low, other.ratio.high)})"
            yield f"{'a newer campaign' if newer else 'the campaign before'} has {words}; a further one has to decide"


def _said_of_a_side(mine: SpeedUp, alone: Mapping[tuple[str, str], Sequence[Summary]]) -> Iterator[str]:
    for side in (mine.cpu, mine.gpu):
        last = max(alone.get(side.record.place, ()), key=lambda other: other.record.created, default=side)
        newer = last.record.created > side.record.created
        if newer and last.seconds and side.seconds and last.seconds.apart(side.seconds):
            words = units.seconds(last.seconds.value, units.half_width(last.seconds.low, last.seconds.high))
            yield f"{side.record.backend}: a newer campaign has {words}; measure both sides again"


def _repeated(found: Sequence[SpeedUp], alone: Sequence[SpeedUp]) -> Iterable[SpeedUp]:
    """Yield the speed-ups, those that another campaign confirms as repeated; `alone` have each campaign's own word."""
    others: dict[str, list[tuple[Record, Estimate]]] = defaultdict(list)
    for item in alone:
        if item.status in SOUND:
            others[item.gpu.record.name].append((item.gpu.record, item.ratio))
    for item in found:
        again = item.status == "standard" and found_again(item.gpu.record, item.ratio, others[item.gpu.record.name])
        yield replace(item, status="repeated") if again else item


def better(found: Iterable[Summary]) -> Summary | None:
    """Return the fastest of these, whole ones before those that lack a round; None if there is none with a time."""
    timed = ((s.status in ("invalid", "incomplete"), s.seconds.value, s) for s in found if s.seconds is not None)
    return min(timed, key=lambda one: one[:2], default=(None, None, None))[2]


def _speedup(cpu: Summary, gpu: Summary, ratio: Estimate, group: Sequence[Summary]) -> SpeedUp:
    reasons = tuple(f"{s.record.backend}: {reason}" for s in (cpu, gpu) for reason in s.reasons)
    status, doubt = worse(cpu.status, gpu.status), _doubt(cpu.record, gpu.record, ratio) or wide(gpu.record, ratio)
    if doubt and status in SOUND:
        status, reasons = "unstable", (*reasons, doubt)
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
    if best is None and any(other.status == "invalid" for other in _others(cpu, group)):
        yield "CPU side not certified: the independent framework's result is invalid"
    elif best is None:
        yield "CPU side not compared with an independent framework in this campaign"
    elif best < CERTIFIED_FROM:
        yield f"CPU side not certified: the best peer takes {best:.2f} of JAX's time"
    if lacking := untimed(peers):
        yield f"CPU side compared without a way that may be faster: {', '.join(map(peer_name, lacking))}"


def _doubt(cpu: Record, gpu: Record, ratio: Estimate) -> str:
    """Return why the ratio's mean is not to be trusted: it lies outside the interval that asks nothing of the noise."""
    mine, theirs = by_round(cpu), by_round(gpu)
    signs = sign_interval([mine[r] / theirs[r] for r in mine.keys() & theirs.keys()])
    if signs is None or signs[0] * (1 - _ROUNDING) <= ratio.value <= signs[1] * (1 + _ROUNDING):
        return ""
    return f"skewed: the ratio lies outside the sign interval, {units.interval(*signs)}; rerun when idle"


def worse(one: Status, other: Status) -> Status:
    """Return the one of two statuses that promises less."""
    return one if get_args(Status).index(one) < get_args(Status).index(other) else other


def doubts(statuses: Iterable[Status]) -> str:
    """Return what a sentence on such results has to add; nothing where all are steady."""
    found = set(statuses)
    if "smoke" in found:
        return " Profile smoke: it only shows that it runs."
    return "" if found <= set(SOUND) else " Not all steady."


def peers_of(mine: Summary, group: Iterable[Summary]) -> tuple[tuple[Summary, Estimate], ...]:
    """Return the other implementations of the same case, each with its time over mine."""
    found = []
    for other in _others(mine, group):
        ratio = paired_ratio(by_round(other.record), by_round(mine.record))
        if ratio is not None and other.status != "invalid":
            found.append((other, ratio))
    return tuple(found)


def untimed(peers: Iterable[tuple[Summary, Estimate]]) -> tuple[Case, ...]:
    """Return the ways that these implementations have on their backend and that are not among them."""
    timed = {(case.implementation, case.variant): case for case in (peer.record.case for peer, _ in peers)}
    each = {case.implementation: case for case in timed.values()}.values()
    return tuple(
        msgspec.structs.replace(case, variant=variant)
        for case in sorted(each, key=lambda case: case.implementation)
        for variant in variants_of(case.implementation, case.backend)
        if (case.implementation, variant) not in timed
    )


def _others(mine: Summary, group: Iterable[Summary]) -> Iterable[Summary]:
    """Yield the results of other implementations of the same case, whatever they are worth."""
    own = mine.record.case
    for other in group:
        theirs = msgspec.structs.replace(
            other.record.case, implementation=own.implementation, variant=own.variant, allocator=own.allocator
        )
        if other.record.case.implementation != own.implementation and theirs == own:
            yield other


def current(found: Iterable[SpeedUp]) -> tuple[SpeedUp, ...]:
    """Return the current speed-up of each machine and case, in order of workload and machine."""
    latest: dict[tuple[str, str], SpeedUp] = {}
    for item in sorted(found, key=lambda s: min(s.cpu.record.precedence, s.gpu.record.precedence)):
        latest[item.gpu.record.place] = item
    return tuple(latest[key] for key in sorted(latest, key=lambda key: (key[1], key[0])))

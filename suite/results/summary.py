"""What one record says: its time with an interval, and the status that its profile and its troubles leave it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, get_args

from suite import units
from suite.results import old_jax, validity
from suite.results.record import STABLE, Record, Run, Telemetry, once
from suite.results.statistics import Estimate, geometric_mean, paired_ratio, trend

Status = Literal["invalid", "incomplete", "unstable", "old JAX", "smoke", "quick", "standard"]

SOUND: tuple[Status, ...] = ("quick", "standard")
COUNTED: tuple[Status, ...] = ("unstable", *SOUND)  # whole, and more than a sign that it runs
WIDEST = {"smoke": None, "quick": 0.10, "standard": 0.05}  # relative half-width
_SPREAD, _TREND, _DOUBLING = 0.05, 0.01, 0.05
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


def citable(record: Record, value: Estimate, status: Status, certified: bool | None) -> bool:
    """Return whether a number may be quoted: of a schema that stays, steady, with an interval, and certified.

    `certified` is None where it need not be.
    """
    return record.schema in STABLE and value.low is not None and status in SOUND and certified is not False


def step_seconds(run: Run, method: int = 1) -> float | None:
    """Return the process's one number, all time of its samples over all their steps; None for a failed run.

    That is what training pays. By method 0 it is the median over the samples, which is a little less on CPUs.
    """
    if run.reason or not run.samples or run.steps_per_sample < 1:
        return None
    centre = fmean if method else median
    return centre(sample.wall_seconds for sample in run.samples) / run.steps_per_sample


def longest(run: Run) -> float:
    """Return the longest sample over the median one; 0 if there is none."""
    walls = [sample.wall_seconds for sample in run.samples]
    return max(walls) / median(walls) if walls and median(walls) > 0 else 0.0


@once
def by_round(record: Record) -> dict[int, float]:
    """Return the number of each round whose process ended well."""
    values = {run.round: step_seconds(run, record.method) for run in record.runs}
    return {number: value for number, value in values.items() if value is not None and value > 0}


def time_ratio(numerator: Summary, denominator: Summary) -> Estimate | None:
    """Return one time over another, paired by round.

    None if the two are of different campaigns, if one makes no sense, or if they share no round that ended well in
    both.
    """
    both = numerator, denominator
    if len({item.record.campaign for item in both}) > 1 or any(item.status == "invalid" for item in both):
        return None
    return paired_ratio(*(by_round(item.record) for item in both))


@once
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
        lost = f"{missing} of {units.counted(record.rounds, 'round')} {'is' if missing == 1 else 'are'} missing"
        words = (record.reason,) if record.reason else failed or (lost,)
        return Summary(record=record, seconds=seconds, status="incomplete", reasons=words)
    slow, unsteady = old_jax.slow(record), tuple(_unsteady(record, values, seconds))
    status, reasons = record.profile, (slow, *unsteady) if slow else unsteady
    if reasons and status != "smoke":
        status = "old JAX" if slow else "unstable"
    return Summary(record=record, seconds=seconds, status=status, reasons=reasons)


def wide(record: Record, value: Estimate | None) -> str:
    """Return why an interval is wider than the record's profile allows; '' if it is not."""
    widest = WIDEST[record.profile]
    width = value.relative_half_width if value else None
    if widest is None or width is None or width <= widest:
        return ""
    return (
        f"wide: the interval's half-width is {width:.1%}, more than the {widest:.0%} that are allowed; "
        "rerun when idle, or with more --rounds"
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
            yield (
                f"spread: processes differ by {spread:.1%}, more than the {_SPREAD:.0%} that are allowed; "
                "rerun when idle"
            )
    if short := [len(run.samples) for run in record.runs if validity.is_short(record.case, run)]:
        yield (
            f"short: {units.counted(min(short), 'sample')} a process instead of {validity.FEWEST_SAMPLES}, since the "
            "budget left no time for more; raise --budget"
        )
    if record.case.scope in ("step", "serve"):
        steady = [run for run in record.runs if run.samples]
        slope = trend([[sample.wall_seconds for sample in run.samples] for run in steady])
        if slope is not None and abs(slope) > _TREND:
            yield f"trend: samples changed by {slope:+.1%} from the first to the last of a process; rerun when idle"
        pauses = [longest(run) for run in steady]
        if pauses and max(pauses) > _PAUSE:
            yield f"paused: one sample took {max(pauses):.1f} times as long as the median; rerun when idle"
        ratios = [run.doubling_ratio for run in steady if run.doubling_ratio is not None]
        if ratios and abs(median(ratios) - 2) > 2 * _DOUBLING:
            yield f"not proportional: twice the steps took {median(ratios):.2f} times as long"
    yield from disturbed(record)


def disturbed(record: Record) -> Iterable[str]:
    """Yield what disturbed the processes, whatever their times say: other load, a throttled GPU, a stopped process."""
    if record.backend == "gpu" and record.software.settings.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0"):
        yield "blocking: the host waited for each kernel, as CUDA_LAUNCH_BLOCKING was set; rerun without it"
    loads = [run.load_by_others for run in record.runs if run.load_by_others is not None]
    if record.backend == "cpu" and loads and median(loads) > _OTHERS_CORES * record.machine.cores:
        yield f"busy: other processes used {median(loads):.1f} cores; rerun when idle"
    yield from _seen_by_telemetry(record, [run.telemetry for run in record.runs if run.telemetry is not None])


def _seen_by_telemetry(record: Record, watched: Sequence[Telemetry]) -> Iterable[str]:
    """Yield what the telemetry holds against a result: that of the GPUs it used, and of the host."""
    used = [gpu for seen in watched for gpu in seen.gpus[: record.case.devices]] if record.backend == "gpu" else []
    if causes := sorted({word for gpu in used for word in gpu.reasons or ()} & THROTTLING):
        yield f"throttled: the GPU lowered its clocks ({', '.join(causes)}); cool or power it better"
    if others := max((gpu.other_processes or 0 for gpu in used), default=0):
        yield f"shared: {units.counted(others, 'other process', 'other processes')} used the GPU; end what else uses it"
    steals = [seen.steal for seen in watched if seen.steal is not None]
    if steals and median(steals) > _STEAL:
        yield f"stolen: other virtual machines had {median(steals):.0%} of the CPU time; take a machine of your own"
    if periods := sum(seen.throttled_periods or 0 for seen in watched):
        stopped = units.counted(periods, "period")
        yield f"held back: the control group stopped the process in {stopped}; lift its quota or pin to it"


def better(found: Iterable[Summary]) -> Summary | None:
    """Return the fastest of these, whole ones before those that lack a round; None if there is none with a time."""
    timed = ((s.status in ("invalid", "incomplete"), s.seconds.value, s) for s in found if s.seconds is not None)
    return min(timed, key=lambda one: one[:2], default=(None, None, None))[2]


def worse(one: Status, other: Status) -> Status:
    """Return the one of two statuses that promises less."""
    return one if get_args(Status).index(one) < get_args(Status).index(other) else other


def doubts(statuses: Iterable[Status]) -> str:
    """Return what a sentence on such results has to add; nothing where all are steady."""
    every = tuple(statuses)
    found = set(every)
    if "smoke" in found:
        return " Profile smoke: it only shows that it runs."
    if "old JAX" in found:
        return " Of an old JAX that is slow on a CPU."
    if found <= set(SOUND):
        return ""
    if found & set(SOUND):
        return " Not all steady."
    return " Not steady." if len(every) == 1 else " None is steady."

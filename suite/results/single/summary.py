"""The summary of one record: one host's time with its interval, and its caveats."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from suite import units
from suite.results.records.identity import identity
from suite.results.records.record import Record, once
from suite.results.records.run import Run, Telemetry
from suite.results.single import old_jax, validity
from suite.results.stats.state import MAX_HALF_WIDTH, State, too_wide
from suite.results.stats.statistics import Estimate, geometric_mean, paired_ratio, trend
from suite.scopes import SCOPES

SMOKE = "it only shows that it runs"
_SPREAD, _TREND, _DOUBLING = 0.05, 0.01, 0.05
_PAUSE = 3.0  # longest sample over the median: the process was stopped or the machine suspended
_OTHERS_CORES = 0.1  # of each granted core, busy with other processes
_STEAL = 0.02  # of the machine's CPU time, taken by other virtual machines
# A power cap is no throttling: it is a limit of the product, reached in every run, and shown with the telemetry.
THROTTLING = frozenset({"hardware slowdown", "thermal slowdown", "hardware thermal slowdown", "power brake"})


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One record in numbers; `seconds` is per step, or of the whole cold start or run."""

    record: Record
    seconds: Estimate | None
    state: State  # open or invalid; one host is never quotable
    lacking: bool  # whether a round is missing
    reasons: tuple[str, ...]  # caveats

    @property
    def complete(self) -> bool:
        """Whether it has a time, is valid and lacks no round."""
        return self.seconds is not None and self.state != "invalid" and not self.lacking

    @property
    def usable(self) -> bool:
        """Whether verdicts may use it: complete, no smoke, and no JAX that is slow on CPUs."""
        return self.complete and self.record.profile != "smoke" and not old_jax.slow(self.record)

    @property
    def steady(self) -> bool:
        """Whether it is complete and has no caveat."""
        return self.complete and not self.reasons

    @property
    def examples_per_second(self) -> float | None:
        """Throughput in steady state; None if starting counts, or without a time."""
        if self.seconds is None or not SCOPES[self.record.case.scope].streamed:
            return None
        return self.record.case.batch / self.seconds.value

    @property
    def examples_per_second_estimate(self) -> Estimate | None:
        """Throughput in steady state with its interval; None if its scope has no floor, or without a time."""
        if self.seconds is None or not SCOPES[self.record.case.scope].bounded or self.record.case.batch < 1:
            return None
        return self.seconds.per(self.record.case.batch)

    @property
    def flop_per_second(self) -> float | None:
        """Analytic FLOP/s in steady state; None if nothing is computed or counted."""
        rate, flop = self.examples_per_second, self.record.description.flop_per_example
        return rate * flop if rate is not None and flop and SCOPES[self.record.case.scope].computes else None


def step_seconds(run: Run, method: int = 1) -> float | None:
    """Return the process's value: seconds of its samples over their steps; None for a failed run.

    It is the mean, which training pays. Method 0 takes the median over samples, slightly less on CPUs.
    """
    if run.reason or not run.samples or run.steps_per_sample < 1:
        return None
    centre = fmean if method else median
    return centre(sample.wall_seconds for sample in run.samples) / run.steps_per_sample


def longest(run: Run) -> float:
    """Return the longest sample over the median; 0 without samples."""
    walls = [sample.wall_seconds for sample in run.samples]
    return max(walls) / median(walls) if walls and median(walls) > 0 else 0.0


@once
def seconds_by_round(record: Record) -> dict[int, float]:
    """Return the seconds of each round whose process succeeded."""
    values = {run.round: step_seconds(run, record.method) for run in record.runs}
    return {number: value for number, value in values.items() if value is not None and value > 0}


def time_ratio(numerator: Summary, denominator: Summary) -> Estimate | None:
    """Return one time over another, paired by round.

    None if they are of different campaigns, if one is invalid, or if they share no successful round.
    """
    both = numerator, denominator
    if len({item.record.campaign for item in both}) > 1 or any(item.state == "invalid" for item in both):
        return None
    return paired_ratio(*(seconds_by_round(item.record) for item in both))


@once
def summary(record: Record) -> Summary:
    """Return the record's time, state and caveats."""
    values = seconds_by_round(record)
    seconds = geometric_mean(list(values.values())) if values else None
    invalid, missing = tuple(validity.invalid(record)), record.rounds - len(values)
    lacking = missing > 0 or bool(record.reason)
    if invalid:
        reasons = invalid
    elif lacking:
        failed = tuple(dict.fromkeys(run.reason for run in record.runs if run.reason))
        lost = f"{missing} of {units.pluralize(record.rounds, 'round')} {'is' if missing == 1 else 'are'} missing"
        reasons = (record.reason,) if record.reason else failed or (lost,)
    else:
        reasons = tuple(_against(record, values, seconds))
    state: State = "invalid" if invalid else "open"
    return Summary(record=record, seconds=seconds, state=state, lacking=lacking, reasons=reasons)


def _against(record: Record, values: dict[int, float], seconds: Estimate | None) -> Iterable[str]:
    """Yield the caveats of a complete and valid time, each with its remedy after a semicolon."""
    if record.profile == "smoke":
        yield SMOKE
    if slow := old_jax.slow(record):
        yield slow
    if record.method and SCOPES[record.case.scope].computes and not identity(record).program:
        yield "its program has no digest, so it pools with no other campaign"
    if words := too_wide(seconds):
        yield f"{words}; more than {100 * MAX_HALF_WIDTH:g} % is wide, rerun when idle or with more --rounds"
    if len(values) > 1:
        middle = median(values.values())
        spread = median(abs(value - middle) for value in values.values()) / middle
        if spread > _SPREAD:
            yield f"processes differ by {100 * spread:.2g} %; rerun when idle"
    if short := [len(run.samples) for run in record.runs if validity.is_short(record.case, run)]:
        yield (
            f"{units.pluralize(min(short), 'sample')} a process instead of {validity.FEWEST_SAMPLES}, since the budget "
            "left no time for more; raise --budget"
        )
    if SCOPES[record.case.scope].bounded:
        steady = [run for run in record.runs if run.samples]
        slope = trend([[sample.wall_seconds for sample in run.samples] for run in steady])
        if slope is not None and abs(slope) > _TREND:
            yield f"samples changed by {100 * slope:+.2g} % from the first to the last of a process; rerun when idle"
        pauses = [longest(run) for run in steady]
        if pauses and max(pauses) > _PAUSE:
            yield f"one sample took {max(pauses):.1f} times as long as the median; rerun when idle"
        ratios = [run.doubling_ratio for run in steady if run.doubling_ratio is not None]
        if ratios and abs(median(ratios) - 2) > 2 * _DOUBLING:
            yield f"twice the steps took {median(ratios):.2f} times as long"
    yield from disturbed(record)


def disturbed(record: Record) -> Iterable[str]:
    """Yield what disturbed the processes, whatever their times: other load, a throttled GPU, a stopped process."""
    if record.backend == "gpu" and record.software.settings.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0"):
        yield "the host waited for each kernel, as CUDA_LAUNCH_BLOCKING was set; rerun without it"
    loads = [run.other_load_cores for run in record.runs if run.other_load_cores is not None]
    if record.backend == "cpu" and loads and median(loads) > _OTHERS_CORES * record.machine.cores:
        yield f"other processes used {median(loads):.1f} cores; rerun when idle"
    yield from _seen_by_telemetry(record, [run.telemetry for run in record.runs if run.telemetry is not None])


def _seen_by_telemetry(record: Record, windows: Sequence[Telemetry]) -> Iterable[str]:
    """Yield the caveats from telemetry, of the GPUs in use and of the host."""
    used = [gpu for seen in windows for gpu in seen.gpus[: record.case.devices]] if record.backend == "gpu" else []
    if causes := sorted({word for gpu in used for word in gpu.reasons or ()} & THROTTLING):
        yield f"the GPU lowered its clocks ({', '.join(causes)}); cool or power it better"
    if others := max((gpu.other_processes or 0 for gpu in used), default=0):
        yield f"{units.pluralize(others, 'other process', 'other processes')} used the GPU; end what else uses it"
    steals = [seen.steal for seen in windows if seen.steal is not None]
    if steals and median(steals) > _STEAL:
        yield f"other virtual machines had {100 * median(steals):.2g} % of the CPU time; take a machine of your own"
    if periods := sum(seen.throttled_periods or 0 for seen in windows):
        stopped = units.pluralize(periods, "period")
        yield f"the control group stopped the process in {stopped}; lift its quota or pin to it"


def fastest(summaries: Iterable[Summary]) -> Summary | None:
    """Return the fastest summary, complete ones first; None if none has a time."""
    timed = ((not s.complete, s.seconds.value, s) for s in summaries if s.seconds is not None)
    return min(timed, key=lambda one: one[:2], default=(None, None, None))[2]


def against(items: Iterable[Summary]) -> str:
    """Return a sentence on the caveats of results; '' if there are none."""
    every = tuple(items)
    doubted = sum(bool(item.reasons) for item in every)
    if not doubted:
        return ""
    if shared := [plain(reason) for reason in every[0].reasons if all(reason in item.reasons for item in every)]:
        return f" Caution: {'; '.join(shared)}."
    return f" Caution: the table has reasons against {units.count(doubted)} of {units.pluralize(len(every), 'time')}."


def plain(reason: str) -> str:
    """Return a reason without its remedy."""
    return reason.partition(";")[0]

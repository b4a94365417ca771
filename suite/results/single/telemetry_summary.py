"""Summaries of the telemetry of a record's processes."""

from collections.abc import Callable
from statistics import median

from msgspec.structs import replace

from suite.results.records.record import Record
from suite.results.records.run import Energy, GpuTelemetry, Level, Moment, Run, Telemetry
from suite.workload import Plain

AVERAGED_SECONDS = 1.0  # longest window over which drivers average utilisation and power
_TRAINING = ("epoch", "validation")  # last stages of a documented run


def telemetry_mean(record: Record, level: Callable[[Telemetry], Level | None]) -> float | None:
    """Return the median over processes of a telemetry mean during the samples; None if unavailable.

    A window shorter than its training is skipped: early ones of a search covered only the last network.
    """
    seen = [(run, run.telemetry) for run in record.runs if not run.reason and run.telemetry is not None]
    complete = [telemetry for run, telemetry in seen if telemetry.seconds >= training_seconds(run)]
    means = [mean_and_max.mean for telemetry in complete if (mean_and_max := level(telemetry)) is not None]
    return median(means) if means else None


def gpu_telemetry_mean(record: Record, level: Callable[[GpuTelemetry], Level | None]) -> float | None:
    """Return `telemetry_mean` of the first GPU of a record; None on the CPU."""
    if record.backend != "gpu":
        return None
    return telemetry_mean(record, lambda seen: level(seen.gpus[0]) if seen.gpus else None)


def gpu_share(record: Record) -> float | None:
    """Return the share of time, 0 to 1, in which a kernel ran on the record's GPU; None if unknown.

    It is taken from the window of energy counters, else from samples that lasted long enough.
    """
    windows = [run.energy.gpu_utilisation for run in record.runs if not run.reason and run.energy is not None]
    known = [share for share in windows if share is not None]
    return median(known) if known else gpu_telemetry_mean(averaged(record), lambda gpu: gpu.utilisation)


def long_enough(seen: Telemetry) -> bool:
    """Return whether at most half of a driver's average can predate the window."""
    return seen.seconds >= 2 * AVERAGED_SECONDS


def averaged(record: Record) -> Record:
    """Return a record without the telemetry of windows that are too short for the drivers' averages."""
    runs = (
        replace(run, telemetry=None) if run.telemetry is not None and not long_enough(run.telemetry) else run
        for run in record.runs
    )
    return replace(record, runs=tuple(runs))


def training_seconds(run: Run) -> float:
    """Return the seconds that a whole run trained and validated; 0 without epochs."""
    return sum(stage.wall_seconds for stage in run.stages if stage.name in _TRAINING)


def while_training(run: Run, of: Callable[[Moment], float | None], settled: float = 0.0) -> float | None:
    """Return the time-weighted mean of a value while a whole run trained, without building and compiling.

    Parts of the window count from `settled` seconds after the start of training. None without telemetry, or if the
    training was too short.
    """
    seen, lasted = run.telemetry, training_seconds(run)
    if seen is None or not lasted:
        return None
    begins = (0.0, *(moment.seconds for moment in seen.course))
    inside = [
        (value, moment.seconds - begin)
        for moment, begin in zip(seen.course, begins, strict=False)
        if begin >= seen.seconds - lasted + settled and (value := of(moment)) is not None
    ]
    total = sum(seconds for _, seconds in inside)
    return sum(value * seconds for value, seconds in inside) / total if total else None


class Use(Plain, frozen=True, kw_only=True):
    """One counter's result for a case: mean power during sustained load, and idle power before the campaign."""

    watts: float
    idle_watts: float | None
    joules_per_example: float  # idle power included


def energy_window(record: Record) -> Energy | None:
    """Return the record's energy window; None if energy was not counted."""
    return next((run.energy for run in record.runs if run.energy is not None), None)


def gpu_use(record: Record) -> Use | None:
    """Return the energy use of the case's GPUs; None without counters."""
    window = energy_window(record)
    return window and _use(record, window, window.gpu_joules, window.gpu_idle_watts)


def package_use(record: Record) -> Use | None:
    """Return the energy use of the CPU packages, all processes; None without counters."""
    window = energy_window(record)
    return window and _use(record, window, window.package_joules, window.package_idle_watts)


def _use(record: Record, window: Energy, joules: float | None, idle: float | None) -> Use | None:
    if joules is None or window.step_seconds is None or window.seconds <= 0 or record.case.batch < 1:
        return None
    watts = joules / window.seconds
    return Use(watts=watts, idle_watts=idle, joules_per_example=watts * window.step_seconds / record.case.batch)

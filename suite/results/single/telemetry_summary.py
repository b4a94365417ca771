"""What the telemetry of a record's processes comes to, as one number."""

from collections.abc import Callable
from statistics import median

from msgspec.structs import replace

from suite.results.records.record import Record
from suite.results.records.run import Energy, GpuTelemetry, Level, Moment, Run, Telemetry
from suite.workload import Plain

AVERAGED_SECONDS = 1.0  # over which drivers average utilisation and power, at most
_TRAINING = ("epoch", "validation")  # the stages that a documented run ends with


def telemetry_mean(record: Record, level: Callable[[Telemetry], Level | None]) -> float | None:
    """Return the median over processes of a telemetry mean during the samples; None if nothing answers.

    A window shorter than the training that it is of says nothing: early ones of a search were of its last network.
    """
    seen = [(run, run.telemetry) for run in record.runs if not run.reason and run.telemetry is not None]
    whole = [telemetry for run, telemetry in seen if telemetry.seconds >= training_seconds(run)]
    means = [found.mean for telemetry in whole if (found := level(telemetry)) is not None]
    return median(means) if means else None


def gpu_telemetry_mean(record: Record, level: Callable[[GpuTelemetry], Level | None]) -> float | None:
    """Return the same of the GPU that a record is of; None for one of the CPU."""
    if record.backend != "gpu":
        return None
    return telemetry_mean(record, lambda seen: level(seen.gpus[0]) if seen.gpus else None)


def gpu_share(record: Record) -> float | None:
    """Return in which share of the time a kernel ran on the GPU that a record is of; None where nobody can say.

    That is known of the step that went on for its energy to be counted, else of samples that lasted long enough.
    """
    went_on = [run.energy.gpu_utilisation for run in record.runs if not run.reason and run.energy is not None]
    known = [share for share in went_on if share is not None]
    return median(known) if known else gpu_telemetry_mean(averaged(record), lambda gpu: gpu.utilisation)


def long_enough(seen: Telemetry) -> bool:
    """Return whether no more than half of what drivers average can be of the time before a window."""
    return seen.seconds >= 2 * AVERAGED_SECONDS


def averaged(record: Record) -> Record:
    """Return a record with the telemetry alone of windows that are long enough for what drivers average."""

    def kept(run: Run) -> Run:
        seen = run.telemetry
        return run if seen is None or long_enough(seen) else replace(run, telemetry=None)

    return replace(record, runs=tuple(kept(run) for run in record.runs))


def training_seconds(run: Run) -> float:
    """Return how long a whole run trained and validated; 0 for what has no epochs."""
    return sum(stage.wall_seconds for stage in run.stages if stage.name in _TRAINING)


def while_training(run: Run, of: Callable[[Moment], float | None], settled: float = 0.0) -> float | None:
    """Return the mean of what was watched while a whole run trained, so without what it built and compiled.

    Of the window's stretches those count that begin `settled` seconds after the training did, or later. None where
    there is none: the training was too short, or nobody watched.
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
    whole = sum(seconds for _, seconds in inside)
    return sum(value * seconds for value, seconds in inside) / whole if whole else None


class Use(Plain, frozen=True, kw_only=True):
    """What one counter says of a case: mean power while the step went on, beside the power before the campaign."""

    watts: float
    idle_watts: float | None
    joules_per_example: float  # idle power included


def energy_window(record: Record) -> Energy | None:
    """Return the window in which the record's energy was counted; None if it never was."""
    return next((run.energy for run in record.runs if run.energy is not None), None)


def gpu_use(record: Record) -> Use | None:
    """Return what the GPUs of the case used; None without their counters."""
    window = energy_window(record)
    return window and _use(record, window, window.gpu_joules, window.gpu_idle_watts)


def package_use(record: Record) -> Use | None:
    """Return what the CPU packages used, whoever kept them busy; None without their counters."""
    window = energy_window(record)
    return window and _use(record, window, window.package_joules, window.package_idle_watts)


def _use(record: Record, window: Energy, joules: float | None, idle: float | None) -> Use | None:
    if joules is None or window.step_seconds is None or window.seconds <= 0 or record.case.batch < 1:
        return None
    watts = joules / window.seconds
    return Use(watts=watts, idle_watts=idle, joules_per_example=watts * window.step_seconds / record.case.batch)

"""What the telemetry of a record's processes comes to, as one number."""

from collections.abc import Callable
from statistics import median

from msgspec.structs import replace

from suite.results.record import GpuTelemetry, Level, Record, Run, Telemetry

AVERAGED_SECONDS = 1.0  # over which drivers average utilisation and power, at most


def watched(record: Record, level: Callable[[Telemetry], Level | None]) -> float | None:
    """Return the middle process's mean of what was watched during its samples; None where nothing answers."""
    seen = [run.telemetry for run in record.runs if not run.reason and run.telemetry is not None]
    means = [found.mean for telemetry in seen if (found := level(telemetry)) is not None]
    return median(means) if means else None


def on_gpu(record: Record, level: Callable[[GpuTelemetry], Level | None]) -> float | None:
    """Return the same of the GPU that a record is of; None for one of the CPU."""
    if record.backend != "gpu":
        return None
    return watched(record, lambda seen: level(seen.gpus[0]) if seen.gpus else None)


def gpu_share(record: Record) -> float | None:
    """Return in which share of the time a kernel ran on the GPU that a record is of; None where nobody can say.

    That is known of the step that went on for its energy to be counted, else of samples that lasted long enough.
    """
    went_on = [run.energy.gpu_utilisation for run in record.runs if not run.reason and run.energy is not None]
    known = [share for share in went_on if share is not None]
    return median(known) if known else on_gpu(averaged(record), lambda gpu: gpu.utilisation)


def long_enough(seen: Telemetry) -> bool:
    """Return whether no more than half of what drivers average can be of the time before a window."""
    return seen.seconds >= 2 * AVERAGED_SECONDS


def averaged(record: Record) -> Record:
    """Return a record with the telemetry alone of windows that are long enough for what drivers average."""

    def kept(run: Run) -> Run:
        seen = run.telemetry
        return run if seen is None or long_enough(seen) else replace(run, telemetry=None)

    return replace(record, runs=tuple(kept(run) for run in record.runs))

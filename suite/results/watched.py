"""What the telemetry of a record's processes comes to, as one number."""

from collections.abc import Callable
from statistics import median

from suite.results.record import GpuTelemetry, Level, Record, Telemetry


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

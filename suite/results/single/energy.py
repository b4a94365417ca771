"""Energy of a record from hardware counters; never estimated."""

from suite.results.records.record import Record
from suite.results.records.run import Energy
from suite.workload import Plain


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

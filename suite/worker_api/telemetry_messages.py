"""The messages of the telemetry child, one line of JSON each, and the summary of a window.

Each reading carries the monotonic clock, which all processes share: a delay on the way to the parent moves nothing. The
parent stamps both ends of a window, so the worker cannot shift them.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from suite.results.records.run import Energy, GpuTelemetry, Level, Moment, Telemetry
from suite.results.single.telemetry_summary import AVERAGED_SECONDS
from suite.system.nvml import GpuReading
from suite.workload import Plain

LEAST_ENERGY_SECONDS = 10.0
_MOMENTS, _DIGITS = 40, 4  # moments of a window's course; digits of each value


class Counters(Plain, frozen=True, kw_only=True, tag="counters"):
    """The child's first message: which counters this machine has."""

    gpus: tuple[str, ...] = ()  # those that CUDA may use
    in_cuda_order: bool = True  # the first one is CUDA's first
    gpu_energy: bool = False  # every GPU counts its energy
    package_energy: bool = False  # the CPU packages count theirs
    steal: bool = False
    throttling: bool = False  # the control group counts its throttled periods
    gpu_fields: tuple[str, ...] = ()  # that the first GPU's driver supports


class TelemetrySample(Plain, frozen=True, kw_only=True, tag="sample"):
    """The machine at one moment; CPU times are counters in seconds over the granted cores."""

    at: float  # monotonic clock
    capacity_seconds: float  # elapsed on the granted cores, idle ones included
    busy_seconds: float
    own_seconds: float  # by the telemetry itself
    worker_seconds: float | None = None  # of the worker and its children; None before it starts
    steal_seconds: float | None = None  # while another virtual machine had the core
    throttled_periods: int | None = None
    package_joules: float | None = None
    gpus: tuple[GpuReading, ...] = ()


def within(readings: Iterable[TelemetrySample], begin: float, end: float) -> tuple[TelemetrySample, ...]:
    """Return the readings of a window, both ends included, by time."""
    return tuple(sorted((r for r in readings if begin <= r.at <= end), key=lambda r: r.at))


def telemetry(inside: Sequence[TelemetrySample], seconds: float, reason: str = "") -> Telemetry:
    """Return the summary of a window's readings; a counter needs two of them."""
    if not inside:
        return Telemetry(seconds=seconds, readings=0, reason=reason)
    first, last = inside[0], inside[-1]
    passed, capacity = last.at - first.at, last.capacity_seconds - first.capacity_seconds
    shares = [(b.busy_seconds - a.busy_seconds) / whole for a, b in pairwise(inside)
              if (whole := b.capacity_seconds - a.capacity_seconds) > 0]  # fmt: skip
    busy = last.busy_seconds - first.busy_seconds
    own = last.own_seconds - first.own_seconds
    worker = counted(r.worker_seconds for r in inside)
    steal = counted(r.steal_seconds for r in inside)
    throttled = counted(r.throttled_periods for r in inside)
    return Telemetry(
        seconds=seconds,
        readings=len(inside),
        reason=reason,
        cpu_utilisation=Level(mean=_share(busy / capacity), max=_share(max(shares))) if capacity > 0 else None,
        others_cores=max(0.0, (busy - worker - own) / passed) if passed > 0 and worker is not None else None,
        own_cores=own / passed if passed > 0 else None,
        steal=_share(steal / capacity) if capacity > 0 and steal is not None else None,
        throttled_periods=None if throttled is None else int(throttled),
        gpus=tuple(_gpu(inside, index) for index in range(len(last.gpus))),
        course=course(inside),
    )


def course(inside: Sequence[TelemetrySample]) -> tuple[Moment, ...]:
    """Return a window as stretches of equally many readings; each stretch ends where the next begins."""
    size = max(1, math.ceil((len(inside) - 1) / _MOMENTS))
    stretches = (inside[start : start + size + 1] for start in range(0, len(inside) - 1, size))
    return tuple(_moment(stretch, inside[0].at) for stretch in stretches)


def _moment(stretch: Sequence[TelemetrySample], start: float) -> Moment:
    first, last, gpus = stretch[0], stretch[-1], [r.gpus[0] for r in stretch[1:] if r.gpus]
    capacity = last.capacity_seconds - first.capacity_seconds
    busy = _share((last.busy_seconds - first.busy_seconds) / capacity) if capacity > 0 else None
    return Moment(
        seconds=round(last.at - start, _DIGITS),
        cpu_utilisation=_short(busy),
        gpu_utilisation=_short(_mean(gpu.utilisation for gpu in gpus)),
        gpu_watts=_short(_mean(gpu.power_watts for gpu in gpus)),
        gpu_clock_mhz=_short(_mean(gpu.sm_clock_mhz for gpu in gpus)),
        gpu_celsius=_short(_mean(gpu.temperature_celsius for gpu in gpus)),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    level = _level(values)
    return None if level is None else level.mean


def _short(value: float | None) -> float | None:
    """Return the value with the digits that a chart shows: a record holds forty values of each quantity."""
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def counted(values: Iterable[float | None]) -> float | None:
    """Return a counter's growth; None if a reading lacks it, there is only one, or it went backwards."""
    seen = list(values)
    known = [value for value in seen if value is not None]
    if len(known) < 2 or len(known) < len(seen) or any(b < a for a, b in pairwise(known)):
        return None
    return known[-1] - known[0]


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _gpu(inside: Sequence[TelemetrySample], index: int) -> GpuTelemetry:
    seen, averaged = ([r.gpus[index] for r in some if index < len(r.gpus)] for some in (inside, _settled(inside)))
    reasons = [gpu.reasons for gpu in seen if gpu.reasons is not None]
    return GpuTelemetry(
        utilisation=_level(gpu.utilisation for gpu in averaged),
        power_watts=_level(gpu.power_watts for gpu in averaged),
        sm_clock_mhz=_level(gpu.sm_clock_mhz for gpu in seen),
        memory_clock_mhz=_level(gpu.memory_clock_mhz for gpu in seen),
        temperature_celsius=_level(gpu.temperature_celsius for gpu in seen),
        memory_bytes=_level(gpu.memory_bytes for gpu in seen),
        reasons=tuple(sorted({word for words in reasons for word in words})) if reasons else None,
        other_processes=max((gpu.other_processes for gpu in seen if gpu.other_processes is not None), default=None),
    )


def _settled(inside: Sequence[TelemetrySample]) -> tuple[TelemetrySample, ...]:
    """Return the readings whose averages cover this window alone."""
    return tuple(reading for reading in inside if reading.at >= inside[0].at + AVERAGED_SECONDS)


def _level(values: Iterable[float | None]) -> Level | None:
    known = [value for value in values if value is not None]
    return Level(mean=sum(known) / len(known), max=max(known)) if known else None


def energy(
    inside: Sequence[TelemetrySample],
    devices: int,
    step_seconds: float | None,
    idle: Sequence[TelemetrySample] = (),
    reason: str = "",
) -> Energy:
    """Return the energy over a window, of the first `devices` GPUs and of the CPU packages, in joules.

    A window of less than 10 s gives none: drivers count in steps of up to 0.1 s.
    """
    seconds = inside[-1].at - inside[0].at if inside else 0.0
    if seconds < LEAST_ENERGY_SECONDS:
        short = f"readings span {seconds:.1f} s, energy needs {LEAST_ENERGY_SECONDS:.0f} s"
        return Energy(seconds=seconds, reason=reason or short)
    still = idle[-1].at - idle[0].at if idle else 0.0
    gpu, package = _joules(inside, devices)
    gpu_idle, package_idle = _joules(idle, devices) if still >= LEAST_ENERGY_SECONDS else (None, None)
    return Energy(
        seconds=seconds,
        step_seconds=step_seconds,
        gpu_joules=gpu,
        gpu_utilisation=_mean(r.gpus[0].utilisation for r in _settled(inside) if r.gpus) if devices else None,
        package_joules=package,
        gpu_idle_watts=None if gpu_idle is None else gpu_idle / still,
        package_idle_watts=None if package_idle is None else package_idle / still,
        reason=reason or ("" if (gpu, package) != (None, None) else "the counters stopped or went backwards"),
    )


def _joules(inside: Sequence[TelemetrySample], devices: int) -> tuple[float | None, float | None]:
    gpus = [[r.gpus[index].energy_joules if index < len(r.gpus) else None for r in inside] for index in range(devices)]
    each = list(map(counted, gpus))
    known = [joules for joules in each if joules is not None]
    return sum(known) if known and len(known) == len(each) else None, counted(r.package_joules for r in inside)

"""What NVIDIA's driver says of the GPUs that CUDA may use: what they are, and how they are at a moment."""

import os
from collections.abc import Callable, Collection
from typing import Any

from suite.measure.readings import GpuReading
from suite.results.record import Gpu

# Bits of the clock event reasons. Source: NVIDIA, NVML API reference, NvmlClocksEventReasons.
REASONS = {
    0x1: "idle",
    0x2: "clocks set by an application",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
    0x100: "display clocks",
}


def chosen(every: list[Any], uuid: Callable[[Any], str], wanted: str | None) -> list[Any]:
    """Return of the driver's GPUs those that CUDA may use; `wanted` is the value of CUDA_VISIBLE_DEVICES."""
    if not wanted:
        return every if wanted is None else []
    found = []
    for word in (word.strip() for word in wanted.split(",")):
        named = [gpu for gpu in every if uuid(gpu).startswith(word)] if word.startswith("GPU-") else []
        if word.isdecimal() and int(word) < len(every):
            named = [every[int(word)]]
        if len(named) != 1:
            break  # as CUDA does, which also stops at the first word that names nothing
        found += named
    return found


class Gpus:
    """The GPUs that CUDA may use here; none where no driver answers."""

    def __init__(self, nvml: Any = None, visible: str | None = None) -> None:
        """Open the driver; `nvml` is the module to ask, `visible` the value of CUDA_VISIBLE_DEVICES."""
        import pynvml  # here, as other implementations' interpreters may lack it

        self._nvml = nvml or pynvml
        self._handles: list[Any] = []
        self._strangers: list[frozenset[int]] = []
        self.names: tuple[str, ...] = ()
        self.uuids: tuple[str, ...] = ()
        self.in_cuda_order = True
        self.in_driver = 0  # how many the driver shows, whether CUDA may use them or not
        self.problem = ""  # why a driver that is there shows none
        try:
            self._nvml.nvmlInit()
            every = [self._nvml.nvmlDeviceGetHandleByIndex(i) for i in range(self._nvml.nvmlDeviceGetCount())]
        except Exception as error:  # no driver, no permission, a driver that does not match: no GPU to watch
            absent = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
            self.problem = "" if getattr(error, "value", None) in absent else str(error)
            return
        self.in_driver = len(every)
        wanted = os.environ.get("CUDA_VISIBLE_DEVICES") if visible is None else visible
        self._handles = chosen(every, self._uuid, wanted)
        self.names = tuple(self._name(handle) for handle in self._handles)
        self.uuids = tuple(self._uuid(handle) for handle in self._handles)
        # CUDA puts the fastest first, the driver goes by bus; among equals both count alike.
        by_bus = os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
        self.in_cuda_order = by_bus or len({self._name(handle) for handle in every}) <= 1
        self._strangers = [frozenset()] * len(self._handles)

    def _uuid(self, handle: Any) -> str:
        return _words(self._asked(self._nvml.nvmlDeviceGetUUID, handle))

    def _name(self, handle: Any) -> str:
        return _words(self._asked(self._nvml.nvmlDeviceGetName, handle)) or "unknown"

    def _asked(self, question: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return question(*arguments)
        except Exception:  # NVMLError of any kind, or what a driver's answer did not decode to
            return None

    def described(self) -> tuple[Gpu, ...]:
        """Return what each GPU is, as far as the driver tells; some of them and virtual machines answer only part."""
        return tuple(map(self._described, self._handles))

    def _described(self, handle: Any) -> Gpu:
        nvml, asked = self._nvml, self._asked
        major, minor = asked(lambda: nvml.nvmlDeviceGetCudaComputeCapability(handle)) or (0, 0)
        cuda = asked(lambda: nvml.nvmlSystemGetCudaDriverVersion_v2())
        power = asked(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle))
        return Gpu(
            name=self._name(handle),
            memory_bytes=asked(lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total) or 0,
            compute_capability=f"{major}.{minor}",
            driver=_words(asked(lambda: nvml.nvmlSystemGetDriverVersion())) or "unknown",
            cuda="unknown" if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}",
            graphics_clock_limit_mhz=asked(lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_GRAPHICS)),
            memory_clock_limit_mhz=asked(lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_MEM)),
            power_limit_watts=None if power is None else power / 1000,
        )

    def begin(self) -> None:
        """Take whoever is on the GPUs now for others: our worker has only just been started."""
        self._strangers = [frozenset(self._pids(handle) or ()) for handle in self._handles]

    def readings(self, ours: Collection[int] = ()) -> tuple[GpuReading, ...]:
        """Return a reading of each GPU; `ours` are the worker's processes."""
        return tuple(self._reading(index, ours) for index in range(len(self._handles)))

    def _reading(self, index: int, ours: Collection[int]) -> GpuReading:
        nvml, handle = self._nvml, self._handles[index]
        rates = self._asked(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        power = self._asked(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        energy = self._asked(lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle))
        memory = self._asked(lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used)
        return GpuReading(
            utilisation=_scaled(rates, 100),
            power_watts=_scaled(power, 1000),
            energy_joules=_scaled(energy, 1000),
            sm_clock_mhz=_scaled(self._asked(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))),
            memory_clock_mhz=_scaled(self._asked(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM))),
            reasons=self._reasons(handle),
            temperature_celsius=_scaled(
                self._asked(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
            ),
            memory_bytes=None if _scaled(memory) is None else int(memory),
            other_processes=self._others(index, ours),
        )

    def _reasons(self, handle: Any) -> tuple[str, ...] | None:
        nvml = self._nvml
        bits = self._asked(lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
        if bits is None:  # drivers before 535 have the question under its old name only
            bits = self._asked(lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))
        if not isinstance(bits, int) or bits < 0:
            return None
        return tuple(word for bit, word in REASONS.items() if bits & bit)

    def _others(self, index: int, ours: Collection[int]) -> int | None:
        """Return how many processes compute on the GPU beside ours.

        Inside a container the driver may name ours by a number that is not its own here: then the first newcomer
        since the worker was started is taken for it. Where a driver shows nobody, not even ours, nothing is known.
        """
        there = self._pids(self._handles[index])
        if there is None or (ours and not there):
            return None
        if there & set(ours):
            return len(there - set(ours))
        before = there & self._strangers[index]
        return len(before) + max(0, len(there - before) - 1)

    def _pids(self, handle: Any) -> frozenset[int] | None:
        nvml = self._nvml
        return self._asked(lambda: frozenset(p.pid for p in nvml.nvmlDeviceGetComputeRunningProcesses(handle)))


def _scaled(value: Any, over: float = 1.0) -> float | None:
    """Return a driver's number in our unit; None for no number, or one that stands for 'not available'."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**63:
        return None
    return value / over


def _words(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")

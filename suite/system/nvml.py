"""The GPUs that CUDA may use, from NVIDIA's driver: descriptions and readings."""

import math
import os
import re
from collections.abc import Callable, Collection
from typing import Any

from suite.results.records.machine import Gpu
from suite.system.visible import Card, Device, Slice, visible
from suite.workload import Plain

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


class GpuReading(Plain, frozen=True, kw_only=True):
    """A reading of one GPU; None if the driver, the virtual machine or the system does not answer."""

    utilisation: float | None = None  # share of the driver's last sampling period in which a kernel ran
    power_watts: float | None = None
    energy_joules: float | None = None  # since the driver was loaded
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    reasons: tuple[str, ...] | None = None  # why its clocks are below their limit
    temperature_celsius: float | None = None
    memory_bytes: int | None = None  # in use, by everybody
    other_processes: int | None = None


class Gpus:
    """The GPUs that CUDA may use here; none without a driver."""

    def __init__(self, nvml: Any = None, wanted: str | None = None) -> None:
        """Open the driver; `nvml` is the module to ask, `wanted` the value of CUDA_VISIBLE_DEVICES."""
        import pynvml  # here: other implementations' interpreters may lack it

        self._nvml = nvml or pynvml
        self._cards: list[Card] = []
        self._devices: list[Device] = []
        self._strangers: list[frozenset[int]] = []
        self.names: tuple[str, ...] = ()
        self.uuids: tuple[str, ...] = ()
        self.in_cuda_order = True
        self.in_driver = 0  # GPUs of the driver, whether CUDA may use them or not
        self.problem = ""  # why an installed driver shows none
        try:
            self._nvml.nvmlInit()
            every = [self._nvml.nvmlDeviceGetHandleByIndex(i) for i in range(self._nvml.nvmlDeviceGetCount())]
        except Exception as error:  # no driver, no permission, a driver that does not match: no GPU to watch
            absent = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
            self.problem = "" if getattr(error, "value", None) in absent else str(error)
            return
        self.in_driver = len(every)
        self._cards = list(map(self._card, every))
        self._devices = visible(self._cards, os.environ.get("CUDA_VISIBLE_DEVICES") if wanted is None else wanted)
        self.names = tuple(map(self._name_of, self._devices))
        self.uuids = tuple((part or card).uuid for card, part in self._devices)
        # CUDA lists the fastest first, the driver goes by bus; the order of equal cards is the same.
        by_bus = os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
        self.in_cuda_order = by_bus or len({self._name(handle) for handle in every}) <= 1
        self._strangers = [frozenset()] * len(self._devices)

    def _card(self, handle: Any) -> Card:
        nvml, asked = self._nvml, self._asked
        mode = asked(lambda: nvml.nvmlDeviceGetMigMode(handle)[0])
        most = asked(lambda: nvml.nvmlDeviceGetMaxMigDeviceCount(handle)) if mode == 1 else 0
        parts = [asked(lambda i=i: nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, i)) for i in range(most or 0)]
        slices = tuple(map(self._slice, (part for part in parts if part is not None)))
        return Card(handle=handle, uuid=self._uuid(handle), mig=mode == 1, slices=slices)

    def _slice(self, handle: Any) -> Slice:
        nvml, asked = self._nvml, self._asked
        numbers = asked(lambda: (nvml.nvmlDeviceGetGpuInstanceId(handle), nvml.nvmlDeviceGetComputeInstanceId(handle)))
        return Slice(handle=handle, uuid=self._uuid(handle), numbers=numbers)

    def _name_of(self, device: Device) -> str:
        """Return a device's name; a slice's is its card's name and its profile, as in CUDA."""
        card, part = device
        return f"{self._name(card.handle)} MIG {self._profile(part)}" if part else self._name(card.handle)

    def _profile(self, part: Slice) -> str:
        """Return a slice's profile, such as 1g.10gb: its share of the processors, then its memory."""
        nvml, asked = self._nvml, self._asked
        if named := re.search(r"MIG (\S+)", self._name(part.handle)):
            return named[1]
        size = asked(lambda: nvml.nvmlDeviceGetAttributes(part.handle))
        if size is None:
            memory = asked(lambda: nvml.nvmlDeviceGetMemoryInfo(part.handle).total)
            return f"{math.ceil(memory / 2**30)}gb" if memory else "slice"
        fewer = f"{size.computeInstanceSliceCount}c." * (size.computeInstanceSliceCount < size.gpuInstanceSliceCount)
        return f"{fewer}{size.gpuInstanceSliceCount}g.{math.ceil(size.memorySizeMB / 1024)}gb"

    def without_instances(self) -> bool:
        """Return whether a card has MIG on without a slice, so that CUDA cannot use it."""
        return any(card.mig and not card.slices for card in self._cards)

    def shown(self) -> tuple[str, ...]:
        """Return the driver's GPUs and slices, as CUDA_VISIBLE_DEVICES may name them."""
        return tuple(
            f"{name} ({self._name_of((card, part))})"
            for number, card in enumerate(self._cards)
            for name, part in ([(part.uuid, part) for part in card.slices] if card.mig else [(str(number), None)])
        )

    def _uuid(self, handle: Any) -> str:
        return _words(self._asked(self._nvml.nvmlDeviceGetUUID, handle))

    def _name(self, handle: Any) -> str:
        return _words(self._asked(self._nvml.nvmlDeviceGetName, handle)) or "unknown"

    def _asked(self, question: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return question(*arguments)
        except Exception:  # any NVMLError, or an answer that cannot be decoded
            return None

    def described(self) -> tuple[Gpu, ...]:
        """Return a description of each GPU; some cards and virtual machines answer only in part."""
        return tuple(map(self._described, self._devices))

    def _described(self, device: Device) -> Gpu:
        nvml, asked, (card, part) = self._nvml, self._asked, device
        handle, own = card.handle, (part or card).handle
        major, minor = asked(lambda: nvml.nvmlDeviceGetCudaComputeCapability(handle)) or (0, 0)
        cuda = asked(lambda: nvml.nvmlSystemGetCudaDriverVersion_v2())
        power = asked(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle))
        return Gpu(
            name=self._name_of(device),
            memory_bytes=asked(lambda: nvml.nvmlDeviceGetMemoryInfo(own).total) or 0,
            compute_capability=f"{major}.{minor}",
            driver=_words(asked(lambda: nvml.nvmlSystemGetDriverVersion())) or "unknown",
            cuda="unknown" if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}",
            graphics_clock_limit_mhz=asked(lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_GRAPHICS)),
            memory_clock_limit_mhz=asked(lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_MEM)),
            power_limit_watts=None if power is None or part else power / 1000,  # a slice has no limit of its own
            slice=self._profile(part) if part else "",
        )

    def begin(self) -> None:
        """Mark the GPUs' current processes as others': our worker has only just started."""
        self._strangers = [frozenset(self._pids(device) or ()) for device in self._devices]

    def readings(self, ours: Collection[int] = ()) -> tuple[GpuReading, ...]:
        """Return a reading of each GPU; `ours` are the worker's processes."""
        return tuple(self._reading(index, ours) for index in range(len(self._devices)))

    def _reading(self, index: int, ours: Collection[int]) -> GpuReading:
        nvml, (card, part) = self._nvml, self._devices[index]
        handle, own = card.handle, (part or card).handle
        # A card's counters include the other slices, so they say nothing of one slice.
        of_card = self._asked if part is None else lambda question: None
        rates = of_card(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        power = of_card(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        energy = of_card(lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle))
        memory = self._asked(lambda: nvml.nvmlDeviceGetMemoryInfo(own).used)
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
        if bits is None:  # drivers before 535 have only the old name
            bits = self._asked(lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))
        if not isinstance(bits, int) or bits < 0:
            return None
        return tuple(word for bit, word in REASONS.items() if bits & bit)

    def _others(self, index: int, ours: Collection[int]) -> int | None:
        """Return how many other processes compute on the GPU; None if unknown.

        In a container the driver may give our process another id: then the first new process since the worker's start
        is taken as ours. A driver that shows no process, not even ours, tells nothing.
        """
        pids = self._pids(self._devices[index])
        if pids is None or (ours and not pids):
            return None
        if pids & set(ours):
            return len(pids - set(ours))
        before = pids & self._strangers[index]
        return len(before) + max(0, len(pids - before) - 1)

    def _pids(self, device: Device) -> frozenset[int] | None:
        nvml, (card, part) = self._nvml, device
        handle = (part or card).handle
        return self._asked(lambda: frozenset(p.pid for p in nvml.nvmlDeviceGetComputeRunningProcesses(handle)))


def _scaled(value: Any, over: float = 1.0) -> float | None:
    """Return a driver's value in our unit; None for anything but a number, or for its 'not available' value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**63:
        return None
    return value / over


def _words(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")

"""A process of its own that watches the machine beside a campaign: a JSON line a reading, on standard output.

Standard input carries a process number a line, the worker to set apart from others, and ends with the parent. The
module needs neither JAX nor a GPU. What it costs is in every reading: about 1 % of one core.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from suite.processes import parent_death
from suite.system import counters
from suite.system.nvml import GpuReading, Gpus
from suite.worker_api.telemetry_messages import Counters, TelemetrySample

PERIOD_SECONDS = 0.08  # 12.5 Hz, so that a late reading still leaves 10


@dataclass
class Watched:
    """Everything that is read, each part to be replaced in a test."""

    gpus: Gpus = field(default_factory=Gpus)
    tree: counters.Tree = field(default_factory=counters.Tree)
    packages: counters.Packages = field(default_factory=counters.packages)
    cpu_stats: tuple = field(default_factory=counters.cpu_stats)
    now: Callable[[], float] = time.monotonic
    own: Callable[[], float] = time.process_time

    def follow(self, pid: int) -> None:
        """Set that process and its children apart from others."""
        self.tree.follow(pid)
        self.gpus.begin()

    def reading(self) -> TelemetrySample:
        """Return the machine as it is now."""
        at, cpu, worker = self.now(), counters.cpu_time(), self.tree.seconds()
        return TelemetrySample(
            at=at,
            capacity_seconds=cpu.capacity,
            busy_seconds=cpu.busy,
            own_seconds=self.own(),
            worker_seconds=worker,
            steal_seconds=cpu.steal,
            throttled_periods=counters.throttled(self.cpu_stats),
            package_joules=self.packages.joules(),
            gpus=self.gpus.readings(self.tree.pids),
        )

    def counters(self) -> Counters:
        """Return what answers here."""
        now = self.reading()
        first = now.gpus[0] if now.gpus else GpuReading()
        return Counters(
            gpus=self.gpus.names,
            in_cuda_order=self.gpus.in_cuda_order,
            gpu_energy=bool(now.gpus) and all(gpu.energy_joules is not None for gpu in now.gpus),
            package_energy=now.package_joules is not None,
            steal=now.steal_seconds is not None,
            throttling=now.throttled_periods is not None,
            gpu_fields=tuple(name for name in first.__struct_fields__ if getattr(first, name) is not None),
        )


def main() -> None:
    """Say what answers here, then a reading every period until standard input ends."""
    parent_death.set_pdeathsig()
    watched = Watched()
    told: list[int] = []
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    due = time.monotonic()
    try:
        out.write(msgspec.json.encode(watched.counters()) + b"\n")
        while True:
            while told:
                watched.follow(told.pop(0))
            out.write(msgspec.json.encode(watched.reading()) + b"\n")
            due = max(due + PERIOD_SECONDS, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
    except BrokenPipeError:
        os._exit(0)


def _listen(told: list[int]) -> None:
    for line in sys.stdin.buffer:
        if line.strip().isdigit():
            told.append(int(line))
    os._exit(0)  # the parent is gone


if __name__ == "__main__":
    main()

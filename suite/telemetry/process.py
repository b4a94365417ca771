"""The telemetry process, which watches the machine during a campaign: a JSON line for each reading, on standard output.

Each line of standard input is the process id of a worker, to tell its load from others'; it ends with the parent. The
module needs neither JAX nor a GPU. Every reading has its own cost, about 1 % of one core.
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
    """All sources of readings; tests replace each part."""

    gpus: Gpus = field(default_factory=Gpus)
    tree: counters.Tree = field(default_factory=counters.Tree)
    packages: counters.Packages = field(default_factory=counters.packages)
    cpu_stats: tuple = field(default_factory=counters.cpu_stats)
    now: Callable[[], float] = time.monotonic
    own: Callable[[], float] = time.process_time

    def follow(self, pid: int) -> None:
        """Count this process and its children as the worker."""
        self.tree.follow(pid)
        self.gpus.begin()

    def reading(self) -> TelemetrySample:
        """Return a reading of the machine."""
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
        """Return which counters are available."""
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
    """Print the available counters, then a reading every period until standard input ends."""
    parent_death.set_pdeathsig()
    watched = Watched()
    new_workers: list[int] = []
    threading.Thread(target=_listen, args=(new_workers,), daemon=True).start()
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    due = time.monotonic()
    try:
        out.write(msgspec.json.encode(watched.counters()) + b"\n")
        while True:
            while new_workers:
                watched.follow(new_workers.pop(0))
            out.write(msgspec.json.encode(watched.reading()) + b"\n")
            due = max(due + PERIOD_SECONDS, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
    except BrokenPipeError:
        os._exit(0)


def _listen(new_workers: list[int]) -> None:
    for line in sys.stdin.buffer:
        if line.strip().isdigit():
            new_workers.append(int(line))
    os._exit(0)  # the parent is gone


if __name__ == "__main__":
    main()

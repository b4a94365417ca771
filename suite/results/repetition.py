"""What two machines must share to be alike."""

import math

from suite.results.record import Machine


def description(machine: Machine) -> tuple:
    """Return what two machines must share to be alike: name, processors, memory and GPUs, whatever their software.

    Memory counts in steps of half a power of two: a host's own part of it is not always the same.
    """
    memory = round(2 * math.log2(machine.memory_bytes)) if machine.memory_bytes else None
    gpus = tuple((g.name, g.memory_bytes, g.compute_capability, g.power_limit_watts) for g in machine.gpus)
    return machine.name, machine.cpu_model, machine.cores, memory, machine.cpu_quota_cores, machine.virtual, gpus

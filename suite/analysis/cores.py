"""How many cores would equal the GPU: a step's time by threads of the CPU, carried on by Amdahl's law."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.results.pooled.machine_evidence import over
from suite.results.pooled.pools import Pool
from suite.results.records.machine import Machine
from suite.results.stats.amdahl import Amdahl, Timed, amdahl
from suite.results.stats.pooling import moments
from suite.results.stats.statistics import Estimate


@dataclass(frozen=True, kw_only=True)
class EqualCores:
    """The cores that would take as long as the GPU; 1 if one does, infinity if no number does."""

    gpu: Pool
    pools: Sequence[Pool]  # of the CPU, the fewest threads first
    best: Pool  # the fastest of them
    law: Amdahl
    fitted: int  # the largest number of threads that the law is of
    stops: bool  # whether more threads than the fastest's are surely slower
    cores: Estimate

    @property
    def without_end(self) -> Estimate:
        """Seconds of a step with infinitely many threads."""
        return self.law.at(math.inf)


def threads(pool: Pool) -> int:
    """Return how many cores a pool's processes could use."""
    return pool.newest.case.threads or pool.newest.machine.cores


def equal_cores(pools: Sequence[Pool], gpu: Pool) -> EqualCores | None:
    """Return the cores that equal a GPU's step, from a CPU's steps by threads; None for fewer than three numbers.

    The law leaves out threads that share a core of the processor, and numbers beyond the fastest if they are surely
    slower. No number then equals a GPU that is faster than that.
    """
    machine = pools[-1].newest.machine
    apart = machine.cores // (machine.threads_per_core or 1)
    best = min(pools, key=lambda pool: pool.pooled.value)
    stops = best is not pools[-1] and (over(pools[-1], best).low or 0) > 1
    fitted = [pool for pool in pools if threads(pool) <= min(apart, threads(best) if stops else apart)]
    law = amdahl([threads(pool) for pool in fitted], [_timed(pool) for pool in fitted])
    if law is None:
        return None
    cores = law.reaching(_timed(gpu))
    if stops:
        cores = cores.mapped(lambda end: math.inf if end > threads(best) else end)
    most = threads(fitted[-1])
    return EqualCores(gpu=gpu, pools=pools, best=best, law=law, fitted=most, stops=stops, cores=cores)


def _timed(pool: Pool) -> Timed:
    centre, error2, _, degrees = moments(pool.cell, pool.among)
    return Timed(seconds=math.exp(centre), error=math.sqrt(error2), degrees=degrees)


def sentence(equal: EqualCores) -> str:
    """Return how many cores would equal the GPU, in words, and on what that hangs."""
    cores, gpu, rest = equal.cores, units.seconds(equal.gpu.seconds.value), equal.without_end
    width = units.half_width(rest.low, rest.high)
    never = f"even infinitely many would take {units.seconds(rest.value, width)} a step, the GPU takes {gpu}"
    if equal.stops:
        never = f"more than {units.count(threads(equal.best))} do not help, and the GPU takes {gpu} a step"
    if math.isinf(cores.value):
        if cores.low is None or math.isinf(cores.low):
            return f"No number of cores equals the GPU: {never}."
        return f"Probably no number of cores equals the GPU, and at least {number(cores.low)} would have to: {never}."
    within = f" ({interval(cores)})" if cores.low is not None else ""
    count = units.pluralize(whole(cores.value), "core")
    if cores.value <= equal.fitted:
        return f"It takes {count}{within} to equal the GPU, with {gpu} a step."
    return (
        f"It would take {count}{within} to equal the GPU, with {gpu} a step, if threads go on to help as they do here."
    )


def number(cores: float | None) -> str:
    """Return a number of cores; 'never' if none is enough."""
    if cores is None:
        return units.DASH
    return "never" if math.isinf(cores) else units.count(whole(cores))


def whole(cores: float) -> int:
    """Return a whole number of cores, of two digits."""
    return int(float(f"{math.ceil(cores):.2g}"))


def interval(cores: Estimate) -> str:
    """Return the interval of a number of cores, whose end may be never."""
    if cores.low is None or cores.high is None:
        return units.DASH
    low, high = number(cores.low), number(cores.high)
    return low if low == high else f"{low} to {high}"


def hardware_threads(machine: Machine) -> str:
    """Return what a machine's cores are: hardware threads, of which several may share a core of the processor."""
    cores, each = machine.cores, machine.threads_per_core
    if each is not None and each > 1:
        return (
            f"These {units.count(cores)} cores are hardware threads, {each} to a core of the processor: "
            f"{units.count(cores // each)} have one each, the further ones share them. The law is that of the former."
        )
    if machine.virtual and cores > 1:
        return (
            f"This virtual machine does not tell which of its {units.count(cores)} cores share one of the processor. "
            "Often two share one: then the first half have a core of the processor each, and the others gain less."
        )
    return ""

"""The GPU's busy time of a step: the union of what its streams did, from a profiler's trace.

The process times nothing else, since a profiler slows the host. A step's wall time is that of scope `step`; what it
takes longer than its kernels are gaps, in which the GPU waits.
"""

from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from suite.data.batches import Batch
from suite.results.records.run import Profiled, Sample
from suite.scopes import PROFILED_CHAINS
from suite.worker.recorder import Process
from suite.worker.steady import run_and_block, started
from suite.worker_api import clock
from suite.worker_api.program import Interval, Profiler, Program


def measured_kernels(process: Process, target: Program, inputs: list[Batch], profiler: Profiler) -> float:
    """Measure the GPU's busy time of one long warm chain; return the first step's loss.

    Raises RuntimeError if the trace has no GPU.
    """
    started(process, target, inputs)
    first_loss, clocks = target.loss(), process.clocks
    chain, call = partial(run_and_block, target), target.steps_per_call
    steps, warm = process.result("warmup", lambda: clock.calibrate(chain, process.task.plan, clocks, call))
    steps, timed = PROFILED_CHAINS * steps, list[Sample]()

    def profiled() -> None:
        timed.append(clock.timed(partial(chain, steps), clocks))

    before = target.compilations()
    intervals = process.result("profiling", lambda: profiler(profiled))
    (wall,) = timed
    process.runs["kernels"] = process.run(
        warmup=warm,
        samples=(replace(wall, wall_seconds=busy_seconds(intervals)),),
        steps_per_sample=steps,
        compilations=target.compilations() - before,
        profiled=Profiled(wall_seconds=wall.wall_seconds, operations_per_step=len(intervals) / steps),
    )
    return first_loss


def busy_seconds(intervals: Iterable[Interval]) -> float:
    """Return the length of the union of intervals: what overlaps, as on two streams, counts once."""
    busy, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        busy += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return busy

"""The GPU's busy time of a step: the union of what its streams did, from a profiler's trace.

The process times nothing else, since a profiler slows the host. A step's wall time is that of scope `step`; what it
takes longer than its kernels are gaps, in which the GPU waits.
"""

from collections.abc import Callable, Iterable
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
    """Measure the GPU's busy time of a few warm chains; return the first step's loss.

    Raises RuntimeError if the trace has no GPU.
    """
    started(process, target, inputs)
    first_loss, clocks = target.loss(), process.clocks
    chain, call = partial(run_and_block, target), target.steps_per_call
    steps, warm = process.result("warmup", lambda: clock.calibrate(chain, process.task.plan, clocks, call))

    def profile() -> list[tuple[list[Interval], Sample]]:
        profiler(partial(chain, call))  # the first session loads the profiler's libraries
        return [_profiled(partial(chain, steps), profiler, clocks) for _ in range(PROFILED_CHAINS)]

    before = target.compilations()
    chains = process.result("profiling", profile)
    operations = sum(len(intervals) for intervals, _ in chains)
    process.runs["kernels"] = process.run(
        warmup=warm,
        samples=tuple(replace(timed, wall_seconds=busy_seconds(intervals)) for intervals, timed in chains),
        steps_per_sample=steps,
        compilations=target.compilations() - before,
        profiled=Profiled(
            wall_seconds=tuple(timed.wall_seconds for _, timed in chains),
            operations_per_step=operations / (len(chains) * steps),
        ),
    )
    return first_loss


def _profiled(chain: Callable[[], object], profiler: Profiler, clocks: clock.Clock) -> tuple[list[Interval], Sample]:
    """Return what the GPU did during a chain, and the chain's time by the host's clocks."""
    timed: list[Sample] = []
    intervals = profiler(lambda: timed.append(clock.timed(chain, clocks)))
    return intervals, timed[0]


def busy_seconds(intervals: Iterable[Interval]) -> float:
    """Return the length of the union of intervals: what overlaps, as on two streams, counts once."""
    busy, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        busy += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return busy

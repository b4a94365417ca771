"""The child process: brings one program from import to samples and streams what it saw.

Reads one `Task` from standard input. The parent (runner) decides everything; this only measures.
"""

import gc
import os
import platform
import resource
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Protocol

import msgspec

from suite import variants
from suite.data import batches as data
from suite.measure import clock, leftover, load
from suite.measure.audit import audit, finite
from suite.measure.machine import settings
from suite.measure.program import Program
from suite.measure.protocol import Facts, Line, Steady, Task
from suite.results.record import Stage
from suite.results.validity import DONATED
from suite.workload import Case

INPUT_SETS = 4

Say = Callable[[Line], object]


def main() -> None:
    """Measure the task on standard input; standard output carries the protocol alone."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a library prints goes to standard error
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def say(line: Line) -> None:
        out.write(msgspec.json.encode(line) + b"\n")

    try:
        measure(task, say)
    except Exception as error:
        say(Line(stage="failed", reason=reason(error)))
        traceback.print_exc()
        os._exit(1)  # whatever threads are at work
    out.flush()
    os._exit(0)  # tearing a backend down takes seconds and can fail; everything is said


def _end_with_parent() -> None:
    """End this process when the parent, however it died, no longer holds the other end of standard input."""
    sys.stdin.buffer.read()
    os._exit(1)


def reason(error: BaseException) -> str:
    """Return one readable line for an error, short enough for a record."""
    words = " ".join(str(error).split())
    if "has been deleted" in words or "donated buffer" in words:
        words = f"{DONATED}: {words}"
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in words or "out of memory" in words.lower():
        words = f"out of memory: {words}"
    return f"{type(error).__name__}: {words}"[:400]


def measure(task: Task, say: Say, clocks: clock.Clock | None = None) -> None:
    """Run the stages and scopes of the task, telling the parent what begins and what ended."""
    case, clocks = task.cases[0], clocks or clock.Clock()

    def stage(name: str, run: Callable[[], object]) -> None:
        say(Line(stage=name))
        seen = clock.timed(run, clocks)
        ended = Stage(name=name, wall_seconds=seen.wall_seconds, process_seconds=seen.process_seconds)
        say(Line(stage=name, seen=ended))

    pin(case.threads)
    made: list[tuple[Program, Owner]] = []
    stage("import", lambda: made.append(program(case)))
    target, owner = made[0]
    say(Line(stage="data"))
    inputs = batches(owner, task)
    digest = data.digest(inputs)

    def initialise() -> None:
        target.initialise(task.seed)
        target.put(inputs)
        target.block()

    def chain(steps: int) -> None:
        target.chain(steps)
        target.block()

    stage("init", initialise)
    stage("lower", target.lower)
    stage("compile", target.compile)
    stage("first_step", lambda: chain(target.steps_per_call))
    first_loss = target.loss()
    wanted = any(c.scope == "step" for c in task.cases)
    steady = steady_state(chain, target, task.plan, clocks, say) if wanted else None
    unfinished = leftover.unfinished_seconds(clocks) if wanted else None
    facts = Facts(
        input_digest=digest,
        first_loss=finite(first_loss),
        last_loss=finite(target.loss()),
        peak_memory_bytes=peak_memory_bytes(),
        device_memory_bytes=target.device_memory_bytes(),
        python=platform.python_version(),
        packages=target.packages(),
        settings=settings() | {name: str(value) for name, value in target.settings().items()},
        steady=steady,
        cache_hits=target.cache_hits(),
    )
    say(Line(stage="audit"))
    still = unfinished is not None and unfinished >= leftover.LONGEST_SECONDS
    seen = audit(target, inputs, digest, task.seed, unfinished, task.replay and not still)
    say(Line(stage="done", facts=msgspec.structs.replace(facts, audit=seen)))


def steady_state(chain: clock.Chain, target: Program, plan: clock.Plan, clocks: clock.Clock, say: Say) -> Steady:
    """Return warm-up and doubling ratio, and what happened to the process during the samples, which are said."""
    say(Line(stage="warmup"))
    steps = clock.steps_per_sample(chain, plan, clocks, target.steps_per_call)
    warm, settled = clock.warmup(chain, steps, plan, clocks)
    ratio = clock.doubling_ratio(chain, steps, clocks)
    gc.collect()
    gc.freeze()
    gc.disable()
    compiled, faults, before = target.compilations(), minor_faults(), load.reading()
    say(Line(stage="samples"))
    taken = 0
    for sample in clock.samples(chain, steps, plan, clocks):
        say(Line(stage="samples", sample=sample))
        taken += 1
    after, more_faults = load.reading(), minor_faults()
    gc.enable()
    return Steady(
        steps_per_sample=steps,
        doubling_ratio=ratio,
        warmup=warm,
        warmup_converged=settled,
        compilations=target.compilations() - compiled,
        load_by_others=load.by_others(before, after),
        minor_faults_per_step=(more_faults - faults) / (steps * taken),
    )


class Owner(Protocol):
    """Whoever knows how a workload's batches are made: one of these is a function, the other None."""

    @property
    def preprocess(self) -> data.Preprocess | None:
        """From stored examples."""

    @property
    def draw(self) -> data.Draw | None:
        """From a random generator."""


def batches(owner: Owner, task: Task) -> list[data.Batch]:
    """Return the input sets of the task's case.

    Raises ValueError if the workload does not have the data asked for.
    """
    case = task.cases[0]
    if case.data == "random":
        if owner.draw is None:
            raise ValueError(f"data 'random' asked for, workload '{case.workload}' takes its batches from a data set")
        return data.drawn(owner.draw, case.batch, INPUT_SETS, task.seed)
    if owner.preprocess is None:
        raise ValueError(f"data '{case.data}' asked for, workload '{case.workload}' has only 'random' so far")
    return data.batches(task.dataset, owner.preprocess, case.batch, INPUT_SETS, task.seed, data=case.data)


def program(case: Case) -> tuple[Program, Owner]:
    """Import the implementation; return its program for the case and who makes its batches.

    Raises LookupError if it lacks the case's variant.
    """
    variants.require(case)
    if case.implementation == "torch":
        from suite import controls
        from suite.measure.torch_program import TorchProgram

        control = controls.load(case.workload)
        return TorchProgram(control, case), control
    if case.implementation == "keras":
        from suite import controls_keras
        from suite.measure.keras_program import KerasProgram

        control = controls_keras.load(case.workload)
        return KerasProgram(control, case), control
    from suite import models
    from suite.measure.jax_program import JaxProgram
    from suite.measure.nnx_program import NnxProgram

    workload = models.load(case.workload)
    return (NnxProgram if case.variant == "nnx-jit" else JaxProgram)(workload, case), workload


def pin(threads: int | None) -> None:
    """Restrict this process to that many of its cores; only affinity limits XLA's pool on the CPU."""
    if threads is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def minor_faults() -> int:
    """Return how many page faults without input or output this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def peak_memory_bytes() -> int:
    """Return the largest resident set this process has had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    main()

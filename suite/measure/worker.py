"""The child process: brings one program from import to samples and streams what it saw.

Reads one `Task` from standard input. The parent (runner) decides everything; this only measures.
"""

import gc
import math
import os
import platform
import resource
import sys
from collections.abc import Callable
from typing import Protocol

import msgspec

from suite import variants
from suite.data import batches as data
from suite.measure import clock, load, parent
from suite.measure.machine import settings
from suite.measure.program import Program
from suite.measure.protocol import Facts, Line, Steady, Task
from suite.results.record import Stage
from suite.workload import Case

INPUT_SETS = 4
_ASLEEP_SECONDS = 0.1

Say = Callable[[Line], object]


def main() -> None:
    """Measure the task on standard input; standard output carries the protocol alone."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a library prints goes to standard error
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
    parent.end_with_it()

    def say(line: Line) -> None:
        out.write(msgspec.json.encode(line) + b"\n")

    try:
        measure(task, say)
    except Exception as error:
        say(Line(stage="failed", reason=reason(error)))
        raise
    out.flush()
    os._exit(0)  # tearing a backend down takes seconds and can fail; everything is said


def reason(error: BaseException) -> str:
    """Return one readable line for an error, short enough for a record."""
    words = " ".join(str(error).split())
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
    facts = Facts(
        input_digest=data.digest(inputs),
        first_loss=finite(first_loss),
        last_loss=finite(target.loss()),
        peak_memory_bytes=peak_memory_bytes(),
        device_memory_bytes=target.device_memory_bytes(),
        python=platform.python_version(),
        packages=target.packages(),
        settings=settings() | {name: str(value) for name, value in target.settings().items()},
        steady=steady,
    )
    say(Line(stage="done", facts=facts))


def steady_state(chain: clock.Chain, target: Program, plan: clock.Plan, clocks: clock.Clock, say: Say) -> Steady:
    """Return warm-up, doubling ratio and samples, and what happened to the process meanwhile."""
    say(Line(stage="warmup"))
    steps = clock.steps_per_sample(chain, plan, clocks, target.steps_per_call)
    warm, settled = clock.warmup(chain, steps, plan, clocks)
    ratio = clock.doubling_ratio(chain, steps, clocks)
    say(Line(stage="samples"))
    gc.collect()
    gc.freeze()
    gc.disable()
    compiled, faults, before = target.compilations(), minor_faults(), load.reading()
    slept = clock.asleep_seconds()
    taken = tuple(clock.samples(chain, steps, plan, clocks))
    slept = clock.asleep_seconds() - slept
    after, more_faults = load.reading(), minor_faults()
    gc.enable()
    if slept > _ASLEEP_SECONDS:
        raise RuntimeError(f"the machine was suspended for {slept:.0f} s during the samples; run again")
    return Steady(
        steps_per_sample=steps,
        doubling_ratio=ratio,
        warmup=warm,
        warmup_converged=settled,
        samples=taken,
        compilations=target.compilations() - compiled,
        load_by_others=load.by_others(before, after),
        minor_faults_per_step=(more_faults - faults) / (steps * len(taken)),
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


def finite(value: float) -> float | None:
    """Return the value; None if it is not a finite number."""
    return value if math.isfinite(value) else None


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

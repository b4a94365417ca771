"""The child process: brings one program from import to samples and streams what it saw.

Reads one `Task` from standard input. The parent (runner) decides everything; this only measures.
"""

import gc
import math
import os
import platform
import resource
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from suite import variants
from suite.data import batches as data
from suite.measure import clock, load, whole_run
from suite.measure.machine import settings
from suite.measure.program import Cached, Fed, Program
from suite.measure.protocol import Facts, Line, Seen, Task
from suite.results.record import Sample, Stage
from suite.workload import Case, Scope

INPUT_SETS = 4
LATER_CALLS = 3  # after the first, in scope `calls`

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
        raise
    out.flush()
    os._exit(0)  # tearing a backend down takes seconds and can fail; everything is said


def _end_with_parent() -> None:
    """End this process when the parent, however it died, no longer holds the other end of standard input."""
    sys.stdin.buffer.read()
    os._exit(1)


def reason(error: BaseException) -> str:
    """Return one readable line for an error, short enough for a record."""
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in words or "out of memory" in words.lower():
        words = f"out of memory: {words}"
    return f"{type(error).__name__}: {words}"[:400]


def measure(task: Task, say: Say, clocks: clock.Clock | None = None) -> None:
    """Run the stages and scopes of the task, telling the parent what begins and what ended."""
    case, clocks = task.cases[0], clocks or clock.Clock()

    def stage(name: str, run: Callable[[], object]) -> Sample:
        say(Line(stage=name))
        seen = clock.timed(run, clocks)
        ended = Stage(name=name, wall_seconds=seen.wall_seconds, process_seconds=seen.process_seconds)
        say(Line(stage=name, seen=ended))
        return seen

    pin(case.threads)
    made: list[tuple[Program, Owner]] = []
    stage("import", lambda: made.append(program(case)))
    target, owner = made[0]
    say(Line(stage="data"))
    seen: dict[Scope, Seen] = {}
    if case.scope == "run":
        inputs = run_inputs(owner, task)
        before = load.reading()
        whole = clock.timed(lambda: documented_run(target, inputs, task, stage), clocks)
        say(Line(stage="run_end"))
        seen["run"] = Seen(samples=(whole,), load_by_others=load.by_others(before, load.reading()))
        first_loss = None
    else:
        inputs = batches(owner, task)
        first_loss = measured_steps(target, inputs, task, stage, clocks, say, seen)
    energy_step_seconds = sustained(target, seen, task, clocks, say)
    facts = Facts(
        input_digest=data.digest(inputs),
        first_loss=finite(target.loss()) if first_loss is None else finite(first_loss),
        last_loss=finite(target.loss()),
        peak_memory_bytes=peak_memory_bytes(),
        device_memory_bytes=target.device_memory_bytes(),
        bytes_per_step=target.bytes_per_step(),
        python=platform.python_version(),
        packages=target.packages(),
        cache_hits=target.cache_hits() if isinstance(target, Cached) else None,
        settings=settings() | {name: str(value) for name, value in target.settings().items()},
        energy_step_seconds=energy_step_seconds,
        scopes=seen,
    )
    say(Line(stage="done", facts=facts))


def measured_steps(
    target: Program,
    inputs: list[data.Batch],
    task: Task,
    stage: Callable[[str, Callable[[], object]], Sample],
    clocks: clock.Clock,
    say: Say,
    seen: dict[Scope, Seen],
) -> float:
    """Measure every scope of the task but a whole run into `seen`; return the first step's loss."""
    scopes = {case.scope for case in task.cases}

    def initialise() -> None:
        target.initialise(task.seed)
        target.put(inputs)
        target.block()

    def chain(steps: int) -> None:
        target.chain(steps)
        target.block()

    stage("init", initialise)
    cold = [stage("lower", target.lower), stage("compile", target.compile)]
    cold.append(stage("first_step", lambda: chain(target.steps_per_call)))
    first_loss = target.loss()
    if "cold" in scopes:
        seen["cold"] = Seen(samples=(total(cold),))
    if "calls" in scopes:
        second, *steady = (clock.timed(lambda: chain(target.steps_per_call), clocks) for _ in range(LATER_CALLS))
        steps = target.steps_per_call
        seen["calls"] = Seen(warmup=(total(cold), second), samples=tuple(steady), steps_per_sample=steps)
    if "step" in scopes:
        seen["step"] = steady_state(chain, target, task.plan, clocks, say, "samples")
    if "transfer" in scopes:
        if not isinstance(target, Fed):
            raise LookupError(f"scope 'transfer' asked for, which {type(target).__name__} has not")
        feed = target.feed

        def fed(steps: int) -> None:
            feed(steps)
            target.block()

        seen["transfer"] = steady_state(fed, target, task.plan, clocks, say, "transfer_samples")
    return first_loss


def sustained(target: Program, seen: dict[Scope, Seen], task: Task, clocks: clock.Clock, say: Say) -> float | None:
    """Go on with the step while its energy is counted; return the seconds of a step, None if nobody counts."""
    if "step" not in seen or task.energy_seconds <= 0:
        return None

    def chain(steps: int) -> None:
        target.chain(steps)
        target.block()

    say(Line(stage="energy"))
    seconds = clock.sustained(chain, seen["step"].steps_per_sample, task.energy_seconds, clocks)
    say(Line(stage="energy_end"))
    return seconds


def total(parts: Iterable[Sample]) -> Sample:
    """Return several parts as one."""
    parts = tuple(parts)
    return Sample(
        wall_seconds=sum(part.wall_seconds for part in parts),
        process_seconds=sum(part.process_seconds for part in parts),
    )


def documented_run(target: Program, inputs: list[data.Batch], task: Task, stage: whole_run.Stage) -> None:
    """Take the whole run of the task: training examples are the first of the inputs, those for validation the second.

    Raises LookupError if the implementation has none.
    """
    if task.run is None or not isinstance(target, whole_run.Trainable):
        raise LookupError(f"a whole run of '{task.cases[0].workload}' asked for, which {type(target).__name__} has not")
    train, test = inputs[0], inputs[1] if len(inputs) > 1 else None
    whole_run.whole_run(target, task.run, train, test, task.seed, stage)


def steady_state(run: clock.Chain, target: Program, plan: clock.Plan, clocks: clock.Clock, say: Say, name: str) -> Seen:
    """Return warm-up, doubling ratio and samples, a stage of that name, and what happened to the process meanwhile."""
    say(Line(stage="warmup"))
    steps, warm, settled = clock.warmed(run, plan, clocks, target.steps_per_call)
    ratio = clock.doubling_ratio(run, steps, clocks)
    say(Line(stage=name))
    gc.collect()
    gc.freeze()
    gc.disable()
    compiled, faults, before = target.compilations(), minor_faults(), load.reading()
    taken = tuple(clock.samples(run, steps, plan, clocks))
    after, more_faults = load.reading(), minor_faults()
    say(Line(stage=f"{name}_end"))
    gc.enable()
    return Seen(
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


def run_inputs(owner: Owner, task: Task) -> list[data.Batch]:
    """Return the examples of an epoch and, if there is one, of its validation, whole in memory.

    Raises ValueError if the workload does not have the data or the run asked for.
    """
    case, run = task.cases[0], task.run
    if run is None:
        raise ValueError(f"scope 'run' asked for, the source of workload '{case.workload}' times none")
    wanted = [("train", run.train), ("test", run.test)]
    if case.data == "random" and owner.draw is not None:
        return data.drawn_whole(owner.draw, [examples for _, examples in wanted if examples], task.seed)
    if owner.preprocess is None:
        raise ValueError(f"data '{case.data}' asked for, workload '{case.workload}' has only 'random' so far")
    sets = ((split, examples) for split, examples in wanted if examples)
    return [data.whole(task.dataset, owner.preprocess, split, n, data=case.data) for split, n in sets]


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
    from suite import ceilings, models
    from suite.measure.jax_program import JaxProgram
    from suite.measure.jax_run import JaxRun
    from suite.measure.nnx_program import NnxProgram
    from suite.measure.resident_run import ResidentRun

    workload = (ceilings if case.workload in ceilings.names() else models).load(case.workload)
    if case.scope == "run":
        return (ResidentRun if case.variant == "resident" else JaxRun)(workload, case), workload
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

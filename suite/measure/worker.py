"""The child process: brings one program from import to samples and streams what it saw.

Reads one `Task` from standard input. The parent (runner) decides everything; this only measures.
"""

import gc
import os
import platform
import resource
import sys
import traceback
from collections.abc import Callable, Iterable

import msgspec

from suite import variants
from suite.data import batches as data
from suite.measure import clock, leftover, load, parent, whole_run
from suite.measure.audit import CALLS, audit, finite
from suite.measure.inputs import Owner, batches, run_inputs
from suite.measure.machine import settings
from suite.measure.program import Fed, Program
from suite.measure.protocol import STREAMED, Facts, Line, Seen, Task
from suite.results.record import Sample, Stage
from suite.results.validity import DONATED
from suite.workload import Case, Scope

LATER_CALLS = 3  # after the first, in scope `calls`
_ASLEEP_SECONDS = 0.1
_REPLAY_SECONDS = 20.0  # replays that would take longer, as long as the first call, are left out

Say = Callable[[Line], object]
Staged = Callable[[str, Callable[[], object]], Sample]


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
        traceback.print_exc()
        os._exit(1)  # whatever threads are at work
    out.flush()
    os._exit(0)  # tearing a backend down takes seconds and can fail; everything is said


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
    stages: dict[str, Stage] = {}

    def stage(name: str, run: Callable[[], object]) -> Sample:
        say(Line(stage=name))
        seen = clock.timed(run, clocks)
        stages[name] = Stage(name=name, wall_seconds=seen.wall_seconds, process_seconds=seen.process_seconds)
        say(Line(stage=name, seen=stages[name]))
        return seen

    pin(case.threads)
    made: list[tuple[Program, Owner]] = []
    stage("import", lambda: made.append(program(case)))
    target, owner = made[0]
    say(Line(stage="data"))
    inputs = run_inputs(owner, task) if case.scope == "run" else batches(owner, task)
    digest = data.digest(inputs)
    seen: dict[Scope, Seen] = {}
    measured = measured_run if case.scope == "run" else measured_steps
    first_loss = measured(target, inputs, task, stage, clocks, say, seen)
    unfinished = leftover.unfinished_seconds(clocks) if seen.keys() & STREAMED.keys() else None
    facts = Facts(
        input_digest=digest,
        first_loss=finite(first_loss),
        last_loss=finite(target.loss()),
        peak_memory_bytes=peak_memory_bytes(),
        device_memory_bytes=target.device_memory_bytes(),
        bytes_per_step=target.bytes_per_step(),
        python=platform.python_version(),
        packages=target.packages(),
        cache_hits=target.cache_hits(),
        settings=settings() | {name: str(value) for name, value in target.settings().items()},
        energy_step_seconds=sustained(target, seen, task, clocks, say),
        scopes=seen,
    )
    if case.scope != "run":
        say(Line(stage="audit"))
        still = unfinished is not None and unfinished >= leftover.LONGEST_SECONDS
        quick = CALLS * stages["first_step"].wall_seconds <= _REPLAY_SECONDS
        found = audit(target, inputs, digest, task.seed, unfinished, task.replay and quick and not still)
        facts = msgspec.structs.replace(facts, audit=found)
    say(Line(stage="done", facts=facts))


def measured_steps(
    target: Program,
    inputs: list[data.Batch],
    task: Task,
    stage: Staged,
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
        second, *later = (clock.timed(lambda: chain(target.steps_per_call), clocks) for _ in range(LATER_CALLS))
        steps = target.steps_per_call
        seen["calls"] = Seen(warmup=(total(cold), second), samples=tuple(later), steps_per_sample=steps)
    if "step" in scopes:
        seen["step"] = steady_state(chain, target, task.plan, clocks, say)
    if "transfer" in scopes:
        if not isinstance(target, Fed):
            raise LookupError(f"scope 'transfer' asked for, which {type(target).__name__} has not")
        feed = target.feed

        def fed(steps: int) -> None:
            feed(steps)
            target.block()

        seen["transfer"] = steady_state(fed, target, task.plan, clocks, say, STREAMED["transfer"])
    return first_loss


def measured_run(
    target: Program,
    inputs: list[data.Batch],
    task: Task,
    stage: Staged,
    clocks: clock.Clock,
    say: Say,
    seen: dict[Scope, Seen],
) -> float:
    """Measure the whole run of the task into `seen`; return the last training loss.

    Training examples are the first of the inputs, those for validation the second. Raises LookupError if the
    implementation has no whole run.
    """
    run, train, test = task.run, inputs[0], inputs[1] if len(inputs) > 1 else None
    if run is None or not isinstance(target, whole_run.Trainable):
        raise LookupError(f"a whole run of '{task.cases[0].workload}' asked for, which {type(target).__name__} has not")
    before = load.reading()
    whole = clock.timed(lambda: whole_run.whole_run(target, run, train, test, task.seed, stage), clocks)
    say(Line(stage="run_end"))
    seen["run"] = Seen(samples=(whole,), load_by_others=load.by_others(before, load.reading()))
    return target.loss()


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


def steady_state(
    run: clock.Chain,
    target: Program,
    plan: clock.Plan,
    clocks: clock.Clock,
    say: Say,
    name: str = STREAMED["step"],
) -> Seen:
    """Return warm-up and doubling ratio, and what happened to the process during the samples.

    The samples are said one by one, in a stage of that name.
    """
    say(Line(stage="warmup"))
    steps, warm, settled = clock.warmed(run, plan, clocks, target.steps_per_call)
    ratio = clock.doubling_ratio(run, steps, clocks)
    gc.collect()
    gc.freeze()
    gc.disable()
    compiled, faults, before = target.compilations(), minor_faults(), load.reading()
    say(Line(stage=name))
    taken, slept = 0, clock.asleep_seconds()
    for sample in clock.samples(run, steps, plan, clocks):
        say(Line(stage=name, sample=sample))
        taken += 1
    slept = clock.asleep_seconds() - slept
    after, more_faults = load.reading(), minor_faults()
    say(Line(stage=f"{name}_end"))
    gc.enable()
    if slept > _ASLEEP_SECONDS:
        raise RuntimeError(f"the machine was suspended for {slept:.0f} s during the samples; run again")
    return Seen(
        steps_per_sample=steps,
        doubling_ratio=ratio,
        warmup=warm,
        warmup_converged=settled,
        compilations=target.compilations() - compiled,
        load_by_others=load.by_others(before, after),
        minor_faults_per_step=(more_faults - faults) / (steps * taken),
    )


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

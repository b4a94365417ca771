"""The child process: takes one program from import to samples and streams the results.

Reads one `Task` from standard input. The parent decides everything; the child only measures.
"""

import hashlib
import os
import platform
import resource
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

import msgspec
from msgspec.structs import replace

from suite import __version__, variants
from suite.case import Backend, Case
from suite.data import batches as data
from suite.processes import parent_death
from suite.programs import load
from suite.results.records.machine import Software, bearing
from suite.results.single.validity import DONATED
from suite.scopes import SCOPES
from suite.system import processor
from suite.system.software import versions
from suite.system.variables import settings
from suite.worker import checks, epoch, kernels, serving, steady, whole_run
from suite.worker.checks import CALLS, audit, finite
from suite.worker.recorder import Process, Say
from suite.worker_api import clock
from suite.worker_api.program import BatchSource, Program, batches, epoch_of, run_inputs
from suite.worker_api.protocol import Message, Task, WorkerReport

_REPLAY_SECONDS = 20.0  # skip replays that take longer, judged by the first call

# A step's digest names the compile cache of a process of steps, though one that also times its cold start has none: a
# cache changes no step.
_CACHE_OF_STEPS: Mapping[Backend, Mapping[str, str]] = {
    "cpu": {"JAX_ENABLE_COMPILATION_CACHE": "false"},
    "gpu": {"JAX_ENABLE_COMPILATION_CACHE": "true", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"},
}


def main() -> None:
    """Measure the task on standard input; standard output carries the protocol alone."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # keep what libraries print off the protocol
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
    parent_death.exit_when_parent_exits()
    if SCOPES[task.cases[0].scope].reads_storage:  # with processes, if the loader is one of processes
        parent_death.end_group_with_parent()

    def say(line: Message) -> None:
        out.write(msgspec.json.encode(line) + b"\n")

    try:
        measure(task, say)
    except Exception as error:
        say(Message(stage="failed", reason=reason(error)))
        traceback.print_exc()
        os._exit(1)  # do not wait for other threads
    out.flush()
    os._exit(0)  # the report is sent; tearing down a backend takes seconds and can fail


def reason(error: BaseException) -> str:
    """Return one readable line for an error, short enough for a record."""
    words = " ".join(str(error).split())
    if isinstance(error, steady.TooLongError):
        return words
    if "has been deleted" in words or "donated buffer" in words:
        words = f"{DONATED}: {words}"
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in words or "out of memory" in words.lower():
        words = f"out of memory: {words}"
    return f"{type(error).__name__}: {words}"[:400]


def measure(task: Task, say: Say, clocks: clock.Clock | None = None) -> None:
    """Run the task's stages and scopes, and report each beginning and end to the parent."""
    process = Process(task=task, say=say, clocks=clocks or clock.Clock())
    processor.pin(process.case.threads)
    if not SCOPES[process.case.scope].computes:
        owner, open_batches, packages = process.result("import", lambda: loader(process.case))
        epoch.measured_input(process, owner, open_batches)
        process.note(peak_memory_bytes=peak_memory_bytes())
        say(Message(stage="done", report=WorkerReport(runs=process.runs, software=software(packages, settings()))))
        return
    target, owner = process.result("import", lambda: program(process.case))
    inputs, digest = process.result("data", lambda: digested(inputs_of(owner, task)))
    first_loss = measured(process, target, inputs, owner)
    left = loss_seconds = None
    if any(SCOPES[scope].steady for scope in process.runs):
        step = process.runs.get("step") or process.runs.get("written")
        again = partial(steady.run_and_block, target, step.steps_per_sample) if step else None
        left, loss_seconds = process.result("leftover", lambda: leftover(target, again, process.clocks))
    versions = process.result("facts", lambda: note_program(process, target, digest, first_loss))
    energy = steady.sustained(process, target)
    if not SCOPES[process.case.scope].trains:
        still = left is not None and left.seconds >= checks.LONGEST_SECONDS
        quick = CALLS * process.stages["first_step"].wall_seconds <= _REPLAY_SECONDS
        replayed = task.replay and quick and not still
        found = process.result("audit", lambda: audit(target, inputs, digest, task.seed, left, replayed, loss_seconds))
        process.note(audit=found)
    report = WorkerReport(runs=process.runs, software=versions, energy_step_seconds=energy)
    say(Message(stage="done", report=report))


def leftover(
    target: Program, again: Callable[[], object] | None, clocks: clock.Clock
) -> tuple[checks.PendingWork, float]:
    """Return the pending work after the samples, and how many seconds the last loss then takes to read."""
    left = checks.least(again, clocks)
    return left, clock.timed(target.loss, clocks).wall_seconds


def digested(inputs: list[data.Batch]) -> tuple[list[data.Batch], str]:
    """Return the inputs and their digest; '' if there are none."""
    return inputs, data.digest(inputs) if inputs else ""


def note_program(process: Process, target: Program, digest: str, first_loss: float) -> Software:
    """Add the measured program's own facts to each run; return the software."""
    memory = peak_memory_bytes()  # before the digest of the program needs more
    in_force = settings() | {name: str(value) for name, value in target.settings().items()}
    process.note(
        input_digest=digest,
        first_loss=finite(first_loss),
        last_loss=finite(target.loss()),
        peak_memory_bytes=memory,
        device_memory_bytes=target.device_memory_bytes(),
        bytes_per_step=target.bytes_per_step(),
        cache_hits=target.cache_hits(),
    )
    step = step_digest(target)
    for scope, run in process.runs.items():
        bears = in_force if SCOPES[scope].compiles else {**in_force, **_CACHE_OF_STEPS[process.case.backend]}
        process.runs[scope] = replace(run, program=program_of(step, bears))
    return software(target.packages(), in_force)


def software(packages: dict[str, str], settings: dict[str, str]) -> Software:
    """Return the software of this process."""
    return Software(suite=__version__, python=platform.python_version(), packages=packages, settings=settings)


def peak_memory_bytes() -> int:
    """Return the largest resident set of this process, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def step_digest(target: Program) -> str:
    """Return a digest of the step; '' if it cannot be made: a failure here must not lose the measurement."""
    try:
        return target.program_digest()
    except Exception:
        traceback.print_exc()
        return ""


def program_of(step: str, settings: Mapping[str, str]) -> str:
    """Return a digest of the step and of the settings that affect its speed; '' if the step has none."""
    if not step:
        return ""
    words = "\n".join([step, *(f"{name}={value}" for name, value in bearing(settings).items())])
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def inputs_of(owner: BatchSource, task: Task) -> list[data.Batch]:
    """Return the inputs made beforehand: sets for steps, all of a whole run, nothing if storage provides them.

    A loop as written has an epoch of batches.
    """
    scope = task.cases[0].scope
    if scope == "learning":
        return []
    if scope == "written":
        return epoch_of(batches(owner, task), task.epoch_steps)
    return run_inputs(owner, task) if scope == "run" else batches(owner, task)


def measured(process: Process, target: Program, inputs: list[data.Batch], owner: BatchSource) -> float:
    """Measure the task's scopes; return the first step's loss, or the last loss of a whole run."""
    if process.case.scope == "run":
        return whole_run.measured_run(process, target, inputs)
    if process.case.scope == "learning":
        return whole_run.measured_learning(process, target, owner)
    if process.case.scope == "epoch":
        from suite.data import pipeline

        return epoch.measured_epoch(process, target, inputs, owner, pipeline.batches)
    if process.case.scope == "serve":
        return serving.measured_serving(process, target, inputs)
    if process.case.scope == "kernels":
        return kernels.measured_kernels(process, target, inputs, load.profiler(process.case))
    return steady.measured_steps(process, target, inputs)


def loader(case: Case) -> tuple[BatchSource, epoch.Open, dict[str, str]]:
    """Import an implementation's input pipeline; return the batch source, its `open`, and the packages' versions."""
    variants.require(case)
    if case.implementation == "torch":
        from suite import controls
        from suite.controls import _loader

        return controls.load(case.workload), _loader.batches, versions("torch", "numpy", "opencv-python-headless")
    from suite import models
    from suite.data import pipeline

    return models.load(case.workload), pipeline.batches, versions("grain", "numpy", "opencv-python-headless")


def program(case: Case) -> tuple[Program, BatchSource]:
    """Import the implementation; return its program for the case, with its other hosts, and the batch source."""
    if case.hosts == 1:
        return load.of_this_host(case)
    from suite.multihost import hosts

    others = hosts.gathered(case, os.environ[hosts.ADDRESS])
    mine, owner = load.of_this_host(case)
    return cast(Program, hosts.MultihostProgram(mine, others)), owner


if __name__ == "__main__":
    main()

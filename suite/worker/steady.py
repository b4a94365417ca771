"""Steps of a program: the cold first one, the steady state, and a sustained window that counts energy."""

import dataclasses
from functools import partial

from msgspec.structs import replace

from suite import units
from suite.data.batches import Batch
from suite.results.records.run import Run, Sample
from suite.scopes import SCOPES, Scope
from suite.worker import doubling
from suite.worker.recorder import Process
from suite.worker_api import clock
from suite.worker_api.program import Graphed, HostFed, Program

LATER_CALLS = 3  # after the first, in scope `calls`


class TooLongError(Exception):
    """The case is skipped: its first step took longer than the experiment allows."""


def started(process: Process, target: Program, inputs: list[Batch]) -> Sample:
    """Run a program up to the end of its first step; return the time since initialisation: a cold start.

    A CUDA graph that lacks kernels is then made again for what follows, whose steps take up to 6 % less time. Raises
    TooLongError if the first step took longer than the task allows.
    """

    def initialise() -> None:
        target.initialise(process.task.seed)
        target.put(inputs)
        target.block()

    process.stage("init", initialise)
    cold = [process.stage("lower", target.lower), process.stage("compile", target.compile)]
    cold.append(process.stage("first_step", lambda: run_and_block(target, target.steps_per_call)))
    took, longest = cold[-1].wall_seconds / target.steps_per_call, process.task.longest_step_seconds
    if longest is not None and took > longest:
        raise TooLongError(
            f"skipped: its first step took {units.seconds(took)}, what takes more than {units.seconds(longest)} is "
            "left out"
        )
    goes_on = not all(SCOPES[case.scope].compiles for case in process.task.cases)
    if goes_on and isinstance(target, Graphed) and target.lacks_kernels():
        process.stage("recompile", target.compile)
    wall, process_seconds = sum(part.wall_seconds for part in cold), sum(part.process_seconds for part in cold)
    return Sample(wall_seconds=wall, process_seconds=process_seconds)


def measured_steps(process: Process, target: Program, inputs: list[Batch]) -> float:
    """Measure all of the task's scopes that consist of steps; return the first step's loss.

    Raises LookupError if the implementation lacks scope `transfer`.
    """
    scopes = {case.scope for case in process.task.cases}
    cold = started(process, target, inputs)
    first_loss = target.loss()
    process.task = replace(process.task, plan=_plan_that_fits(process, target, len(scopes)))
    if "cold" in scopes:
        process.runs["cold"] = process.run(samples=(cold,))
    if "calls" in scopes:
        steps = target.steps_per_call

        def call() -> Sample:
            return clock.timed(lambda: run_and_block(target, steps), process.clocks)

        second, *later = process.result("calls", lambda: [call() for _ in range(LATER_CALLS)])
        process.runs["calls"] = process.run(warmup=(cold, second), samples=tuple(later), steps_per_sample=steps)
    if "step" in scopes:
        process.runs["step"] = steady_state(process, lambda steps: run_and_block(target, steps), target)
    if "written" in scopes:
        process.runs["written"] = steady_state(process, partial(run_and_block, target), target, "written")
    if "transfer" in scopes:
        if not isinstance(target, HostFed):
            raise LookupError(f"scope 'transfer' asked for, {type(target).__name__} does not support it")
        feed = target.feed

        def fed(steps: int) -> None:
            feed(steps)
            target.block()

        known = process.runs["step"].steps_per_sample if "step" in scopes else None
        process.runs["transfer"] = steady_state(process, fed, target, "transfer", known)
    return first_loss


def _plan_that_fits(process: Process, target: Program, scopes: int) -> clock.Plan:
    """Return the task's plan, or the shortest honest one if steps are too long for the time left.

    The first step may include compilation, so a second step decides.
    """

    asked = process.task.plan

    def fitting(wall_seconds: float) -> clock.Plan:
        return clock.fitting(asked, wall_seconds / target.steps_per_call, scopes, process.seconds_left())

    plan = fitting(process.stages["first_step"].wall_seconds)
    if plan is asked or any(case.scope == "calls" for case in process.task.cases):  # times it itself
        return plan
    return fitting(process.stage("second_step", lambda: run_and_block(target, target.steps_per_call)).wall_seconds)


def run_and_block(target: Program, steps: int) -> None:
    """Take dependent steps; return when their outputs are ready."""
    target.chain(steps)
    target.block()


def steady_state(
    process: Process, run: clock.Chain, target: Program, scope: Scope = "step", known: int | None = None
) -> Run:
    """Return the run with warm-up, doubling ratio, blocking samples and counters; stream its samples.

    With K `known` from another scope of the same warm program, skip calibration and the doubling check.
    """
    plan, clocks = process.task.plan, process.clocks
    call, ratio, alone = target.steps_per_call, None, ()
    if known is None:
        steps, warm = process.result("warmup", lambda: clock.calibrate(run, plan, clocks, call))
        lasted = min(sample.wall_seconds for sample in warm[-3:])  # not one delayed sample
        steps, ratio = process.result("doubling", lambda: doubling.proportional(run, steps, clocks, lasted, call))
    else:
        steps = known
        warm_already = dataclasses.replace(plan, warmup_least_seconds=0.0)
        warm = process.result("warmup", lambda: clock.warmup(run, known, warm_already, clocks))
    if scope == "step" and steps > call == 1:
        alone = process.result("alone", lambda: clock.blocking_samples(run, call, plan, clocks))
    seen = process.streamed(scope, run, steps, plan, target.compilations)
    return replace(seen, blocking_samples=alone, doubling_ratio=ratio, warmup=warm)


def sustained(process: Process, target: Program) -> float | None:
    """Sustain the step while its energy is counted; return the seconds of a step, None if nothing counts energy."""
    seconds, seen = process.task.energy_seconds, process.runs.get("step")
    if seen is None or seconds <= 0:
        return None
    chain, steps = partial(run_and_block, target), seen.steps_per_sample
    return process.result("energy", lambda: clock.sustained(chain, steps, seconds, process.clocks))

"""Collects the output of one child process for its cases, line by line, with a time limit for each stage."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from suite import __version__
from suite.case import Case
from suite.driver.campaign import ProcessGroup, stamp
from suite.driver.forecast import Deadline, OutOfTimeError
from suite.driver.journal import CompletedRun
from suite.processes import children
from suite.results.records.machine import Software
from suite.results.records.run import ReferenceKernel, Run, Sample, Stage
from suite.results.single.validity import NOT_FINITE
from suite.scopes import SCOPES
from suite.system import boot_id
from suite.telemetry.windows import TelemetryWindows
from suite.worker_api.clock import Clock
from suite.worker_api.protocol import Message, Task, WorkerReport

_OF_TIMEOUT = {
    60.0: "collect facts",
    120.0: "start",
    180.0: "import",
    300.0: "init first_batch",
    600.0: "data lower first_step second_step calls doubling alone blocking predictions leftover energy",
    1200.0: "compile recompile compile_rest warmup validation learning audit profiling",
    1800.0: "samples transfer_samples written_samples epoch_samples input_samples serve_samples",
    3600.0: "epoch",
}
STAGE_TIMEOUT_SECONDS = {stage: seconds for seconds, stages in _OF_TIMEOUT.items() for stage in stages.split()}

# Fields of a run that the parent sets; they override the worker's.
_PARENTS = (
    *("round", "position", "seed", "started", "reason", "stages", "host", "kernel"),
    *("telemetry", "energy", "elapsed_seconds"),
)

Worker = Callable[[ProcessGroup], AbstractContextManager[children.Child]]


@dataclass
class SampleStream:
    """The samples of a stage, when it began, and when the last one arrived, in seconds of this process's clock."""

    began: float
    ended: float
    samples: list[Sample] = field(default_factory=list)


def _patience(task: Task, stage: str) -> float:
    """Return for how many seconds a stage may be silent."""
    limit = STAGE_TIMEOUT_SECONDS[stage]
    return min(limit, task.longest_call_seconds or limit) if stage == "first_step" else limit


def run_child(
    task: Task,
    number: int,
    position: int,
    entered: Callable[[str], object],
    start: Worker,
    telemetry: TelemetryWindows | None = None,
    clocks: Clock | None = None,
    wait: Callable[[], object] = lambda: None,
    deadline: Deadline | None = None,
    kernel: Callable[[], ReferenceKernel] | None = None,
) -> Iterator[CompletedRun]:
    """Run one child to its end and yield its completed run for each of its cases; samples are stamped on arrival.

    `entered` is called with each stage. The stages of the record cover the child's whole life by this process's clock:
    `start` until its first message, `end` after its last, `other` for time outside stages. The child's interpreter
    starts while this process runs `wait`, of any length (stage `quiet`), and the reference `kernel`, which may fail
    (stage `kernel`); then it receives its task. Raises OutOfTimeError, after ending the child, if the deadline is
    overrun.
    """
    clocks, deadline = clocks or Clock(), deadline or Deadline()
    started, forked = stamp(datetime.now(UTC)), clocks.wall()
    stages: list[Stage] = []
    last_message: float | None = None  # when it arrived
    streams: dict[str, SampleStream] = {}
    facts: WorkerReport | None = None
    reason, stage = "", "start"
    with start(task.cases) as child:
        if telemetry is not None:
            telemetry.follow(child.pid)
        began = clocks.wall()
        wait()
        waited = clocks.wall() - began
        reached, kernel_seconds = host_speed_by(kernel, entered, clocks)
        child.tell(msgspec.json.encode(task))
        try:
            while (raw := child.line(min(_patience(task, stage), deadline.until_overrun))) is not None:
                at, line = child.heard, msgspec.json.decode(raw, type=Message)
                if last_message is None:
                    stages.append(_outside("quiet", waited))
                    stages += [_outside("kernel", kernel_seconds)] if kernel else []
                    stages.append(_outside("start", at - forked - waited - kernel_seconds))
                last_message = at
                if telemetry is not None:
                    telemetry.hears(line)
                facts, reason = line.report or facts, line.reason or reason
                if line.stage_time is not None:
                    stages.append(line.stage_time)
                elif line.sample is not None:
                    stream = streams.setdefault(line.stage, SampleStream(began=at, ended=at))
                    stream.samples.append(line.sample)
                    stream.ended = at
                elif line.stage in STAGE_TIMEOUT_SECONDS:
                    stage = line.stage
                    streams[stage] = SampleStream(began=at, ended=at)
                    entered(stage)
                if facts is not None or reason:
                    break  # the report is complete; a process that hangs at exit is killed
            if not reason and facts is None:
                reason = f"the worker {child.ended()}, in stage '{stage}'"
        except TimeoutError:
            if not deadline.until_overrun:
                raise OutOfTimeError from None
            silent = f"{_patience(task, stage):.0f} s in stage '{stage}'"
            reason = f"no word from the worker for {silent}; it was ended"
        except ValueError as error:
            reason = f"the worker's output was not understood in stage '{stage}': {error}"
    ended = clocks.wall()
    if last_message is not None:
        stages.append(_outside("end", ended - last_message))
    stages.append(_outside("other", ended - forked - sum(stage.wall_seconds for stage in stages)))
    run = Run(
        round=number,
        position=position,
        seed=task.seed,
        started=started,
        reason=reason,
        stages=tuple(stages),
        host=boot_id.host(),
        kernel=reached,
    )
    if facts is None or reason:
        software = Software(suite=__version__, python="", packages={}, settings={})
        yield from (CompletedRun(case=case, software=software, run=run) for case in task.cases)
        return
    for case in task.cases:
        completed_run = completed(run, case, facts, streams.get(SCOPES[case.scope].samples_stage))
        if telemetry is not None:
            completed_run = telemetry.added(completed_run, case, facts)
        yield CompletedRun(case=case, software=facts.software, run=completed_run)


def host_speed_by(
    kernel: Callable[[], ReferenceKernel] | None, entered: Callable[[str], object], clocks: Clock
) -> tuple[ReferenceKernel | None, float]:
    """Return the reference kernels' rates and how long they took, in seconds; None, after a message, if they failed."""
    if kernel is None:
        return None, 0.0
    entered("kernel")
    began, reached = clocks.wall(), None
    try:
        reached = kernel()
    except RuntimeError as error:
        entered(f"no reference kernel: {error}")
    return reached, clocks.wall() - began


def _outside(name: str, seconds: float) -> Stage:
    """Return a stage that only the parent timed, at least 0 s: two clocks may differ by more than it took."""
    return Stage(name=name, wall_seconds=max(0.0, seconds), process_seconds=None)


def completed(own: Run, case: Case, facts: WorkerReport, stream: SampleStream | None) -> Run:
    """Return the worker's run of the case's scope, completed with the parent's fields from its `own` run."""
    if case.scope not in facts.runs:
        return msgspec.structs.replace(own, reason=f"the worker said nothing of scope '{case.scope}'")
    run = facts.runs[case.scope]
    run = msgspec.structs.replace(run, **{name: getattr(own, name) for name in _PARENTS})
    if stream is not None:
        elapsed = stream.ended - stream.began
        run = msgspec.structs.replace(run, samples=tuple(stream.samples), elapsed_seconds=elapsed)
    if reason := failure_reason(case, run):
        return msgspec.structs.replace(run, reason=reason)
    if any(sample.wall_seconds <= 0 for sample in (*run.warmup, *run.samples)):
        return msgspec.structs.replace(run, samples=(), reason="the clock stood still or went backwards; run again")
    return run


def failure_reason(case: Case, run: Run) -> str:
    """Return why a process that ended without error has no result for the case; '' if it has one."""
    if SCOPES[case.scope].computes and (run.first_loss is None or run.last_loss is None):
        return NOT_FINITE
    if case.cache == "warm" and not run.cache_hits:
        return "nothing came from the compile cache: this jaxlib could not store the program"
    return ""

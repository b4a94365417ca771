"""The jobs of a plan: what each does on its node, and the supervisor, which resubmits lost ones with their results."""

import platform
import shlex
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from suite import units
from suite.child_imports import child_imports
from suite.cluster.plan import Cluster, Place, Plan, SubmittedJob
from suite.console import terminal
from suite.driver import runner
from suite.driver.journal import FILE_NAME, Journal
from suite.sessions import bench, resuming
from suite.system import software

ATTEMPTS = 3  # submissions of one part
_MINUTES = 240  # time limit of a job without a time option
_POLL_SECONDS: dict[Cluster, float] = {"slurm": 15, "local": 0.5}
_STOP_SECONDS = 10.0  # for cancelled jobs to end
_INTERRUPTED: dict[Cluster, str] = {
    "slurm": "the cluster's jobs continue without it: supervise them with",
    "local": "its jobs are stopped: resume with",
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a job: its campaign, and the node that ran it."""

    campaign: str
    node: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """One job; it is pickled, sent to its node and called there."""

    folder: Path  # of the plan
    out: Path
    number: int

    def __call__(self) -> Outcome:
        """Measure what this part lacks.

        Raises RuntimeError if this node's software differs from the planning machine's.
        """
        place = Place(self.folder)
        plan = place.read()
        place.node(self.number).write_text(platform.node())
        if differs := software.differences(plan.software, software.here()):
            resume = resuming.resume_words(self.out, f"run --cluster {plan.cluster}")
            raise RuntimeError(
                f"node '{platform.node()}' has other software than the machine that planned the campaign: {differs}; "
                f"install the same on all nodes, then {resume}"
            )
        journal = self._resumed(place)
        if journal is None:
            journal = bench.planned(plan.of(self.number), self.out, plan.machine_name, self.number + 1)
            place.campaign(self.number).write_text(journal.path.parent.name)
            with bench.kept_if_begun(journal):
                self._measure(journal)
        elif not resuming.has_ended(journal):
            self._measure(journal)
        return Outcome(campaign=journal.path.parent.name, node=platform.node())

    def checkpoint(self) -> Any:
        """Return the same job, for a cluster that preempts it and requeues it on another node."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)

    def _measure(self, journal: Journal) -> None:
        if bench.measure(journal, self.out) == "interrupted":
            raise KeyboardInterrupt

    def _resumed(self, place: Place) -> Journal | None:
        """Return the journal of this part's campaign; None if it has none that can be resumed here."""
        remembered = place.campaign(self.number)
        journal = Journal(self.out / remembered.read_text() / FILE_NAME) if remembered.exists() else None
        if journal is None or not journal.path.exists():  # it was refused, and so removed
            return None
        try:
            if not resuming.has_ended(journal):
                resuming.check_resumable_here(journal)
            return journal
        except RuntimeError as error:
            terminal.say(f"note: {error}")
            runner.forget_compiled(journal)
            return None


def executor(cluster: Cluster, folder: Path, options: dict[str, str]) -> Any:
    """Return the executor that submits jobs.

    Raises RuntimeError if submitit or Slurm is missing.
    """
    try:
        import submitit
    except ImportError:
        raise RuntimeError(
            f"--cluster {cluster} asked for, but submitit is not installed; install the suite with its extra 'cluster'"
        ) from None
    minutes = int(options.get("time", _MINUTES))
    if cluster == "local":
        from suite.cluster.local import DetachedExecutor

        jobs = DetachedExecutor(folder)
        jobs.update_parameters(timeout_min=minutes)
        return jobs
    try:
        jobs = submitit.SlurmExecutor(folder)
    except RuntimeError as error:
        raise RuntimeError(
            f"--cluster slurm asked for, but there is no Slurm here ({error}); run this where sbatch and srun are, or "
            "try it with --cluster local"
        ) from None
    more = {name: value for name, value in options.items() if name != "time"}
    # On a shared node a job would measure its neighbours' load.
    jobs.update_parameters(job_name="gpu-speedup-suite", time=minutes, exclusive=True, additional_parameters=more)
    jobs.update_parameters(setup=[f"export {name}={shlex.quote(value)}" for name, value in child_imports().items()])
    return jobs


def watched(
    place: Place, out: Path, start: Callable[[Cluster, Path, dict[str, str]], Any] = executor
) -> dict[int, Outcome | str]:
    """Run a plan to its end; return each part's outcome, or why it failed. Lost jobs are resubmitted.

    An interrupt prints how to resume, and stops jobs on this machine.
    """
    plan = place.read()
    jobs = start(plan.cluster, place.logs, plan.options)
    at_once = 1 if plan.cluster == "local" else len(plan.parts)
    running = reconnected(plan, place, jobs)
    waiting = deque(part for part in range(len(plan.parts)) if part not in running)
    sent, outcomes = Counter(), dict[int, Outcome | str]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                part = waiting.popleft()
                sent[part] += 1
                running[part] = submit(place, out, jobs, part)
            for part in [part for part, job in running.items() if job.done()]:
                answer = left_by(running.pop(part))
                if answer is None and sent[part] < ATTEMPTS:
                    terminal.say(f"job {part + 1} was lost; it is submitted again and resumes its campaign")
                    waiting.append(part)
                    continue
                left = answer or f"was lost {sent[part]} times in a row"
                terminal.say(f"job {part + 1}: {_report(left, outcomes)}")
                outcomes[part] = left
            time.sleep(_POLL_SECONDS[plan.cluster])
    except KeyboardInterrupt:
        if plan.cluster == "local":
            stop(tuple(running.values()))
        words = resuming.resume_words(out, f"run --cluster {plan.cluster}")
        terminal.say(f"interrupted; {_INTERRUPTED[plan.cluster]} {words}")
        raise
    place.write(
        msgspec.structs.replace(place.read(), ended=all(isinstance(each, Outcome) for each in outcomes.values()))
    )
    return outcomes


def _report(left: Outcome | str, before: dict[int, Outcome | str]) -> str:
    """Return the message for a finished job; a reason that another job had is not repeated."""
    if isinstance(left, Outcome):
        return f"done on {left.node}"
    same = next((part for part, other in before.items() if other == left), None)
    return left if same is None else f"failed as job {same + 1} did"


def stop(running: Sequence[Any]) -> None:
    """Cancel jobs and wait until they have ended, at most _STOP_SECONDS."""
    for job in running:
        job.cancel()
    end = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < end and not all(job.done() for job in running):
        time.sleep(0.05)


def submit(place: Place, out: Path, jobs: Any, part: int) -> Any:
    """Submit a part's job, store its identifier, and return it."""
    plan = place.read()
    job = jobs.submit(Part(folder=place.folder, out=out.absolute(), number=part))
    place.write(msgspec.structs.replace(plan, sent=(*plan.sent, SubmittedJob(part=part, job=str(job.job_id)))))
    terminal.say(
        f"job {part + 1} of {len(plan.parts)} is {plan.cluster} job {job.job_id}: {', '.join(plan.parts[part])}"
    )
    return job


def reconnected(plan: Plan, place: Place, jobs: Any) -> dict[int, Any]:
    """Return the newest submitted job of each part, except those that ended with an error."""
    newest = {each.part: jobs.job_class(folder=place.logs, job_id=each.job) for each in plan.sent}
    return {part: job for part, job in newest.items() if not (job.done() and isinstance(left_by(job), str))}


def left_by(job: Any) -> Outcome | str | None:
    """Return a finished job's outcome, the error that it ended with, or None if it was lost."""
    from submitit.core.utils import FailedJobError, UncompletedJobError

    try:
        return job.result()
    except FailedJobError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        errors = [line for line in lines if line.partition(":")[0].endswith(("Error", "Interrupt", "Exception"))]
        return errors[-1] if errors else "ended with an error; see its log"
    except UncompletedJobError:
        return None


def table(place: Place, outcomes: dict[int, Outcome | str]) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
    """Return title, columns and rows: each job's workloads, submissions, node, and campaign or 'failed'."""
    plan = place.read()
    times = Counter(each.part for each in plan.sent)
    rows = [
        (
            units.count(part + 1),
            ", ".join(plan.parts[part]),
            units.count(times[part]),
            *((left.node, left.campaign) if isinstance(left, Outcome) else (place.last_node(part), "failed")),
        )
        for part, left in sorted(outcomes.items())
    ]
    return "jobs", ("job", "workloads", "sent", "node", "campaign"), rows

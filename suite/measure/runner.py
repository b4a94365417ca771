"""The parent: rounds of child processes in random order, with limits, a journal and no orphans. Never imports jax."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from suite import __version__
from suite.measure import children, load, profiles
from suite.measure.campaign import Unit, order, stamp, units
from suite.measure.protocol import Facts, Line, Task
from suite.results.journal import Done, Header, Journal
from suite.results.record import Run, Sample, Software, Stage
from suite.workload import Case

LIMIT_SECONDS = {
    "start": 120.0,
    "import": 180.0,
    "data": 600.0,
    "init": 300.0,
    "lower": 600.0,
    "compile": 1200.0,
    "first_step": 600.0,
    "warmup": 1200.0,
    "samples": 1800.0,
}
_COLD_STAGES = ("lower", "compile", "first_step")
_BUSY_SHARE = 0.1  # of the granted cores, used by others

Worker = Callable[[Unit], AbstractContextManager[children.Child]]


class Watch(Protocol):
    """Somebody who is told how a campaign goes on."""

    def begins(self, number: int, unit: Unit) -> None:
        """A process starts in that round."""

    def stage(self, name: str) -> None:
        """The process entered a stage."""

    def ends(self, unit: Unit, done: tuple[Done, ...]) -> None:
        """The process ended; `done` went into the journal."""


def worker(unit: Unit, cache: Path) -> AbstractContextManager[children.Child]:
    """Start the real worker for a unit.

    What a GPU's worker compiles goes into the cache and comes from there in later rounds, unless its compile time
    counts; the CPU's compiles in seconds.
    """
    case = unit[0]
    cold = any(case.scope == "cold" for case in unit)
    return children.child(
        "suite.measure.worker",
        python=children.interpreter(case.implementation),
        env=children.environment(case.backend, case.allocator, None if cold or case.backend == "cpu" else cache),
    )


def run(header: Header, journal: Journal, watch: Watch, start: Worker | None = None) -> None:
    """Measure everything the campaign planned and its journal lacks.

    A unit that failed is not tried again: its record says why. The compile cache lies beside the journal until the end.
    """
    cache = journal.path.parent / "compile-cache"
    start = start or partial(worker, cache=cache)
    done = journal.done()
    failed = {entry.case for entry in done if entry.run.reason}
    finished = {(entry.case, entry.run.round) for entry in done}
    about = {description.name: description for description in header.descriptions}
    for number in range(header.rounds):
        for position, unit in enumerate(order(units(header.cases), header.seed, number)):
            if all((case, number) in finished for case in unit) or not failed.isdisjoint(unit):
                continue
            watch.begins(number, unit)
            wait_until_quiet(header, watch)
            task = Task(
                cases=unit,
                dataset=about[unit[0].workload].dataset,
                seed=header.seed + number,
                plan=profiles.plan(header.profile, unit[0].backend),
            )
            entries = tuple(process(task, number, position, watch, start))
            journal.append(*entries)
            failed |= {entry.case for entry in entries if entry.run.reason}
            watch.ends(unit, entries)
    shutil.rmtree(cache, ignore_errors=True)


def wait_until_quiet(header: Header, watch: Watch, others: Callable[[], float] = load.others_now) -> None:
    """Return when other processes leave the machine alone, or when the profile's patience ends."""
    patience = profiles.EFFORTS[header.profile].quiet_seconds
    watched = 0.0
    while watched < patience and others() > _BUSY_SHARE * header.machine.cores:
        watch.stage("waiting for other load to end")
        watched += 1.0


def process(task: Task, number: int, position: int, watch: Watch, start: Worker) -> Iterator[Done]:
    """Run one child to its end and yield its contribution to each of its cases."""
    started = stamp(datetime.now(UTC))
    stages: list[Stage] = []
    facts: Facts | None = None
    reason, stage = "", "start"
    with start(task.cases) as child:
        child.tell(msgspec.json.encode(task))
        try:
            while (raw := child.line(LIMIT_SECONDS[stage])) is not None:
                line = msgspec.json.decode(raw, type=Line)
                facts, reason = line.facts or facts, line.reason or reason
                if line.seen is not None:
                    stages.append(line.seen)
                elif line.stage in LIMIT_SECONDS:
                    stage = line.stage
                    watch.stage(stage)
                if facts is not None or reason:
                    break  # it has said all; a process that cannot end is ended
            if not reason and facts is None:
                reason = f"the worker {child.ended()}, in stage '{stage}'"
        except TimeoutError:
            reason = f"no word from the worker for {LIMIT_SECONDS[stage]:.0f} s in stage '{stage}'; it was ended"
        except ValueError as error:
            reason = f"the worker's output was not understood in stage '{stage}': {error}"
    run = Run(round=number, position=position, seed=task.seed, started=started, reason=reason, stages=tuple(stages))
    if facts is None or reason:
        software = Software(suite=__version__, python="", packages={}, settings={})
        yield from (Done(case=case, software=software, run=run) for case in task.cases)
        return
    software = Software(suite=__version__, python=facts.python, packages=facts.packages, settings=facts.settings)
    for case in task.cases:
        yield Done(case=case, software=software, run=completed(run, case, facts))


def completed(run: Run, case: Case, facts: Facts) -> Run:
    """Return the run with what the worker saw for the case's scope."""
    run = msgspec.structs.replace(
        run,
        first_loss=facts.first_loss,
        last_loss=facts.last_loss,
        input_digest=facts.input_digest,
        peak_memory_bytes=facts.peak_memory_bytes,
        device_memory_bytes=facts.device_memory_bytes,
        reason="" if facts.first_loss is not None and facts.last_loss is not None else "the loss is not finite",
    )
    if case.scope == "step" and facts.steady is not None:
        seen = (sample.wall_seconds for sample in (*facts.steady.warmup, *facts.steady.samples))
        if min(seen, default=0.0) <= 0:
            return msgspec.structs.replace(run, reason="the clock stood still or went backwards; run again")
        return msgspec.structs.replace(run, **msgspec.structs.asdict(facts.steady))
    parts = [stage for stage in run.stages if stage.name in _COLD_STAGES]
    whole = Sample(
        wall_seconds=sum(part.wall_seconds for part in parts),
        process_seconds=sum(part.process_seconds for part in parts),
    )
    return msgspec.structs.replace(run, samples=(whole,), steps_per_sample=1)

"""The parent: rounds of child processes in random order, with limits, a journal and no orphans. Never imports jax."""

import shutil
from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from suite import __version__, experiments
from suite.measure import children, load, profiles
from suite.measure.beside import ENERGY_SECONDS, Beside
from suite.measure.campaign import Unit, compiles_anew, order, stamp
from suite.measure.protocol import STREAMED, Facts, Line, Task
from suite.measure.widening import Question, question, whole_rounds, widened
from suite.results.journal import Done, Header, Journal, Rounds
from suite.results.record import Run, Sample, Software, Stage
from suite.results.validity import NOT_FINITE
from suite.workload import Case, Family

LIMIT_SECONDS = {
    "start": 120.0,
    "import": 180.0,
    "data": 600.0,
    "init": 300.0,
    "lower": 600.0,
    "compile": 1200.0,
    "compile_rest": 1200.0,
    "first_step": 600.0,
    "warmup": 1200.0,
    "samples": 1800.0,
    "transfer_samples": 1800.0,
    "first_batch": 300.0,
    "epoch_samples": 1800.0,
    "input_samples": 1800.0,
    "serve_samples": 1800.0,
    "epoch": 3600.0,
    "validation": 1200.0,
    "learning": 1200.0,
    "energy": 600.0,
    "audit": 1200.0,
}
_BUSY_SHARE = 0.1  # of the granted cores, used by others
_LOOK_SECONDS = 0.3  # before each process; the kernel counts in hundredths, and each result says what load it had

_FILLED = "filled"  # marks a warm cache that is whole

Worker = Callable[[Unit], AbstractContextManager[children.Child]]


class Watch(Protocol):
    """Somebody who is told how a campaign goes on."""

    def begins(self, number: int, unit: Unit) -> None:
        """A process starts in that round."""

    def grows(self, header: Header) -> None:
        """The plan has further rounds, or lost some that failed."""

    def stage(self, name: str) -> None:
        """The process entered a stage."""

    def ends(self, unit: Unit, done: tuple[Done, ...]) -> None:
        """The process ended; `done` went into the journal."""


def worker(
    unit: Unit, cache: Path, shared: Path, in_parts: Container[str] = ()
) -> AbstractContextManager[children.Child]:
    """Start the real worker for a unit.

    What a GPU's worker compiles goes into the shared cache and comes from there in later rounds, unless its compile
    time counts; the CPU's compiles in seconds. A start with a warm cache has one for itself, in `cache`. Python's
    bytecode is shared by all. The workloads `in_parts` split one step over threads that allocate.
    """
    case = unit[0]
    alone = compiles_anew(unit) or case.backend == "cpu"
    found = warm_cache(case, cache) if case.cache == "warm" else None if alone else shared
    return children.child(
        "suite.measure.worker",
        python=children.interpreter(case.implementation),
        env=children.environment(case.backend, case.allocator, found, one_arena=case.workload not in in_parts)
        | children.bytecode(shared / "bytecode"),
    )


def warm_cache(case: Case, cache: Path) -> Path:
    """Return the folder of the compile cache that is kept for this case alone."""
    return cache / f"warm-{case.text(0).replace('/', '.')}"


def run(
    header: Header,
    journal: Journal,
    watch: Watch,
    start: Worker | None = None,
    beside: Beside | None = None,
    kept: Path | None = None,
) -> None:
    """Measure everything the campaign planned and its journal lacks, and further rounds of what stays uncertain.

    A unit that failed is not tried again: its record says why. One that failed in a further round leaves its question
    with the rounds before that one. The compile cache stays until `forget_compiled`, that which all processes share in
    the folder `kept` for good if there is one. `beside` watches the machine meanwhile, first while nothing runs if
    energy is to be counted.
    """
    cache = compile_cache(journal)
    in_parts = frozenset(about.name for about in header.descriptions if about.family == "trees")
    start = start or partial(worker, cache=cache, shared=kept or cache, in_parts=in_parts)
    planned, settled = journal.planned(), set[Question]()
    while True:
        _measure(header, journal, watch, start, beside, cache)
        whole = whole_rounds(header, planned, journal.done())
        if spoilt := {question(case) for case in header.cases if whole.rounds_of(case) < header.rounds_of(case)}:
            header, settled = _replanned(whole, journal, watch), settled | spoilt
        wider = widened(header, journal.done(), but=settled)
        if wider is None:
            break
        header = _replanned(wider, journal, watch)


def compile_cache(journal: Journal) -> Path:
    """Return the folder beside a campaign's journal that keeps what it compiles."""
    return journal.path.parent / "compile-cache"


def forget_compiled(journal: Journal) -> None:
    """Remove what a campaign that does not go on has compiled."""
    shutil.rmtree(compile_cache(journal), ignore_errors=True)


def _replanned(header: Header, journal: Journal, watch: Watch) -> Header:
    """Return the plan, whose rounds are others from here on, when it is noted and told."""
    journal.append(Rounds(case_rounds=header.case_rounds))
    watch.grows(header)
    return header


def _measure(header: Header, journal: Journal, watch: Watch, start: Worker, beside: Beside | None, cache: Path) -> None:
    """Measure what the journal lacks of the plan as it is."""
    done = journal.done()
    failed = {entry.case for entry in done if entry.run.reason}
    finished = {(entry.case, entry.run.round) for entry in done}
    about = {description.name: description for description in header.descriptions}
    for number in range(header.rounds):
        for position, unit in enumerate(order(header, number)):
            done_already = all((case, number) in finished for case in unit)
            if done_already or not failed.isdisjoint(unit) or number >= header.rounds_of(unit[0]):
                continue
            watch.begins(number, unit)
            wait_until_quiet(header, watch)
            energy = beside is not None and header.energy and beside.counts(unit, header.profile, number)
            if beside is not None and energy and not beside.rested:
                watch.stage("idle power")
                beside.rest()
            task = Task(
                cases=unit,
                dataset=about[unit[0].workload].dataset,
                seed=seed(header, unit[0], number, about[unit[0].workload].family),
                plan=profiles.plan(header.profile, unit[0].backend),
                flow=profiles.flow(header.profile),
                size=profiles.size(header.profile, unit[0].scope),
                run=profiles.whole_run(header.profile, about[unit[0].workload].run, unit[0].length),
                most_steps=profiles.EFFORTS[header.profile].learning_steps,
                replay=number == 0,
                longest_step_seconds=experiments.longest_step_seconds(header.experiment),
                energy_seconds=ENERGY_SECONDS if energy else 0.0,
            )
            fill(task, cache, watch, start)
            entries = tuple(process(task, number, position, watch, start, beside))
            journal.append(*entries)
            failed |= {entry.case for entry in entries if entry.run.reason}
            watch.ends(unit, entries)


def seed(header: Header, case: Case, number: int, family: Family) -> int:
    """Return the seed of a case's processes in a round: another in each, but one for all whose programs are to be one.

    An inference's weights are constants of its program, and what was compiled for other weights is another program:
    starts with a warm cache find none, and a GPU's kernels would be compiled and chosen anew in each round.
    """
    return header.seed if case.cache == "warm" or family == "inference" else header.seed + number


def fill(task: Task, cache: Path, watch: Watch, start: Worker) -> None:
    """Fill the compile cache of a case that starts with a warm one, by a process whose times nobody keeps."""
    case = task.cases[0]
    place = warm_cache(case, cache)
    if case.cache == "warm" and not (place / _FILLED).exists():
        shutil.rmtree(place, ignore_errors=True)
        watch.stage("filling the compile cache")
        list(process(task, 0, 0, watch, start))
        place.mkdir(parents=True, exist_ok=True)
        (place / _FILLED).touch()


def wait_until_quiet(header: Header, watch: Watch, others: Callable[[float], float] = load.others_now) -> None:
    """Return when other processes leave the machine alone, or when the profile's patience ends."""
    patience = profiles.EFFORTS[header.profile].quiet_seconds
    watched = 0.0
    while watched < patience and others(_LOOK_SECONDS) > _BUSY_SHARE * header.machine.cores:
        watch.stage("waiting for other load to end")
        watched += _LOOK_SECONDS


@dataclass
class Stream:
    """Samples as they came, and when by this process's clock the first began and the last had come."""

    began: float
    ended: float
    samples: list[Sample] = field(default_factory=list)


def process(
    task: Task,
    number: int,
    position: int,
    watch: Watch,
    start: Worker,
    beside: Beside | None = None,
) -> Iterator[Done]:
    """Run one child to its end and yield its contribution to each of its cases; samples are stamped as they come."""
    started = stamp(datetime.now(UTC))
    stages: list[Stage] = []
    streams: dict[str, Stream] = {}
    facts: Facts | None = None
    reason, stage = "", "start"
    with start(task.cases) as child:
        if beside is not None:
            beside.follow(child.pid)
        child.tell(msgspec.json.encode(task))
        try:
            while (raw := child.line(LIMIT_SECONDS[stage])) is not None:
                at, line = child.heard, msgspec.json.decode(raw, type=Line)
                if beside is not None:
                    beside.hears(line)
                facts, reason = line.facts or facts, line.reason or reason
                if line.seen is not None:
                    stages.append(line.seen)
                elif line.sample is not None:
                    stream = streams.setdefault(line.stage, Stream(began=at, ended=at))
                    stream.samples.append(line.sample)
                    stream.ended = at
                elif line.stage in LIMIT_SECONDS:
                    stage = line.stage
                    streams[stage] = Stream(began=at, ended=at)
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
        ended = completed(run, case, facts, streams.get(STREAMED.get(case.scope, "")))
        if beside is not None:
            ended = beside.added(ended, case, facts)
        yield Done(case=case, software=software, run=ended)


def completed(run: Run, case: Case, facts: Facts, stream: Stream | None) -> Run:
    """Return the run with what the worker saw for the case's scope, and how long its samples took by our clock."""
    run = msgspec.structs.replace(
        run,
        cache_hits=facts.cache_hits,
        first_loss=facts.first_loss,
        last_loss=facts.last_loss,
        input_digest=facts.input_digest,
        peak_memory_bytes=facts.peak_memory_bytes,
        device_memory_bytes=facts.device_memory_bytes,
        bytes_per_step=facts.bytes_per_step,
        audit=facts.audit,
        reason=trouble(case, facts),
    )
    seen = facts.scopes.get(case.scope)
    if seen is None:
        return run
    run = msgspec.structs.replace(run, **msgspec.structs.asdict(seen))
    if stream is not None:
        elapsed = stream.ended - stream.began
        run = msgspec.structs.replace(run, samples=tuple(stream.samples), elapsed_seconds=elapsed)
    if not run.reason and any(sample.wall_seconds <= 0 for sample in (*run.warmup, *run.samples)):
        return msgspec.structs.replace(run, samples=(), reason="the clock stood still or went backwards; run again")
    return run


def trouble(case: Case, facts: Facts) -> str:
    """Return why a process that ended well has no result for the case; '' if it has one."""
    if case.scope != "input" and (facts.first_loss is None or facts.last_loss is None):
        return NOT_FINITE
    if case.cache == "warm" and not facts.cache_hits:
        return "nothing came from the compile cache: this jaxlib could not store the program"
    return ""

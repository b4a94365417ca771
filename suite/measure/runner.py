"""The parent: rounds of child processes in random order, with limits, a journal and no orphans. Never imports jax."""

import shutil
from collections.abc import Callable, Container
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

from suite import experiments
from suite.measure import children, load, profiles
from suite.measure.beside import ENERGY_SECONDS, Beside
from suite.measure.campaign import Unit, compiles_anew, order
from suite.measure.contribution import Worker, contributions
from suite.measure.protocol import Task
from suite.measure.widening import Question, question, whole_rounds, widened
from suite.results.journal import Done, Header, Journal, Rounds
from suite.workload import Case

_BUSY_SHARE = 0.1  # of the granted cores, used by others
_LOOK_SECONDS = 0.3  # before each process; the kernel counts in hundredths, and each result says what load it had

_FILLED = "filled"  # marks a warm cache that is whole


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
    time counts; the CPU's compiles in seconds. A start with a warm cache has one for itself, in `cache`. The workloads
    `in_parts` split one step over threads that allocate.
    """
    case = unit[0]
    alone = compiles_anew(unit) or case.backend == "cpu"
    found = warm_cache(case, cache) if case.cache == "warm" else None if alone else shared
    return children.child(
        "suite.measure.worker",
        python=children.interpreter(case.implementation),
        env=children.environment(case.backend, case.allocator, found, one_arena=case.workload not in in_parts),
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
            wait = partial(wait_until_quiet, header, watch)
            energy = beside is not None and header.energy and beside.counts(unit, header.profile, number)
            if beside is not None and energy and not beside.rested:
                wait()
                watch.stage("idle power")
                beside.rest()
            task = Task(
                cases=unit,
                dataset=about[unit[0].workload].dataset,
                seed=seed(header, unit[0], number, about[unit[0].workload].trained),
                plan=profiles.plan(header.profile, unit[0].backend),
                flow=profiles.flow(header.profile),
                size=profiles.size(header.profile, unit[0].scope),
                run=profiles.whole_run(header.profile, about[unit[0].workload].run, unit[0].length),
                most_steps=profiles.EFFORTS[header.profile].learning_steps,
                replay=number == 0,
                longest_step_seconds=experiments.longest_step_seconds(header.experiment),
                energy_seconds=ENERGY_SECONDS if energy else 0.0,
            )
            entries = fill(task, number, position, cache, watch, start)
            entries = entries or tuple(contributions(task, number, position, watch.stage, start, beside, wait=wait))
            journal.append(*entries)
            failed |= {entry.case for entry in entries if entry.run.reason}
            watch.ends(unit, entries)


def seed(header: Header, case: Case, number: int, trained: bool) -> int:
    """Return the seed of a case's processes in a round: another in each, but one for all whose programs are to be one.

    An inference's weights are constants of its program, and what was compiled for other weights is another program:
    starts with a warm cache find none, and a GPU's kernels would be compiled and chosen anew in each round.
    """
    return header.seed if case.cache == "warm" or not trained else header.seed + number


def fill(task: Task, number: int, position: int, cache: Path, watch: Watch, start: Worker) -> tuple[Done, ...]:
    """Fill the compile cache of a case that starts with a warm one, by a process whose times nobody keeps.

    Returns what that process came to if it failed, which then is the round's result; nothing otherwise.
    """
    case = task.cases[0]
    place = warm_cache(case, cache)
    if case.cache == "warm" and not (place / _FILLED).exists():
        shutil.rmtree(place, ignore_errors=True)
        watch.stage("filling the compile cache")
        entries = tuple(contributions(task, number, position, watch.stage, start))
        if not all(entry.run.samples for entry in entries):
            return entries
        place.mkdir(parents=True, exist_ok=True)
        (place / _FILLED).touch()
    return ()


def wait_until_quiet(header: Header, watch: Watch, others: Callable[[float], float] = load.others_now) -> None:
    """Return when other processes leave the machine alone, or when the profile's patience ends."""
    patience = profiles.EFFORTS[header.profile].quiet_seconds
    watched = 0.0
    while watched < patience and others(_LOOK_SECONDS) > _BUSY_SHARE * header.machine.cores:
        watch.stage("waiting for other load to end")
        watched += _LOOK_SECONDS

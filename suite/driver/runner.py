"""The parent: rounds of child processes in random order, with limits, a journal and no orphans. Never imports jax."""

import math
import shutil
from collections.abc import Callable, Container
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from suite import experiments
from suite.case import Case
from suite.driver import profiles
from suite.driver.campaign import ProcessGroup, compiles_anew
from suite.driver.collect import Worker, run_child
from suite.driver.deadline import Deadline, OutOfTimeError
from suite.driver.forecast import Forecast
from suite.driver.journal import CompletedRun, Header, Journal, Rounds
from suite.driver.schedule import (
    Question,
    Turn,
    Uncertain,
    by_question,
    next_turn,
    question,
    uncertain,
    whole_rounds,
    with_one_more,
)
from suite.processes import children
from suite.results.records.run import ReferenceKernel
from suite.system import load, software
from suite.telemetry.windows import ENERGY_SECONDS, TelemetryWindows
from suite.worker_api.protocol import Task

_BUSY_SHARE = 0.1  # of the granted cores, used by others
_WAITING_SHARE = 0.1  # of a budget, spent on waiting for other load to end
_LOOK_SECONDS = 0.3  # before each process; the kernel counts in hundredths, and each result says what load it had

_FILLED = "filled"  # marks a warm cache that is whole


Prepare = Callable[[ProcessGroup, Callable[[str, int, int], None]], object]  # told how far it is: what, done, total


class ProgressListener(Protocol):
    """Somebody who is told how a campaign goes on."""

    def begins(self, number: int, group: ProcessGroup) -> None:
        """A process starts in that round."""

    def grows(self, header: Header, why: Uncertain | None) -> None:
        """The plan has a further round of what is most uncertain, or loses one that is not whole."""

    def stage(self, name: str) -> None:
        """The process entered a stage."""

    def ends(self, group: ProcessGroup, done: tuple[CompletedRun, ...]) -> None:
        """The process ended; `done` went into the journal."""

    def prepares(self, what: str, done: int, total: int) -> None:
        """So much of a data set is made or downloaded; a total of 0 is not known beforehand."""

    def skips(self, group: ProcessGroup, seconds: float) -> None:
        """A process that would take so long does not fit into what is left of the budget."""


def worker(
    group: ProcessGroup, cache: Path, shared: Path, in_parts: Container[str] = ()
) -> AbstractContextManager[children.Child]:
    """Start the real worker for a group.

    What a GPU's worker compiles goes into the shared cache and comes from there in later rounds, unless its compile
    time counts; the CPU's compiles in seconds. A start with a warm cache has one for itself, in `cache`. The workloads
    `in_parts` split one step over threads that allocate.
    """
    case = group[0]
    alone = compiles_anew(group) or case.backend == "cpu"
    found = warm_cache(case, cache) if case.cache == "warm" else None if alone else shared
    return children.child(
        "suite.worker.main",
        python=children.interpreter(case.implementation),
        env=children.environment(case.backend, case.allocator, found, one_arena=case.workload not in in_parts),
    )


def warm_cache(case: Case, cache: Path) -> Path:
    """Return the folder of the compile cache that is kept for this case alone."""
    return cache / f"warm-{case.text(0).replace('/', '.')}"


def run(
    header: Header,
    journal: Journal,
    listener: ProgressListener,
    start: Worker | None = None,
    telemetry: TelemetryWindows | None = None,
    shared_cache: Path | None = None,
    deadline: Deadline | None = None,
    prepare: Prepare = lambda group, progress: None,
    kernel: Callable[[], ReferenceKernel] | None = None,
) -> bool:
    """Measure what the plan asks and its journal lacks until the deadline; return whether nothing is left to measure.

    Each question is measured once. A plan that adds rounds then gets one more of what is known least, until every
    number is known well enough. A group that failed is not tried again: its record says why. A further round that is
    not whole leaves its question with the rounds before that one. The compile cache stays until `forget_compiled`,
    that which all processes share in the folder `shared_cache` for good if there is one. `telemetry` watches the
    machine, first while nothing runs if energy is to be counted. `prepare` makes the data that a group reads, and
    `kernel`, if given, tells how fast the host is before each process on the CPU.
    """
    cache = compile_cache(journal)
    in_parts = frozenset(about.name for about in header.descriptions if about.family == "trees")
    measuring = _Measuring(
        journal=journal,
        listener=listener,
        start=start or partial(worker, cache=cache, shared=shared_cache or cache, in_parts=in_parts),
        telemetry=telemetry,
        cache=cache,
        deadline=deadline or Deadline(),
        prepare=prepare,
        kernel=kernel,
        done=list(journal.done()),
        forecast=Forecast(header, journal.done()),
    )
    planned, settled = journal.planned(), set[Question]()
    try:
        while True:
            while turn := next_turn(header, measuring.done, measuring.forecast, but=measuring.skipped):
                measuring.takes(turn, header)
            whole = whole_rounds(header, planned, measuring.done)
            if whole.rounds_by_case() != (before := header.rounds_by_case()):
                settled |= {question(case) for case, rounds in whole.rounds_by_case().items() if rounds < before[case]}
                header = measuring.replans(whole, None)
            doubtful = uncertain(header, measuring.done, but=settled | measuring.skipped)
            widest = next((one for one in doubtful if measuring.fits(header, one.question)), None)
            if widest is None:
                return not (doubtful or measuring.skipped)
            header = measuring.replans(with_one_more(header, widest.question, measuring.done), widest)
    except OutOfTimeError:
        return False


def compile_cache(journal: Journal) -> Path:
    """Return the folder beside a campaign's journal that keeps what it compiles."""
    return journal.path.parent / "compile-cache"


def forget_compiled(journal: Journal) -> None:
    """Remove what a campaign that does not go on has compiled."""
    shutil.rmtree(compile_cache(journal), ignore_errors=True)


@dataclass(kw_only=True)
class _Measuring:
    """A campaign under way: what it writes to, what it has done, and what it has no time for."""

    journal: Journal
    listener: ProgressListener
    start: Worker
    telemetry: TelemetryWindows | None
    cache: Path
    deadline: Deadline
    prepare: Prepare
    kernel: Callable[[], ReferenceKernel] | None
    done: list[CompletedRun]
    forecast: Forecast
    skipped: set[Question] = field(default_factory=set)
    waited: float = 0.0  # for other load to end, in seconds

    def replans(self, header: Header, why: Uncertain | None) -> Header:
        """Return the plan, whose rounds are others from here on, when it is noted and told."""
        self.journal.append(Rounds(case_rounds=header.case_rounds))
        self.listener.grows(header, why)
        return header

    def fits(self, header: Header, asked: Question) -> bool:
        """Return whether one more round of a question ends in time."""
        return self.forecast.total(by_question(header)[asked]) <= self.deadline.left

    def takes(self, turn: Turn, header: Header) -> None:
        """Measure the processes of a turn; its question is skipped if one of them does not fit into the time left.

        In a first pass that may shorten samples it is enough that a process fits which takes its shortest.
        """
        for group in turn.groups:
            self.prepare(group, self.listener.prepares)
            seconds = self.forecast.seconds(group)
            shortened = _may_shorten(header, turn.number)
            least = min(seconds, self.forecast.shortest(group)) if shortened else seconds
            if least > self.deadline.left:
                self.skipped.add(turn.question)
                self.listener.skips(group, least)
                return
            self._measure(header, turn.number, group)

    def _measure(self, header: Header, number: int, group: ProcessGroup) -> None:
        """Run one process and note its results, unless the suite's own files were changed meanwhile."""
        check_unchanged(header)
        listener, telemetry = self.listener, self.telemetry
        listener.begins(number, group)
        wait = partial(self._wait, header, group)
        energy = telemetry is not None and self._counts_energy(header, number, group, telemetry)
        if telemetry is not None and energy and not telemetry.rested:
            wait()
            listener.stage("idle power")
            telemetry.rest()
        position = 1 + max((entry.run.position for entry in self.done if entry.run.round == number), default=-1)
        about = next(each for each in header.descriptions if each.name == group[0].workload)
        task = Task(
            cases=group,
            dataset=about.dataset,
            seed=seed(header, group[0], number, about.trained),
            plan=profiles.plan(header.profile, group[0].backend),
            flow=profiles.flow(header.profile),
            size=profiles.size(header.profile, group[0].scope),
            run=profiles.whole_run(header.profile, about.run, group[0].length),
            most_steps=profiles.EFFORTS[header.profile].learning_steps,
            replay=number == 0 and replayed(header, group),
            longest_step_seconds=experiments.longest_step_seconds(header.experiment),
            most_seconds=self._most_seconds(header, number),
            energy_seconds=ENERGY_SECONDS if energy else 0.0,
        )
        began, waited = self.deadline.now(), self.waited
        found = fill_compile_cache(task, number, position, self.cache, listener, self.start, self.deadline)
        found = found or tuple(
            run_child(
                task,
                number,
                position,
                listener.stage,
                self.start,
                telemetry,
                wait=wait,
                deadline=self.deadline,
                kernel=self.kernel if has_kernel(header, group) else None,
            )
        )
        took = self.deadline.now() - began - task.energy_seconds - (self.waited - waited)
        entries = tuple(msgspec.structs.replace(entry, seconds=took) for entry in found)
        check_unchanged(header)
        self.journal.append(*entries)
        self.done += entries
        self.forecast.learn(entries)
        listener.ends(group, entries)

    def _most_seconds(self, header: Header, number: int) -> float | None:
        """Return the time in which a process has to shorten its samples; None if it has all the time."""
        left = self.deadline.left
        return None if math.isinf(left) or not _may_shorten(header, number) else left

    def _wait(self, header: Header, group: ProcessGroup) -> None:
        """Wait until other processes leave the machine alone.

        All waiting takes no more than its share of a budget, and none of the time that the process needs.
        """
        patience = profiles.EFFORTS[header.profile].quiet_seconds
        if self.deadline.seconds is not None:
            spare = self.deadline.left - self.forecast.seconds(group)
            patience = min(patience, spare, _WAITING_SHARE * self.deadline.seconds - self.waited)
        self.waited += wait_until_quiet(patience, header.machine.cores, self.listener)

    def _counts_energy(self, header: Header, number: int, group: ProcessGroup, telemetry: TelemetryWindows) -> bool:
        """Return whether a process's energy is counted: where it can be, and the budget has time for it."""
        seconds = self.forecast.seconds(group) + (1 if telemetry.rested else 2) * ENERGY_SECONDS
        wanted = counts_energy(header, number) and seconds <= self.deadline.left
        return wanted and telemetry.counts(group, header.profile)


def check_unchanged(header: Header) -> None:
    """Raise RuntimeError if the suite's modules are not those that the campaign began with, which its records name."""
    if header.code and software.code() != header.code:
        raise RuntimeError(
            f"the suite's files in '{software.PACKAGE}' were changed while campaign '{header.campaign}' was measured, "
            "and its records name what they were; what it completed before is kept: put them back and add --resume, "
            "or start anew"
        )


def has_kernel(header: Header, group: ProcessGroup) -> bool:
    """Return whether the reference kernels run before a group's processes: on the CPU, whose speed is the host's."""
    return group[0].backend == "cpu" and profiles.EFFORTS[header.profile].kernel


def replayed(header: Header, group: ProcessGroup) -> bool:
    """Return whether a group's first process replays its program: one is enough, of the steps if these are timed."""
    return question(group[0])[1] == "step" or (group[0].workload, "step") not in by_question(header)


def _may_shorten(header: Header, number: int) -> bool:
    """Return whether samples may be shortened to fit a budget: in a first pass; a reference round skips instead."""
    return number == 0 and not header.cpu_first


def counts_energy(header: Header, number: int) -> bool:
    """Return whether a round counts energy: the first planned one, but not the first pass of a campaign that adds some.

    It takes half a minute a case, which would keep the first numbers waiting.
    """
    return header.energy and number == (1 if header.adaptive else 0)


def seed(header: Header, case: Case, number: int, trained: bool) -> int:
    """Return the seed of a case's processes in a round: another in each, but one for all whose programs are to be one.

    An inference's weights are constants of its program, and what was compiled for other weights is another program:
    starts with a warm cache find none, and a GPU's kernels would be compiled and chosen anew in each round.
    """
    return header.seed if case.cache == "warm" or not trained else header.seed + number


def fill_compile_cache(
    task: Task,
    number: int,
    position: int,
    cache: Path,
    listener: ProgressListener,
    start: Worker,
    deadline: Deadline | None = None,
) -> tuple[CompletedRun, ...]:
    """Fill the compile cache of a case that starts with a warm one, by a process whose times nobody keeps.

    Returns what that process came to if it failed, which then is the round's result; nothing otherwise.
    """
    case = task.cases[0]
    place = warm_cache(case, cache)
    if case.cache == "warm" and not (place / _FILLED).exists():
        shutil.rmtree(place, ignore_errors=True)
        listener.stage("filling the compile cache")
        entries = tuple(run_child(task, number, position, listener.stage, start, deadline=deadline))
        if not all(entry.run.samples for entry in entries):
            return entries
        place.mkdir(parents=True, exist_ok=True)
        (place / _FILLED).touch()
    return ()


def wait_until_quiet(
    patience: float, cores: int, listener: ProgressListener, others: Callable[[float], float] = load.others_now
) -> float:
    """Return, after so many seconds, when other processes leave the cores alone or the patience, in seconds, ends."""
    watched = 0.0
    while watched < patience and others(_LOOK_SECONDS) > _BUSY_SHARE * cores:
        listener.stage("waiting for other load to end")
        watched += _LOOK_SECONDS
    return watched

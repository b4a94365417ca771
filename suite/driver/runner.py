"""Runs a campaign: rounds of child processes in random order, with time limits and a journal. Never imports jax."""

import math
import shutil
from collections.abc import Callable, Container, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from suite import experiments
from suite.case import Case
from suite.driver import profiles
from suite.driver.campaign import ProcessGroup, compiles_anew, version_changes
from suite.driver.collect import Worker, run_child
from suite.driver.forecast import Deadline, Forecast, OutOfTimeError
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
from suite.system import counters, software
from suite.telemetry.windows import ENERGY_SECONDS, TelemetryWindows
from suite.variants import keras_backend
from suite.worker_api.protocol import Task

_BUSY_SHARE = 0.1  # of the granted cores, used by others
_WAITING_SHARE = 0.1  # of a budget, at most, for other load to end
_LOOK_SECONDS = 0.3  # of load measured before each process; the kernel counts in 10 ms, and each result has its load

_FILLED = "filled"  # marks a complete warm cache


# The callback receives what, done and total.
Prepare = Callable[[ProcessGroup, Callable[[str, int, int], None]], object]


class ProgressListener(Protocol):
    """Receives the events of a running campaign."""

    def begins(self, number: int, group: ProcessGroup) -> None:
        """A process starts in that round."""

    def grows(self, header: Header, why: Uncertain | None) -> None:
        """The plan gains a round of its widest interval, or, with `why` None, loses an incomplete one."""

    def stage(self, name: str) -> None:
        """The process entered a stage."""

    def ends(self, group: ProcessGroup, done: tuple[CompletedRun, ...]) -> None:
        """The process ended; `done` went into the journal."""

    def prepares(self, what: str, done: int, total: int) -> None:
        """`done` of `total` of a data set is made or downloaded; a total of 0 is unknown."""

    def skips(self, group: ProcessGroup, seconds: float) -> None:
        """A process of this duration does not fit into the remaining budget."""


def worker(
    group: ProcessGroup, cache: Path, shared: Path, in_parts: Container[str] = ()
) -> AbstractContextManager[children.Child]:
    """Start the real worker for a group.

    GPU workers compile into the shared cache, and read it in later rounds, unless compile time counts; the CPU compiles
    in seconds. A warm start has its own cache, below `cache`. The workloads `in_parts` allocate in several threads of
    one step.
    """
    case = group[0]
    alone = compiles_anew(group) or case.backend == "cpu"
    used_cache = warm_cache(case, cache) if case.cache == "warm" else None if alone else shared
    return children.child(
        "suite.worker.main",
        python=children.interpreter(case.implementation),
        env=children.environment(case.backend, case.allocator, used_cache, one_arena=case.workload not in in_parts)
        | children.of_keras(keras_backend(case.variant)),
    )


def warm_cache(case: Case, cache: Path) -> Path:
    """Return the folder of this case's own compile cache."""
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
    """Measure what the plan asks and the journal lacks until the deadline; return whether nothing is left.

    Each question is measured once. An adaptive plan then adds a round to the widest interval until all are narrow
    enough. A failed group is not retried: its record has the reason. An incomplete added round is dropped. The compile
    cache stays until `forget_compiled`; with `shared_cache` the shared part stays in that folder. `telemetry` watches
    the machine, first at idle if energy is measured. `prepare` makes the data that a group reads. `kernel`, if given,
    measures the host's speed before each process on the CPU.
    """
    cache = compile_cache(journal)
    in_parts = frozenset(about.name for about in header.descriptions if about.family == "trees")
    measuring = _Measuring(
        header=header,
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
            while turn := next_turn(measuring.header, measuring.done, measuring.forecast, but=measuring.skipped):
                measuring.takes(turn)
            header = measuring.header
            complete, before = whole_rounds(header, planned, measuring.done), header.rounds_by_case()
            cut = {question(case) for case, rounds in complete.rounds_by_case().items() if rounds < before[case]}
            if cut:
                settled |= cut
                header = complete
                measuring.replans(header, None)
            wide = uncertain(header, measuring.done, but=settled | measuring.skipped)
            widest = next((one for one in wide if measuring.fits(one.question)), None)
            if widest is None:
                return not (wide or measuring.skipped)
            measuring.replans(with_one_more(header, widest.question, measuring.done), widest)
    except OutOfTimeError:
        return False


def compile_cache(journal: Journal) -> Path:
    """Return the compile cache's folder, beside the campaign's journal."""
    return journal.path.parent / "compile-cache"


def forget_compiled(journal: Journal) -> None:
    """Remove the compile cache of a campaign that will not be resumed."""
    shutil.rmtree(compile_cache(journal), ignore_errors=True)


@dataclass(kw_only=True)
class _Measuring:
    """A running campaign: its plan so far, journal, completed runs, forecast and skipped questions."""

    header: Header
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
    waited: float = 0.0  # seconds for other load to end

    def replans(self, header: Header, why: Uncertain | None) -> None:
        """Store and announce a plan with new rounds."""
        self.header = header
        self.journal.append(Rounds(case_rounds=header.case_rounds))
        self.listener.grows(header, why)

    def fits(self, asked: Question) -> bool:
        """Return whether one more round of a question fits the budget."""
        return self.forecast.total(by_question(self.header)[asked]) <= self.deadline.left

    def takes(self, turn: Turn) -> None:
        """Measure the processes of a turn; skip its question if one of them does not fit the budget.

        If samples may be shortened, it is enough that the shortest process fits.
        """
        for group in turn.groups:
            least = self.forecast.seconds(group)
            if _may_shorten(self.header, turn.number):
                least = min(least, self.forecast.shortest(group))
            if least <= self.deadline.left:
                self.prepare(group, self.listener.prepares)  # can take what is left
            if least > self.deadline.left:
                self.skipped.add(turn.question)
                self.listener.skips(group, least)
                return
            self._measure(turn.number, group)

    def _measure(self, number: int, group: ProcessGroup) -> None:
        """Run one process and store its results. Raises RuntimeError if the suite's files changed meanwhile."""
        header, listener, telemetry = self.header, self.listener, self.telemetry
        check_unchanged(header)
        listener.begins(number, group)
        wait = partial(self._wait, group)
        energy = telemetry is not None and self._counts_energy(number, group, telemetry)
        if telemetry is not None and energy and not telemetry.rested:
            wait()
            listener.stage("idle power")
            telemetry.rest()
        position = 1 + max((entry.run.position for entry in self.done if entry.run.round == number), default=-1)
        about = next(each for each in header.descriptions if each.name == group[0].workload)
        left = self.deadline.left
        task = Task(
            cases=group,
            dataset=about.dataset,
            seed=seed(header, group[0], number, about.trained),
            plan=profiles.plan(header.profile, group[0].backend),
            flow=profiles.flow(header.profile),
            size=profiles.size(header.profile, group[0].scope),
            epoch_steps=profiles.epoch_steps(profiles.EFFORTS[header.profile], about, group[0].batch),
            run=profiles.whole_run(header.profile, about.run, group[0].length),
            most_steps=profiles.EFFORTS[header.profile].learning_steps,
            replay=number == 0 and replayed(header, group),
            longest_step_seconds=experiments.longest_step_seconds(header.experiment),
            longest_call_seconds=experiments.longest_call_seconds(header.experiment),
            most_seconds=left if math.isfinite(left) and _may_shorten(header, number) else None,
            energy_seconds=ENERGY_SECONDS if energy else 0.0,
        )
        began, waited = self.deadline.now(), self.waited
        start, deadline, kernel = self.start, self.deadline, self.kernel if has_kernel(header, group) else None
        measuring = run_child(  # begins when it is read, so after the cache was filled
            task, number, position, listener.stage, start, telemetry, wait=wait, deadline=deadline, kernel=kernel
        )
        failed = fill_compile_cache(task, number, position, self.cache, listener, start, deadline)
        completed = failed or tuple(measuring)
        took = self.deadline.now() - began - task.energy_seconds - (self.waited - waited)
        kept = _kept(self.done, number)
        entries = tuple(msgspec.structs.replace(entry, seconds=took) for entry in completed if entry.case not in kept)
        check_unchanged(header)
        check_same_software(header, self.done, entries)
        self.journal.append(*entries)
        self.done += entries
        self.forecast.learn(entries)
        listener.ends(group, entries)

    def _wait(self, group: ProcessGroup) -> None:
        """Wait until other load ends, within the profile's patience.

        All waits together take at most their share of the budget, and none of the time that the process needs.
        """
        patience = profiles.EFFORTS[self.header.profile].quiet_seconds
        if self.deadline.seconds is not None:
            spare = self.deadline.left - self.forecast.seconds(group)
            patience = min(patience, spare, _WAITING_SHARE * self.deadline.seconds - self.waited)
        self.waited += wait_until_quiet(patience, self.header.machine.cores, self.listener)

    def _counts_energy(self, number: int, group: ProcessGroup, telemetry: TelemetryWindows) -> bool:
        """Return whether a process's energy is measured: if counters allow it and it fits the budget."""
        seconds = self.forecast.seconds(group) + (1 if telemetry.rested else 2) * ENERGY_SECONDS
        wanted = counts_energy(self.header, number) and seconds <= self.deadline.left
        return wanted and telemetry.counts(group, self.header.profile)


def _kept(done: Iterable[CompletedRun], number: int) -> set[Case]:
    """Return the cases that a round already has: a death within a write keeps some of a process's cases, not all.

    Those are measured again beside the others of their process, and their first run stays.
    """
    return {entry.case for entry in done if entry.run.round == number}


def check_unchanged(header: Header) -> None:
    """Raise RuntimeError if the suite's modules changed since the campaign began; its records name the old ones."""
    if header.code and software.code() != header.code:
        raise RuntimeError(
            f"the suite's files in '{software.PACKAGE}' were changed while campaign '{header.campaign}' was measured, "
            "and its records name the old ones; completed runs are kept: restore the files and add --resume, or start "
            "a new run"
        )


def check_same_software(header: Header, done: Iterable[CompletedRun], entries: Iterable[CompletedRun]) -> None:
    """Raise RuntimeError if a process's Python or packages are not those of the plan, as after an upgrade.

    Those of the case's earlier runs count too: an older plan names none. A failed run names no version.
    """
    earlier = {entry.case: _versions(entry) for entry in done if entry.software.python}
    for entry in entries:
        now = _versions(entry)
        planned = {
            name: then for name, then in header.software.get(entry.case.implementation, {}).items() if name in now
        }
        then = earlier.get(entry.case, now | planned) if entry.software.python else now
        if changes := version_changes(then, now):
            raise RuntimeError(
                f"software was changed while campaign '{header.campaign}' was measured: {', '.join(changes)}; "
                "completed runs are kept: install the former version and add --resume, or start a new run"
            )


def _versions(entry: CompletedRun) -> dict[str, str]:
    return {"Python": entry.software.python, **entry.software.packages}


def has_kernel(header: Header, group: ProcessGroup) -> bool:
    """Return whether the reference kernels run before a group's processes: only on the CPU."""
    return group[0].backend == "cpu" and profiles.EFFORTS[header.profile].kernel


def replayed(header: Header, group: ProcessGroup) -> bool:
    """Return whether a group's first process replays its program: one question a workload, the step's if it is timed.

    Loops as written have programs of their own, and are replayed too. Not so what takes an epoch in one call: over
    hundreds of steps rounding alone moves a loss further than a replay may differ.
    """
    if group[0].variant == "resident-loop":
        return False
    asked, steady = question(group[0])[1], (group[0].workload, "step")
    return asked in ("step", "written") or steady not in by_question(header)


def _may_shorten(header: Header, number: int) -> bool:
    """Return whether samples may be shortened to fit the budget: in a first pass, but not in a reference round."""
    return number == 0 and not header.is_reference


def counts_energy(header: Header, number: int) -> bool:
    """Return whether a round measures energy: the first planned one, or the second of an adaptive campaign.

    It takes half a minute a case, which would delay an adaptive campaign's first numbers.
    """
    return header.energy and number == (1 if header.adaptive else 0)


def seed(header: Header, case: Case, number: int, trained: bool) -> int:
    """Return the round's seed. Inference and warm-cache cases keep one seed, so every round compiles the same program.

    An inference's weights are constants of its program: with other weights a warm cache would miss, and a GPU would
    compile and autotune again in each round.
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
    """Fill the compile cache of a warm-cache case with a process whose times are discarded.

    Returns that process's runs if it failed, as the round's result; () otherwise.
    """
    case = task.cases[0]
    folder = warm_cache(case, cache)
    if case.cache == "warm" and not (folder / _FILLED).exists():
        shutil.rmtree(folder, ignore_errors=True)
        listener.stage("filling the compile cache")
        entries = tuple(run_child(task, number, position, listener.stage, start, deadline=deadline))
        if not all(entry.run.samples for entry in entries):
            return entries
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _FILLED).touch()
    return ()


def wait_until_quiet(
    patience: float, cores: int, listener: ProgressListener, others: Callable[[float], float] = counters.others_now
) -> float:
    """Block until other processes leave the cores idle, at most `patience` seconds; return the seconds waited."""
    watched = 0.0
    while watched < patience and others(_LOOK_SECONDS) > _BUSY_SHARE * cores:
        listener.stage("waiting for other load to end")
        watched += _LOOK_SECONDS
    return watched

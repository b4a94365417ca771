"""How far a campaign or its data are, in a terminal: a line that moves, with the remaining time."""

import math
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column, Table
from rich.text import Text

from suite import units
from suite.measure import profiles
from suite.measure.campaign import Unit
from suite.measure.remaining import Remaining
from suite.measure.widening import question
from suite.results.journal import Done, Header
from suite.results.record import Profile
from suite.results.summary import step_seconds
from suite.terminal import WIDEST, say
from suite.workload import Case, Scope

_SAID: dict[Scope, str] = {
    "step": "a step",
    "epoch": "a step from storage on",
    "input": "a batch from storage",
    "cold": "for a cold start",
    "run": "for the whole run",
    "calls": "a later call",
    "serve": "between answers, four requests under way",
}
_BAR, _LEAST_BAR = 40, 8  # characters of a bar where there is room, and below which there is none


def said(scope: Scope, profile: Profile) -> str:
    """Return what a process's time is one of; a scope that has such words is asked about."""
    examples = profiles.EFFORTS[profile].run_examples if scope == "run" else None
    return _SAID[scope] if examples is None else f"for a run cut short to {units.count(examples)} examples"


class DataProgress:
    """Shows how far data sets are: a bar on a terminal, nothing elsewhere but each thing that begins."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[share]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "DataProgress":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that so much of something is done; a total of 0 is not known beforehand."""
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total or None, share="")
            if self._progress.disable:
                say(what)
        share = f"{done / total:.0%}" if total else units.count(done)
        self._progress.update(self._tasks[what], completed=done, share=share)


class _Shortened(TextColumn):
    """What a task is, with an ellipsis where its line is too narrow."""

    def __init__(self) -> None:
        super().__init__("{task.description}", table_column=Column())

    def render(self, task: Task) -> Text:
        text = super().render(task)
        text.no_wrap, text.overflow = True, "ellipsis"
        return text


class _Left(TextColumn):
    """The estimate `left`, in seconds, less the time that has passed since it was made; nothing if there is none."""

    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Task) -> Text:
        left = task.fields["left"]
        if left is None:
            return Text()
        seconds = max(0.0, left - (time.monotonic() - task.fields["since"]))
        words = units.seconds(seconds) if seconds >= 120 else f"{units.count(math.ceil(seconds))} s"
        return Text(f"about {words} left", no_wrap=True)


class _Bar(BarColumn):
    """A bar, or nothing where it would be too short to tell anything."""

    def render(self, task: Task) -> Any:
        return super().render(task) if (self.bar_width or 0) >= _LEAST_BAR else Text()


class CampaignLine(Progress):
    """The line of a campaign: count, clock and estimate stay whole, the bar gives way first and then the description.

    Its task has the fields `left` and `since`.
    """

    def __init__(self, console: Console, disable: bool = False) -> None:
        self._room, self._bar = console, _Bar()
        whole = Column(no_wrap=True)
        super().__init__(
            SpinnerColumn(table_column=whole),
            _Shortened(),
            self._bar,
            MofNCompleteColumn(table_column=whole),
            TimeElapsedColumn(table_column=whole),
            _Left(),
            console=console,
            disable=disable,
        )

    def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
        """Return the line, with as much of a bar as there is room for."""
        there, wide = list(tasks), self._room.options.update(width=WIDEST)
        self._bar.bar_width = 0
        bare = self._room.measure(super().make_tasks_table(there), options=wide).maximum
        self._bar.bar_width = min(_BAR, self._room.width - bare)
        return super().make_tasks_table(there)


class CampaignProgress:
    """Watches a campaign: a bar with remaining time on a terminal, nothing elsewhere but each first figure."""

    def __init__(self, header: Header, done: Sequence[Done]) -> None:
        self._header, self._began = header, 0.0
        self._about = {description.name: description for description in header.descriptions}
        self._remaining = Remaining(header, done)
        self._progress = CampaignLine(Console(stderr=True), disable=not sys.stderr.isatty())
        self._task = self._progress.add_task("starting", total=self._remaining.planned, left=None, since=0.0)
        self._show()

    def __enter__(self) -> "CampaignProgress":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begins(self, number: int, unit: Unit) -> None:
        """Show the process that starts."""
        self._began = time.monotonic()
        name = f"{unit[0].workload} {unit[0].label(self._about[unit[0].workload])}"
        self._name = f"round {number + 1}/{self._header.rounds_of(unit[0])}  {name}"
        self._progress.update(self._task, description=self._name, left=self._remaining.seconds, since=time.monotonic())

    def grows(self, header: Header) -> None:
        """Show that the plan has further rounds, or lost some that failed, and say of what."""
        before = self._header
        more = dict.fromkeys(_asked(c) for c in header.cases if header.rounds_of(c) > before.rounds_of(c))
        fewer = dict.fromkeys(_asked(c) for c in header.cases if header.rounds_of(c) < before.rounds_of(c))
        self._header = header
        self._remaining.grows(header)
        self._progress.update(self._task, total=self._remaining.planned)
        if more:
            self._print(f"one more round, intervals are still wide: {', '.join(more)}")
        if fewer:
            self._print(f"a further round failed, those before it count: {', '.join(fewer)}")

    def stage(self, name: str) -> None:
        """Show the stage that the process is in."""
        self._progress.update(self._task, description=f"{self._name}  {name}")

    def ends(self, unit: Unit, done: Sequence[Done]) -> None:
        """Advance, learn how long such a process takes, and print its figure or its failure."""
        self._remaining.ends(unit, time.monotonic() - self._began, any(entry.run.reason for entry in done))
        self._show()
        for entry in done:
            value = step_seconds(entry.run)
            if entry.run.reason:
                self._print(f"{self._name}: failed: {entry.run.reason}")
                return
            if value is not None and entry.case.scope in _SAID:
                self._print(f"{self._name}: {units.seconds(value)} {said(entry.case.scope, self._header.profile)}")

    def _show(self) -> None:
        """Show how many processes have ended; after the last there is no time left to tell."""
        done, planned = self._remaining.planned - self._remaining.processes, self._remaining.planned
        self._progress.update(self._task, completed=done)
        if done == planned:
            self._progress.update(self._task, left=None)

    def _print(self, line: str) -> None:
        self._progress.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _asked(case: Case) -> str:
    """Return what gets rounds together: a workload, if it is its steady state, else with the scope."""
    name, scope = question(case)
    return name if scope == "step" else f"{name} ({scope})"

"""What a person sees in the terminal: progress with remaining time, tables, checks."""

import math
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
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
from suite.measure.fitness import Check
from suite.measure.remaining import Remaining
from suite.measure.widening import question
from suite.results.journal import Done, Header
from suite.results.record import Profile
from suite.results.summary import step_seconds
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
_WIDEST, _GAP = 1_000, 2  # of a table in a file, and between columns, in characters
_MARKS = {"good": "[green]ok[/]", "remark": "[yellow]note[/]", "bad": "[red]no[/]"}


def say(line: str) -> None:
    """Print one line of guidance to standard error, where it does not mix with results."""
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(line)


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
        there, wide = list(tasks), self._room.options.update(width=_WIDEST)
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
        self._progress.update(self._task, completed=self._remaining.planned - self._remaining.processes)

    def _print(self, line: str) -> None:
        self._progress.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _asked(case: Case) -> str:
    """Return what gets rounds together: a workload, if it is its steady state, else with the scope."""
    name, scope = question(case)
    return name if scope == "step" else f"{name} ({scope})"


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> None:
    """Print a table with its first column left and the others right; a file gets it as wide as it is.

    Where a terminal is too narrow for its words, each row is a list of its own.
    """
    console, listed = Console(), list(rows)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDEST
    widths = fitting(list(zip(columns, *listed, strict=True)), console.width - _GAP * (len(columns) - 1))
    if widths is None:
        _print_lists(console, title, columns, listed)
    else:
        table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 0, 0, _GAP - 1),
                      show_edge=False, pad_edge=False)  # fmt: skip
        for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
            table.add_column(escape(column), justify="left" if index == 0 else "right", width=width)
        for row in listed:
            table.add_row(*map(escape, row))
        console.print(table)
    for note in notes:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    console.print()


def fitting(columns: Sequence[Sequence[str]], space: int) -> list[int] | None:
    """Return widths at which these texts fit side by side into so many characters with no word broken; None if none."""
    widths = [max(map(cell_len, texts)) for texts in columns]
    words = [max((cell_len(word) for text in texts for word in text.split()), default=0) for texts in columns]
    while sum(widths) > space:
        loose = [index for index, (width, word) in enumerate(zip(widths, words, strict=True)) if width > word]
        if not loose:
            return None
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _print_lists(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print each row as lines of column and cell."""
    console.print(title, style="table.title", markup=False, highlight=False)
    for row in rows:
        console.print()
        grid = Table(box=None, show_header=False, pad_edge=False)
        for column, cell in zip(columns, row, strict=True):
            grid.add_row(escape(column), escape(cell))
        console.print(grid)


def print_checks(checks: Iterable[Check]) -> None:
    """Print the doctor's findings, the advice below what it is about."""
    table = Table(show_header=False, show_edge=False, box=None)
    for check in checks:
        table.add_row(_MARKS[check.verdict], check.name, escape(check.found))
        if check.advice:
            table.add_row("", "", f"[bold]{escape(check.advice)}[/]")
    Console().print(table)

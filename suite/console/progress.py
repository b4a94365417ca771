"""Progress of a campaign or of its data sets, in a terminal."""

import math
import sys
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from suite import units
from suite.console.live_table import table
from suite.console.terminal import say
from suite.driver import profiles
from suite.driver.campaign import ProcessGroup, processes, records
from suite.driver.forecast import Deadline, Forecast
from suite.driver.journal import CompletedRun, Header
from suite.driver.schedule import Uncertain
from suite.results.records.record import Profile
from suite.results.single.summary import step_seconds
from suite.scopes import SCOPES, Scope


def said(scope: Scope, profile: Profile) -> str:
    """Return what a process's time measures, in words; '' if the scope has none."""
    examples = profiles.EFFORTS[profile].run_examples if scope == "run" else None
    return SCOPES[scope].progress if examples is None else f"for a run cut short to {units.count(examples)} examples"


class DataProgress:
    """Shows the progress of data sets: a bar on a terminal, elsewhere a line as each one begins."""

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
        """Show that `done` of `total` is finished; a total of 0 is unknown."""
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total or None, share="")
            if self._progress.disable:
                say(what)
        share = f"{done / total:.0%}" if total else units.count(done)
        self._progress.update(self._tasks[what], completed=done, share=share)


class CampaignProgress:
    """Shows a campaign: on a terminal its live table, the running process and the time left, elsewhere lines.

    An experiment has no live table.
    """

    def __init__(self, header: Header, done: Sequence[CompletedRun], deadline: Deadline | None = None) -> None:
        self._header, self._done, self._deadline = header, list(done), deadline or Deadline()
        self._about = {description.name: description for description in header.descriptions}
        self._forecast = Forecast(header, done)
        self._name = self._stage = self._current = self._why = ""
        self._began = time.monotonic()
        self._table: Table | None = None
        self._live = Live(
            get_renderable=self._rendered,
            console=Console(stderr=True),
            refresh_per_second=1,  # drawing takes time from the cores that are measured
            transient=True,
        )
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> "CampaignProgress":
        if self._terminal:
            self._draw()
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            self._live.stop()

    def begins(self, number: int, group: ProcessGroup) -> None:
        """Show the starting process."""
        self._began, self._current = time.monotonic(), group[0].workload
        label = group[0].label(self._about[group[0].workload])
        scopes = ", ".join(case.scope for case in group if case.scope != "transfer")
        self._name, self._stage = f"{group[0].workload} {label} {scopes}, round {number + 1}", "start"
        self._draw()

    def grows(self, header: Header, why: Uncertain | None) -> None:
        """Show which question gets another round and its half-width; without `why`, that a round was cut."""
        self._header = header
        if why is None:
            self._print("an added round is incomplete; the rounds before it count")
            return
        name, scope = why.question
        of = name if scope == "step" else f"{name} ({scope})"
        spread = "by the spread of published runs" if why.borrowed else "by the spread of its kind"
        self._why = f"least certain: {of}, ±{units.percent(why.half_width)} {spread}"

    def stage(self, name: str) -> None:
        """Show the stage of the running process."""
        self._stage = name

    def ends(self, group: ProcessGroup, done: Sequence[CompletedRun]) -> None:
        """Update the forecast; show the process's time, or why it failed."""
        self._forecast.learn(done)
        self._done += done
        if reason := next((entry.run.reason for entry in done if entry.run.reason), ""):
            self._print(f"{self._name}: failed: {reason}")
        elif not self._terminal:
            for entry in done:
                value = step_seconds(entry.run)
                if value is not None and SCOPES[entry.case.scope].progress:
                    self._print(f"{self._name}: {units.seconds(value)} {said(entry.case.scope, self._header.profile)}")
        self._draw()

    def prepares(self, what: str, done: int, total: int) -> None:
        """Show the progress of a data set; without a terminal, only its start."""
        if self._name != what and not self._terminal:
            self._print(what)
        self._name, self._stage = what, f"{done / total:.0%}" if total else units.count(done)

    def skips(self, group: ProcessGroup, seconds: float) -> None:
        """Report a process that does not fit into the remaining budget."""
        what = f"{group[0].workload} ({group[0].scope}, {group[0].backend})"
        self._print(
            f"skipped {what}: takes about {units.seconds(seconds)}, the budget has "
            f"{units.seconds(max(self._deadline.left, 0.0))} left; raise --budget"
        )

    def _draw(self) -> None:
        if self._terminal and not self._header.experiment:
            self._table = table(self._header.cases, records(self._header, self._done), self._current)

    def _rendered(self) -> RenderableType:
        lines = [f"{self._name}: {self._stage}" if self._name else "starting", *filter(None, [self._why, self._left()])]
        text = [Text(line, no_wrap=True, overflow="ellipsis") for line in lines]
        return Group(self._table, Text(), *text) if self._table else Group(*text)

    def _left(self) -> str:
        """Return the finished processes and the time left, in words."""
        planned = processes(self._header)
        total = sum(self._header.rounds_of(group[0]) for group in planned)
        counted = Counter(entry.case for entry in self._done)
        ended = sum(counted[group[0]] for group in planned)
        words = f"{units.count(ended)} of {units.pluralize(total, 'process', 'processes')}"
        if self._deadline.seconds is None:
            rest = sum(
                self._forecast.seconds(group) * max(0, self._header.rounds_of(group[0]) - counted[group[0]])
                for group in planned
            )
            return f"{words}; about {_clock(rest - (time.monotonic() - self._began))} left"
        return f"{words}; ends within {_clock(self._deadline.left + self._deadline.reserved)}, Ctrl-C ends it now"

    def _print(self, line: str) -> None:
        self._live.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _clock(seconds: float) -> str:
    """Return a time left as minutes and seconds."""
    minutes, rest = divmod(math.ceil(max(0.0, seconds)), 60)
    return f"{minutes} min {rest:02d} s"

"""One child's measurement in progress: its task, its listener and its results so far."""

import gc
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from msgspec.structs import replace

from suite.case import Case
from suite.results.records.run import Run, Sample, Stage
from suite.scopes import SCOPES, Scope
from suite.system import counters
from suite.worker_api import clock
from suite.worker_api.protocol import Message, Task

_ASLEEP_SECONDS = 0.1

Say = Callable[[Message], object]
Result = TypeVar("Result")


@dataclass(kw_only=True)
class Process:
    """The state that a worker's parts share; `stages` and `runs` fill up as it goes on."""

    task: Task
    say: Say
    clocks: clock.Clock = field(default_factory=clock.Clock)
    began: float = field(init=False)
    stages: dict[str, Stage] = field(default_factory=dict)
    runs: dict[Scope, Run] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began = self.clocks.wall()

    def seconds_left(self) -> float:
        """Return the seconds left for the task; infinite without a limit."""
        most = self.task.most_seconds
        return math.inf if most is None else most - (self.clocks.wall() - self.began)

    @property
    def case(self) -> Case:
        """The case; of several that differ only in scope, the first."""
        return self.task.cases[0]

    def run(self, **measured: Any) -> Run:
        """Return a run with the stages so far; the parent adds the round and the start."""
        blank = Run(round=0, position=0, seed=self.task.seed, started="", steps_per_sample=1)
        return replace(blank, **measured)

    def note(self, **measured: Any) -> None:
        """Add what was measured of the whole process to the run of each scope."""
        self.runs = {scope: replace(run, **measured) for scope, run in self.runs.items()}

    def stage(self, name: str, run: Callable[[], object]) -> Sample:
        """Run and time a stage; report its beginning and end to the parent."""
        self.say(Message(stage=name))
        taken = clock.timed(run, self.clocks)
        self.stages[name] = Stage(name=name, wall_seconds=taken.wall_seconds, process_seconds=taken.process_seconds)
        self.say(Message(stage=name, stage_time=self.stages[name]))
        return taken

    def result(self, name: str, run: Callable[[], Result]) -> Result:
        """Run a stage; return its result."""
        results: list[Result] = []
        self.stage(name, lambda: results.append(run()))
        return results[0]

    def streamed(
        self,
        scope: Scope,
        chain: clock.Chain,
        steps: int,
        plan: clock.Plan,
        compilations: Callable[[], int],
        begin: Callable[[], object] = lambda: None,
    ) -> Run:
        """Take the counted samples, each of `steps` steps, and report them one by one.

        `begin` is called right before the first sample, so that preparations here do not delay what it starts. Returns
        the run with the process's counters over the samples. Raises RuntimeError if the machine was suspended.
        """
        name = SCOPES[scope].samples_stage
        self.stage("collect", collect_garbage)
        if not SCOPES[scope].collects:
            gc.disable()
        compiled, before = compilations(), counters.cpu_load()
        begin()
        slept, after = clock.asleep_seconds(), before

        def take() -> None:
            nonlocal slept, after
            for sample in clock.samples(chain, steps, plan, self.clocks):
                self.say(Message(stage=name, sample=sample))
            slept = clock.asleep_seconds() - slept
            after = counters.cpu_load()

        self.stage(name, take)
        gc.enable()
        if slept > _ASLEEP_SECONDS:
            raise RuntimeError(f"the machine was suspended for {slept:.0f} s during the samples; run again")
        return self.run(
            steps_per_sample=steps,
            compilations=compilations() - compiled,
            other_load_cores=counters.by_others(before, after),
        )


def collect_garbage() -> None:
    """Free what nothing refers to, and exempt the rest from later collections."""
    gc.collect()
    gc.freeze()

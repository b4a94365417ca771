"""A clock that only scripted work moves, and processes measured by it through the worker's own code."""

from collections.abc import Callable
from dataclasses import replace

import factory
import msgspec

from suite.driver import profiles
from suite.results.records.run import Run
from suite.results.single.summary import Summary, summary
from suite.worker import steady
from suite.worker.recorder import Process
from suite.worker_api import clock
from suite.worker_api.protocol import Task

STEP_SECONDS = 0.001
CALLS_BEFORE = 76  # at least so many chains come before the first sample: calibration, warm-up, doubling, steps alone


class World:
    """Work whose duration is scripted: `pace` gives a chain's length in units of its nominal one.

    It is given the number of the chain and the time at its start. `tick` is how coarsely the clock is read.
    """

    def __init__(
        self,
        pace: Callable[[int, float], float] = lambda call, now: 1.0,
        overhead_seconds: float = 0.0,
        tick: float = 0.0,
        step_seconds: float = STEP_SECONDS,
    ) -> None:
        self.pace, self.overhead_seconds, self.tick, self.step_seconds = pace, overhead_seconds, tick, step_seconds
        self.now, self.calls = 0.0, 0
        self.steps: list[int] = []
        self.clock = clock.Clock(wall=self.read, process=lambda: 2 * self.now)

    def read(self) -> float:
        """Return the time as the clock shows it."""
        return self.now // self.tick * self.tick if self.tick else self.now

    def chain(self, steps: int) -> None:
        """Do that many steps."""
        self.now += self.overhead_seconds + steps * self.step_seconds * self.pace(self.calls, self.now)
        self.calls += 1
        self.steps.append(steps)


class Target:
    """As much of a program as the steady state asks for; compiles at the chains named."""

    steps_per_call = 1

    def __init__(self, world: World, compiles_at: tuple[int, ...] = ()) -> None:
        self.world, self.compiles_at = world, compiles_at

    def compilations(self) -> int:
        """Return how often it has compiled so far."""
        return sum(self.world.calls > call for call in self.compiles_at)


# As older records have it, whose samples are enough to ask for a trend.
STANDARD = replace(
    profiles.plan("quick", "cpu"), samples=20, warmup_steps=10, warmup_seconds=60.0, sampling_seconds=60.0
)


def run(world: World, number: int, profile: str = "standard", compiles_at: tuple[int, ...] = ()) -> Run:
    """Return what one process leaves in a record, measured by the worker's code in a world of its own.

    That code freezes the collector's objects; whoever is done with it unfreezes them.
    """
    target, said = Target(world, compiles_at), []
    plan = STANDARD if profile == "standard" else profiles.plan(profile, "cpu")
    task = Task(cases=(factory.record().case,), dataset="mnist", seed=0, plan=plan, flow=plan)
    process = Process(task=task, say=said.append, clocks=world.clock)
    found = steady.steady_state(process, world.chain, target)
    samples = tuple(line.sample for line in said if line.sample is not None)
    one = factory.run(number, STEP_SECONDS)
    kept = {name: getattr(one, name) for name in ("round", "seed", "started", "stages", "first_loss", "last_loss")}
    kept |= {"host": one.host, "program": one.program}
    # The load of this machine is no part of the world.
    return msgspec.structs.replace(found, samples=samples, other_load_cores=0.0, **kept)


def measured(runs: tuple[Run, ...], profile: str = "standard") -> Summary:
    """Return the summary of a record with these processes."""
    record = factory.record(step_seconds=(STEP_SECONDS,) * len(runs), profile=profile, runs=runs)
    return summary(msgspec.structs.replace(record, method=1))

"""Campaigns without processes: planned ones, results as they would be, and workers on a clock that only they move."""

from contextlib import contextmanager
from datetime import UTC, datetime

import factory
import msgspec

from suite.driver import campaign
from suite.driver.journal import CompletedRun
from suite.results.records.run import Sample, Stage
from suite.worker_api.clock import Clock
from suite.worker_api.protocol import Message, Task

SOFTWARE = factory.record().software
STAGES = ("lower", "compile", "first_step")


def plan(*cases, profile="quick", about=factory.description, **options):
    names = dict.fromkeys(case.workload for case in cases)
    options = {"within": 0.1} | options
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return campaign.planned(cases, list(map(about, names)), profile, factory.HOST, now, **options)


def case(name="mnist_mlp", backend="cpu", scope="step", **axes):
    return factory.record(name, backend=backend, scope=scope, **axes).case


def done(case, seconds, took=0.0, **changes):
    """What processes left, one a round, each of whose steps took so long."""
    return [
        CompletedRun(case=case, software=SOFTWARE, run=factory.run(number, each, **changes), seconds=took)
        for number, each in enumerate(seconds)
    ]


class SilentChild:
    """A worker that says nothing and has ended in the way that is given."""

    pid, heard = 1, 0.0

    def __init__(self, ending):
        self.ending = ending

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def tell(self, line):
        pass

    def line(self, limit):
        return None

    def ended(self):
        return self.ending


def counts(header):
    return list(header.rounds_by_case().values())


def with_rounds(header, *rounds):
    return header.with_rounds(rounds)


class Watch:
    """Notes what it is told."""

    def __init__(self):
        self.began, self.grown, self.skipped, self.stages, self.ended = [], [], [], [], []

    def begins(self, number, unit):
        self.began.append((number, unit[0]))

    def grows(self, header, why):
        self.grown.append(why)

    def stage(self, name):
        self.stages.append(name)

    def ends(self, unit, done):
        self.ended.append((unit, done))

    def prepares(self, what, done, total): ...

    def skips(self, unit, seconds):
        self.skipped.append((unit[0], seconds))


class FakeClock:
    """Seconds that pass only when somebody says so."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


class Child:
    """A worker whose process takes so many seconds by the clock, and so many a step; one that takes None dies."""

    def __init__(self, clock, took, step_seconds, samples=3):
        self.clock, self.dies = clock, step_seconds is None
        stages = [
            Message(stage=name, stage_time=Stage(name=name, wall_seconds=1.0, process_seconds=1.0)) for name in STAGES
        ]
        sample = Message(
            stage="samples", sample=Sample(wall_seconds=step_seconds or 0, process_seconds=step_seconds or 0)
        )
        end = Message(stage="done", report=factory.FACTS)
        self.lines = [*stages, Message(stage="samples"), *[sample] * samples, end]
        self.took, self.count, self.task = took, len(self.lines), None

    @property
    def heard(self):
        """When the last line came, by the clock of who reads it."""
        return Clock().wall()

    def tell(self, line):
        self.task = msgspec.json.decode(line, type=Task)

    def ended(self):
        return "was killed"

    def line(self, timeout_seconds):
        seconds = self.took / self.count
        self.clock.seconds += min(seconds, timeout_seconds)
        if seconds > timeout_seconds:
            raise TimeoutError
        return None if self.dies else msgspec.json.encode(self.lines.pop(0))


def workers(make):
    """Return what starts a worker: the one that `make` makes for a unit."""

    @contextmanager
    def start(unit):
        yield make(unit)

    return start

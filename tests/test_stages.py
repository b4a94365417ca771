"""The stages of a record are the whole life of its process: whatever a worker asks of a program lies in one of them."""

from contextlib import contextmanager

import factory
import msgspec
import numpy as np
import pytest

from suite import models
from suite.case import Case
from suite.driver import collect, profiles
from suite.programs.jax.program import JaxProgram
from suite.results.records.run import JaxprCost
from suite.worker import checks, main
from suite.worker.checks import PendingWork
from suite.worker_api import clock
from suite.worker_api.protocol import Message, Task
from suite.workload import WholeRun

STARTS, QUIET, ENDS = 2.0, 0.3, 3.0  # seconds until the first word, of it with other load, and from the last word on
PLAN = profiles.plan("quick", "cpu")
TRACED = JaxprCost(flop_per_step=1.0, parameters=1, examples=1, product_dtypes=(), product_precisions=())


class Slow:
    """A program of which each call takes a second and each step 10 ms, by a clock that nothing else moves."""

    steps_per_call = 1

    def __init__(self):
        self.now, self.clock = 0.0, clock.Clock(wall=lambda: self.now, process=lambda: self.now)

    def passes(self, seconds, result=None):
        self.now += seconds
        return result

    def loss(self):
        return 1.0  # of an array that is there

    def compilations(self):
        return 0

    def chain(self, steps):
        self.passes(0.01 * steps)

    feed = chain

    def block(self): ...

    def program_digest(self):
        return "d"

    def profiled(self, run):
        began = self.now
        run()
        return [(began, self.now)]


def call(result=None):
    """Return a method that takes a second and gives this."""
    return lambda slow, *given: slow.passes(1.0, result)


RESULTS = {"jaxpr_cost": TRACED, "state_digest": "d", "platform": "cpu", "packages": {}, "settings": {}}
for name in ("initialise", "put", "lower", "compile", "prepare", "compile_rest", "train", "evaluate", "cache_hits"):
    setattr(Slow, name, call())
for name in ("device_memory_bytes", "bytes_per_step", *RESULTS):
    setattr(Slow, name, call(RESULTS.get(name)))


class Told:
    """A worker that has measured in this process: its lines, each with the time at which it was said."""

    pid, heard = 1, 0.0

    def __init__(self, slow):
        self.slow, self.said = slow, []

    def tell(self, line):
        def say(said):
            self.said.append((self.slow.now, msgspec.json.encode(said)))

        main.measure(msgspec.json.decode(line, type=Task), say, self.slow.clock)

    def line(self, timeout_seconds):
        self.heard, line = self.said.pop(0)
        return line

    def ended(self):
        return "ended"


def stages(monkeypatch, *scopes, replay=True):
    """Return the name and seconds of each stage of a process that measured these scopes, and how long it lived."""
    slow, inputs = Slow(), [{"x": np.full(4, number, np.float32)} for number in range(2)]

    def least(again, clocks):
        return slow.passes(1.0, PendingWork(seconds=0.0, awaited_seconds=0.0))

    monkeypatch.setattr(main.processor, "pin", lambda threads: None)
    monkeypatch.setattr(main, "program", lambda case: slow.passes(1.0, (slow, None)))
    monkeypatch.setattr(main, "inputs_of", lambda owner, task: slow.passes(1.0, inputs))
    monkeypatch.setattr(main.load, "profiler", lambda case: slow.profiled)
    monkeypatch.setattr(checks, "least", least)

    @contextmanager
    def start(unit):
        slow.passes(STARTS)
        yield Told(slow)
        slow.passes(ENDS)

    cases = tuple(Case(workload="mnist_mlp", backend="cpu", scope=scope, batch=4) for scope in scopes)
    run = WholeRun(epochs=2, train=4, test=4)
    task = Task(cases=cases, dataset="mnist", seed=0, plan=PLAN, flow=PLAN, replay=replay, run=run, energy_seconds=11.0)
    done = next(
        collect.run_child(task, 0, 0, lambda stage: None, start, clocks=slow.clock, wait=lambda: slow.passes(QUIET))
    )
    assert done.run.reason == ""
    return [(stage.name, stage.wall_seconds) for stage in done.run.stages], slow.now


SCOPES = [("cold",), ("step",), ("step", "transfer"), ("calls",), ("run",), ("kernels",)]


@pytest.mark.parametrize("scopes", SCOPES)
def test_stages_are_all_of_a_process_but_a_twentieth(monkeypatch, scopes):
    found, lived = stages(monkeypatch, *scopes)
    assert sum(seconds for _, seconds in found) == pytest.approx(lived)
    assert dict(found)["other"] <= 0.05 * lived
    assert [dict(found)[name] for name in ("quiet", "start", "end")] == pytest.approx([QUIET, STARTS, ENDS])


def test_what_is_done_before_samples_and_after_them_is_told_apart(monkeypatch):
    found, _ = stages(monkeypatch, "step", "transfer")
    before = ["quiet", "start", "import", "data", "init", "lower", "compile", "first_step"]
    steps = ["warmup", "doubling", "alone", "collect", "samples"]
    fed = ["warmup", "collect", "transfer_samples"]  # the chain is the one that was checked
    after = ["leftover", "facts", "energy", "audit", "end", "other"]
    assert [name for name, _ in found] == before + steps + fed + after


def test_work_in_no_stage_is_in_other(monkeypatch):
    whole, _ = stages(monkeypatch, "cold", replay=False)
    monkeypatch.setattr(main.steady, "measured_steps", forgetful(main.steady.measured_steps))
    found, lived = stages(monkeypatch, "cold", replay=False)
    assert dict(found)["other"] - dict(whole)["other"] == pytest.approx(1.0)
    assert dict(found)["other"] > 0.05 * lived


def forgetful(measured_steps):
    def measured(process, target, inputs):
        target.state_digest()  # outside of any stage
        return measured_steps(process, target, inputs)

    return measured


def test_a_process_that_says_nothing_is_other_from_its_start_to_its_end():
    fake = Slow()

    class Dumb(Told):
        def tell(self, line): ...

        def line(self, timeout_seconds):
            self.slow.passes(7.0)

    @contextmanager
    def start(unit):
        yield Dumb(fake)

    task = Task(cases=(factory.record().case,), dataset="mnist", seed=0, plan=PLAN, flow=PLAN)
    (done,) = collect.run_child(task, 0, 0, lambda stage: None, start, clocks=fake.clock)
    assert [(stage.name, stage.wall_seconds) for stage in done.run.stages] == [("other", 7.0)]


def test_the_interpreter_starts_while_the_machine_is_watched_and_has_its_task_afterwards():
    fake, order = Slow(), []

    class Ordered(Told):
        def tell(self, line):
            order.append("task")
            self.said = [(fake.now, msgspec.json.encode(Message(stage="done", report=factory.FACTS)))]

    @contextmanager
    def start(unit):
        order.append("started")
        yield Ordered(fake)

    task = Task(cases=(factory.record().case,), dataset="mnist", seed=0, plan=PLAN, flow=PLAN)
    list(collect.run_child(task, 0, 0, lambda stage: None, start, wait=lambda: order.append("quiet")))
    assert order == ["started", "quiet", "task"]


def test_a_program_that_starts_again_compiles_nothing_for_it():
    workload = models.load("mnist_mlp")
    program = JaxProgram(workload, Case(workload="mnist_mlp", backend="cpu", scope="step", batch=4))
    program.initialise(0)
    first, state = program.compilations(), program.state_digest()
    program.initialise(1)
    assert program.state_digest() != state
    program.initialise(0)
    assert program.state_digest() == state
    assert program.compilations() == first > 0

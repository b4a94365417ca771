"""Steps from storage on: the steady flow is what counts, the step alone stands beside it, and faults are told."""

import itertools
from dataclasses import replace

import factory
import msgspec
import numpy as np
import pytest

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.data.pipeline import Plan
from suite.data.prepare.crops import Crop
from suite.data.prepare.pictures import Pixels
from suite.driver import profiles
from suite.driver.cases import default_cases
from suite.driver.request import Request, check_applies
from suite.programs.jax.program import JaxProgram
from suite.results.cite.one_host import numbers
from suite.results.single.summary import summary
from suite.worker import epoch
from suite.worker.recorder import Process
from suite.worker_api.clock import Clock
from suite.worker_api.protocol import Task

HERE = MachineCapabilities(backends=("cpu", "gpu"), cores=4)


class World:
    """A clock that a pipeline and a device move: each batch takes its time to come, each step to be taken."""

    steps_per_call = 1

    def __init__(self, batch_seconds, step_seconds, queue=0, first=5.0):
        self.now, self.first, self.batch, self.step, self.waiting = 0.0, first, batch_seconds, step_seconds, queue
        self.learnt, self.opened = 0, None

    def initialise(self, seed): ...
    def put(self, batches): ...
    def lower(self): ...
    def compile(self): ...
    def block(self): ...

    def loss(self):
        return 1.0

    def compilations(self):
        return 0

    def chain(self, steps):
        self.now += steps * self.step

    def learn(self, batches):
        for _ in batches:
            self.now += self.step
            self.learnt += 1

    def open(self, train, preparation, plan):
        self.opened = plan
        self.now += self.first
        for _ in itertools.count():
            self.waiting -= 1
            if self.waiting < 0:
                self.now += max(0.0, self.batch - self.step)
            yield {"images": np.zeros(1)}


def task(profile="quick", **axes):
    case = Case(workload="mnist_mlp", backend="cpu", scope=axes.pop("scope", "epoch"), batch=32, **axes)
    plan = profiles.plan(profile, "cpu")
    return Task(cases=(case,), dataset="mnist", seed=0, plan=plan, flow=profiles.flow(profile))


@pytest.fixture(autouse=True)
def no_storage(monkeypatch):
    monkeypatch.setattr(epoch.store, "prepare", lambda *_: None)
    monkeypatch.setattr(epoch.store, "split", lambda *_: None)


def measured(world, profile="quick", preparation=None, **axes):
    """Return what was seen of a world, and the samples that were said."""
    said = []
    process = Process(
        task=task(profile, **axes), say=said.append, clocks=Clock(wall=lambda: world.now, process=lambda: world.now)
    )
    owner = type("Owner", (), {"preparation": preparation or Pixels(), "draw": None})
    if process.case.scope == "input":
        epoch.measured_input(process, owner, world.open)
    else:
        epoch.measured_epoch(process, world, [], owner, world.open)
    seen = process.runs[process.case.scope]
    samples = tuple(line.sample for line in said if line.sample is not None)
    return msgspec.structs.replace(seen, samples=samples)


def step_of(seen):
    return sum(s.wall_seconds for s in seen.samples) / seen.steps_per_sample / len(seen.samples)


def test_a_slow_input_sets_the_pace_and_the_step_alone_stands_beside_it():
    seen = measured(World(batch_seconds=0.2, step_seconds=0.05))
    assert step_of(seen) == pytest.approx(0.2)
    assert seen.step_alone_seconds == pytest.approx(0.05)
    assert seen.first_batch_seconds == pytest.approx(5.15)


def test_a_slow_device_sets_the_pace():
    seen = measured(World(batch_seconds=0.01, step_seconds=0.5))
    assert step_of(seen) == pytest.approx(0.5)


def test_there_are_at_least_twenty_steps_and_five_seconds_after_the_first_batch():
    for seconds in (0.001, 0.3, 2.0):
        seen = measured(World(batch_seconds=seconds, step_seconds=seconds))
        assert len(seen.samples) * seen.steps_per_sample >= 20
        assert sum(s.wall_seconds for s in seen.samples) >= 5


def test_no_more_than_about_a_minute_is_sampled():
    seen = measured(World(batch_seconds=6.0, step_seconds=6.0))
    assert len(seen.samples) == 3
    assert sum(s.wall_seconds for s in seen.samples) == pytest.approx(72)


def test_what_waits_in_the_queue_at_the_start_is_used_up_before_samples_count():
    seen = measured(World(batch_seconds=0.1, step_seconds=0.001, queue=10))
    assert step_of(seen) == pytest.approx(0.1)
    assert len(seen.warmup) >= 2


def test_the_pipeline_alone_has_no_step():
    seen = measured(World(batch_seconds=0.1, step_seconds=0.0), scope="input")
    assert step_of(seen) == pytest.approx(0.1)
    assert seen.step_alone_seconds is None


def test_the_pipeline_is_run_as_the_case_says():
    world = World(0.1, 0.1)
    measured(world, "smoke", workers=3, loader="processes", queue=2, augmentation="none", stored="memory")
    assert world.opened == Plan(
        batch=32, seed=0, workers=3, loader="processes", queue=2, augmented=False, in_memory=True
    )


def test_a_workload_without_stored_data_has_no_epoch():
    with pytest.raises(
        ValueError, match="scope 'epoch' of 'random' data asked for, workload 'mnist_mlp' has no stored data"
    ):
        measured(World(0.1, 0.1), data="random")


def test_only_photographs_can_be_decoded_at_a_part_of_their_size():
    with pytest.raises(ValueError, match="decoding 'scaled' asked for, workload 'mnist_mlp' reads no photographs"):
        measured(World(0.1, 0.1), decoding="scaled")


def test_learning_takes_the_very_steps_that_the_timed_chain_takes():
    workload = models.load("mnist_mlp")
    case = Case(workload="mnist_mlp", backend="cpu", scope="epoch", batch=8)
    rng = np.random.default_rng(0)
    batches = [
        {
            "images": rng.random((8, 28, 28, 1), np.float32),
            "labels": np.eye(10, dtype=np.float32)[rng.integers(0, 10, 8)],
        }
        for _ in range(4)
    ]
    losses = []
    for steps in ("chain", "learn"):
        program = JaxProgram(workload, case)
        program.initialise(0)
        program.put(batches)
        program.lower()
        program.compile()
        program.chain(4) if steps == "chain" else program.learn(iter(batches))
        program.block()
        losses.append(program.loss())
    assert losses[0] == losses[1]


def test_epochs_and_inputs_are_planned_where_data_is_stored():
    about = factory.description()
    unstored = msgspec.structs.replace(about, name="drawn", data="random")
    asked = Request(scopes=("epoch", "input"), implementations=("jax", "torch"), workers=(1, 4))
    cases = default_cases(asked, [about, unstored], HERE)
    assert {(c.workload, c.backend, c.scope, c.implementation, c.loader, c.workers) for c in cases} == {
        (about.name, backend, scope, implementation, loader, workers)
        for workers in (1, 4)
        for backend, scope, implementation, loader in (
            ("cpu", "epoch", "jax", "threads"),
            ("gpu", "epoch", "jax", "threads"),
            ("cpu", "input", "jax", "threads"),
            ("cpu", "input", "torch", "processes"),
        )
    }


def test_real_data_is_asked_for_where_there_is_any():
    about = factory.description()
    unstored = msgspec.structs.replace(about, name="drawn", data="random")
    cases = default_cases(Request(scopes=("step",)), [about, unstored], replace(HERE, data="tfds"))
    assert {(case.workload, case.data) for case in cases} == {(about.name, "tfds"), ("drawn", "random")}


def test_options_of_the_input_are_refused_where_no_scope_has_one():
    asked = Request(workers=(2,))
    for scope in ("epoch", "input", "learning"):
        check_applies(asked, scopes=("step", scope))
    check_applies(Request(), scopes=("step",))
    with pytest.raises(ValueError, match="--workers asked for without scope epoch, input or learning; add"):
        check_applies(asked, scopes=("step", "cold"))


def test_a_crop_that_the_device_takes_is_brought_whole():
    """The pipeline leaves the picture as it is stored where the step itself cuts and distorts it."""
    brought = []

    class Crops(World):
        def open(self, train, preparation, plan):
            brought.append(preparation)
            return super().open(train, preparation, plan)

    measured(Crops(0.1, 0.1), "smoke", augmentation="device", preparation=Crop())
    measured(Crops(0.1, 0.1), "smoke", preparation=Crop())
    assert brought == [Crop().undistorted(), Crop()]


def test_nothing_is_computed_where_the_input_is_alone():
    found = summary(factory.record(scope="input"))
    assert found.examples_per_second is not None
    assert found.flop_per_second is None
    assert "flop-per-second" not in {number.key.metric for number in numbers([factory.record(scope="input")])}

"""A whole run takes the documented epochs, every example once in each; first calls and transfers are what they say."""

from dataclasses import replace
from datetime import UTC, datetime

import factory
import msgspec
import numpy as np
import pytest
import synthetic

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver import campaign, collect, profiles, runner
from suite.driver.cases import default_cases
from suite.driver.journal import CompletedRun
from suite.driver.request import Request
from suite.programs.jax.epochs import JaxRun, ResidentRun
from suite.programs.jax.nnx_jit import NnxProgram
from suite.programs.jax.program import JaxProgram
from suite.results.records.machine import Software
from suite.worker import steady
from suite.worker.recorder import Process
from suite.worker.whole_run import whole_run
from suite.worker_api.clock import Clock, Plan
from suite.worker_api.protocol import Task
from suite.workload import WholeRun

HERE = MachineCapabilities(backends=("cpu",), cores=4)
PLAN = Plan(samples=3, chain_seconds=0.0, warmup_steps=1, warmup_seconds=0, sampling_seconds=0)


class Recorded:
    """A program that notes what it is asked to do."""

    def __init__(self):
        self.orders, self.shapes, self.evaluated = [], None, 0

    def initialise(self, seed): ...
    def lower(self): ...
    def compile(self): ...
    def compile_rest(self, train, test): ...

    def prepare(self, examples):
        self.shapes = [array.shape for array in examples.values()]

    def train(self, examples, order):
        self.orders.append(list(order))

    def evaluate(self, examples):
        self.evaluated += 1


def staged(names):
    def stage(name, run):
        names.append(name)
        return run()

    return stage


def test_every_example_comes_once_an_epoch_in_a_new_order():
    program, names = Recorded(), []
    train = {"images": np.zeros((10, 3), np.float32)}
    whole_run(program, WholeRun(epochs=3, train=10, test=4), train, train, 7, staged(names))
    assert names == ["init", "lower", "compile", "compile_rest", *["epoch", "validation"] * 3]
    assert all(sorted(order) == list(range(10)) for order in program.orders)
    assert len({tuple(order) for order in program.orders}) == 3
    assert program.shapes == [(10, 3)]
    assert program.evaluated == 3


def test_a_run_without_validation_has_none():
    names = []
    whole_run(Recorded(), WholeRun(epochs=2, train=4), {"x": np.zeros((4, 1))}, None, 0, staged(names))
    assert names == ["init", "lower", "compile", "compile_rest", "epoch", "epoch"]


def text_cnn():
    workload = models.load("imdb_text_cnn")
    case = Case(workload="imdb_text_cnn", backend="cpu", scope="run", batch=4, data="random")
    return workload, case, synthetic.drawn(workload, np.random.default_rng(0), 10)


def started(kind, workload, case, examples):
    program = kind(workload, case)
    program.initialise(0)
    program.put([{name: array[start : start + case.batch] for name, array in examples.items()} for start in (0, 4)])
    program.lower()
    program.compile()
    return program


def test_an_epoch_takes_the_very_steps_of_the_timed_step_and_a_smaller_last_one():
    workload, case, examples = text_cnn()
    epoch, steps = (started(kind, workload, case, examples) for kind in (JaxRun, JaxProgram))
    epoch.train(examples, np.arange(8))
    steps.chain(2)
    assert epoch.loss() == steps.loss()
    epoch.train(examples, np.arange(8, 10))
    assert np.isfinite(epoch.loss())


def test_an_epoch_on_the_device_takes_the_same_steps():
    workload, case, examples = text_cnn()
    order = np.random.default_rng(1).permutation(10)
    seen = []
    for kind in (JaxRun, ResidentRun):
        program = kind(workload, case)
        program.initialise(0)
        program.prepare(examples)
        program.lower()
        program.compile()
        program.train(examples, order)
        program.train(examples, order[::-1])
        seen.append(program.loss())
    assert seen[1] == pytest.approx(seen[0], rel=1e-5)


@pytest.mark.parametrize("kind", [JaxRun, ResidentRun])
def test_all_that_a_run_compiles_is_compiled_before_its_first_epoch(kind, monkeypatch):
    workload, case, examples = text_cnn()
    program = kind(workload, case)
    program.initialise(0)
    program.prepare(examples)
    program.lower()
    program.compile()
    program.compile_rest(examples, {name: array[:7] for name, array in examples.items()})
    monkeypatch.setattr(program, "trace", None)
    program.train(examples, np.arange(10))
    program.evaluate({name: array[:7] for name, array in examples.items()})
    assert np.isfinite(program.loss())


def test_validation_learns_nothing_and_drops_nothing():
    workload, case, examples = text_cnn()
    program = started(JaxRun, workload, case, examples)
    program.train(examples, np.arange(4))
    before = program.loss()
    program.evaluate(examples)
    program.train(examples, np.arange(4, 8))
    again = started(JaxRun, workload, case, examples)
    again.train(examples, np.arange(8))
    assert program.loss() == again.loss()
    assert program.loss() != before


@pytest.mark.parametrize("kind", [JaxProgram, NnxProgram])
def test_a_step_with_its_batch_from_the_host_is_the_same_step(kind):
    workload, case, examples = text_cnn()
    there, copied = (started(kind, workload, replace_scope(case, "transfer"), examples) for _ in range(2))
    there.chain(3)
    copied.feed(3)
    there.block()
    copied.block()
    assert copied.loss() == there.loss()


def replace_scope(case, scope):
    return Case(workload=case.workload, backend="cpu", scope=scope, batch=case.batch, data=case.data)


class Ticking:
    """A program each of whose calls moves a clock: the first by much more."""

    steps_per_call = 1

    def __init__(self):
        self.now, self.calls = 0.0, 0

    def chain(self, steps):
        self.calls += 1
        self.now += 10.0 if self.calls == 1 else float(self.calls)

    def initialise(self, seed): ...
    def put(self, batches): ...
    def block(self): ...

    def lower(self):
        self.now += 100.0

    def compile(self):
        self.now += 1000.0

    def loss(self):
        return 1.0


def test_first_calls_are_four_and_the_first_has_its_compilation():
    program = Ticking()
    clocks = Clock(wall=lambda: program.now, process=lambda: program.now)
    task = Task(cases=(factory.record(scope="calls").case,), dataset="mnist", seed=0, plan=PLAN, flow=PLAN)

    process = Process(task=task, say=lambda line: None, clocks=clocks)
    steady.measured_steps(process, program, [])
    seen = process.runs
    assert [sample.wall_seconds for sample in seen["calls"].warmup] == [1110.0, 2.0]
    assert [sample.wall_seconds for sample in seen["calls"].samples] == [3.0, 4.0]
    assert program.calls == 4


@pytest.mark.parametrize(("second", "samples"), [(0.02, 3), (60.0, 1)])
def test_a_second_step_decides_whether_samples_are_shortened_since_the_first_may_compile(second, samples):
    program = Ticking()
    program.chain = lambda steps: setattr(program, "now", program.now + (seconds.pop() if seconds else 0.02 * steps))
    seconds = [second, 40.0]  # the first comes last
    clocks = Clock(wall=lambda: program.now, process=lambda: program.now)
    plan = replace(PLAN, samples=3, chain_seconds=0.05, warmup_steps=3)
    case = factory.record(scope="cold").case
    process = Process(
        task=Task(cases=(case,), dataset="mnist", seed=0, plan=plan, flow=PLAN, most_seconds=1200.0),
        say=lambda line: None,
        clocks=clocks,
    )
    steady.measured_steps(process, program, [])
    assert process.task.plan.samples == samples


def test_a_whole_run_is_taken_once_in_quick_and_shortened_in_smoke():
    documented = WholeRun(epochs=20, train=60_000, test=10_000)
    assert profiles.whole_run("quick", documented, 1) == documented
    assert profiles.whole_run("quick", documented, 10).epochs == 200
    smoke = profiles.whole_run("smoke", documented, 10)
    assert (smoke.epochs, smoke.train % 128 != 0) == (1, True), "a smoke run has a smaller last batch too"
    assert profiles.whole_run("quick", None, 1) is None
    cases = (factory.record(scope="run").case, factory.record().case)
    header = campaign.planned(cases, [factory.description()], "quick", factory.HOST, datetime(2026, 1, 1, tzinfo=UTC))
    assert [header.rounds_of(case) for case in cases] == [1, 3]
    assert campaign.process_groups(cases) == ((cases[0],), (cases[1],))
    software = Software(suite="0", python="3", packages={}, settings={})
    done = [CompletedRun(case=case, software=software, run=factory.run(0, 1.0)) for case in cases]
    assert [record.rounds for record in campaign.records(header, done)] == [1, 3]


def test_what_has_no_such_scope_is_not_asked_for_it():
    about = factory.description()
    documented = replaced(about, run=WholeRun(epochs=1, train=1))

    def scopes(description, **axes):
        asked = Request(scopes=("step", "transfer", "cold", "run"), **axes)
        found = default_cases(asked, [description], HERE)
        return {case.scope for case in found}

    assert scopes(about) == {"step", "transfer", "cold"}
    assert scopes(documented) == {"step", "transfer", "cold", "run"}
    assert scopes(about, implementations=("torch",)) == {"step"}
    assert scopes(documented, implementations=("torch",)) == {"step", "run"}
    assert scopes(documented, variants=("scan",)) == {"step"}
    assert scopes(documented, variants=("resident",)) == {"run"}
    assert scopes(documented, variants=("nnx-jit",)) == {"step", "transfer", "cold"}
    warm = default_cases(Request(cold_starts=("empty", "warm")), [about], HERE)
    assert [(case.scope, case.cache) for case in warm] == [
        ("step", "empty"), ("transfer", "empty"), ("cold", "empty"), ("cold", "warm")]  # fmt: skip


def replaced(about, **changes):
    return msgspec.structs.replace(about, **changes)


def test_what_a_user_s_loop_takes_from_the_compile_cache_is_counted_from_its_first_call_on():
    about = models.load("mnist_mlp")
    program = NnxProgram(about, Case(workload="mnist_mlp", backend="cpu", scope="cold", batch=8, variant="nnx-jit"))
    taken = "/jax/compilation_cache/cache_hits"
    program._count_hits(taken)  # what draws the parameters
    program.compile()
    assert program.cache_hits() == 0
    program._count_hits(taken)
    assert program.cache_hits() == 1


def test_examples_that_fill_no_batch_are_refused_where_the_whole_epoch_is_one_program():
    about = models.load("mnist_mlp")
    case = Case(workload="mnist_mlp", backend="cpu", scope="run", batch=8, variant="resident")
    program = ResidentRun(about, case)
    program.initialise(0)
    (examples,) = synthetic.batches(about, "mnist", 7, 1)
    with pytest.raises(ValueError, match="needs a whole batch of 8, and there are 7 examples; choose a smaller"):
        program.prepare(examples)


def test_a_warm_cache_is_filled_once_and_one_that_gives_nothing_is_no_result(tmp_path, monkeypatch):
    case = factory.record(scope="cold", cache="warm").case
    task, filled = Task(cases=(case,), dataset="mnist", seed=0, plan=PLAN, flow=PLAN), []

    def process(task, *_, **__):
        filled.append(task)
        return iter(())

    class Watch:
        def stage(self, name): ...

    monkeypatch.setattr(runner, "run_child", process)
    for _ in range(3):
        assert runner.fill_compile_cache(task, 1, 2, tmp_path, Watch(), lambda unit: None) == ()
    assert len(filled) == 1
    (runner.warm_cache(case, tmp_path) / "filled").unlink()  # as if killed while it was filled
    runner.fill_compile_cache(task, 1, 2, tmp_path, Watch(), lambda unit: None)
    assert len(filled) == 2
    (runner.warm_cache(case, tmp_path) / "filled").unlink()
    run = factory.run(1, 0.1, samples=0, reason="the worker was killed by SIGKILL")
    failed = CompletedRun(case=case, software=factory.record().software, run=run)
    monkeypatch.setattr(runner, "run_child", lambda *_, **__: iter([failed]))
    assert runner.fill_compile_cache(task, 1, 2, tmp_path, Watch(), lambda unit: None) == (failed,)
    assert not (runner.warm_cache(case, tmp_path) / "filled").exists()
    none, one = factory.told(cache_hits=0), factory.told(cache_hits=1)
    assert "nothing came from the compile cache" in collect.failure_reason(case, none)
    assert collect.failure_reason(case, one) == ""
    assert collect.failure_reason(factory.record(scope="cold").case, none) == ""


def test_what_holds_weights_as_constants_has_the_same_in_each_round():
    """Otherwise a warm cache holds nothing, and a GPU's kernels are compiled and chosen anew."""
    cases = [factory.record(scope="cold", cache=cache).case for cache in ("warm", "empty")]
    header = campaign.planned(cases, [factory.description()], "quick", factory.HOST, datetime(2026, 1, 1, tzinfo=UTC))
    warm, empty = ([runner.seed(header, case, number, True) - header.seed for number in range(3)] for case in cases)
    assert (warm, empty) == ([0, 0, 0], [0, 1, 2])
    assert {runner.seed(header, cases[1], number, False) for number in range(3)} == {header.seed}

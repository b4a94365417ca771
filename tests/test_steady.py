"""Steps of a scripted program: the first one cold, calls, steps and steps that are fed, each with its own stages."""

import gc

import factory
import msgspec
import pytest
from trust.worlds import World

from suite.driver import profiles
from suite.worker import steady
from suite.worker.recorder import Process
from suite.worker_api.protocol import Task


class Scripted:
    """A program that takes scripted times, and notes what it was asked for."""

    def __init__(self, world, first=2.0, per_call=1):
        self.world, self.first, self.steps_per_call, self.asked, self.begun = world, first, per_call, [], False

    def initialise(self, seed):
        self.asked.append(("initialise", seed))
        self.world.now += 0.5

    def put(self, inputs):
        self.asked.append(("put", inputs))

    def block(self):
        self.asked.append("block")

    def lower(self):
        self.world.now += 3.0

    def compile(self):
        self.world.now += 4.0

    def chain(self, steps):
        self.asked.append(steps)
        if self.begun:
            self.world.chain(steps)
        else:
            self.world.now += self.first
        self.begun = True

    def loss(self):
        return 2.5

    def compilations(self):
        return 0


class Fed(Scripted):
    """One that copies its batches from the host."""

    def feed(self, steps):
        self.asked.append(("feed", steps))
        self.world.chain(steps)


class Graphed(Scripted):
    """One whose CUDA graph lacks kernels until it is compiled after a step."""

    lacks = False

    def compile(self):
        super().compile()
        self.lacks = not self.begun

    def lacks_kernels(self):
        return self.lacks


def process(world, *scopes, **changes):
    case = factory.record().case
    cases = tuple(msgspec.structs.replace(case, scope=scope) for scope in scopes)
    plan = profiles.plan("quick", "cpu")
    told = []
    task = Task(cases=cases, dataset="mnist", seed=7, plan=plan, flow=plan, **changes)
    made = Process(task=task, say=told.append, clocks=world.clock)
    return made, told


def stages(told):
    return [line.stage for line in told if line.stage_time is not None]


def test_a_program_is_brought_to_the_end_of_its_first_step_and_a_cold_start_is_all_but_its_initial_values():
    world = World()
    target, (made, told) = Scripted(world), process(world, "cold")
    assert steady.measured_steps(made, target, ["a batch"]) == 2.5
    assert target.asked == [("initialise", 7), ("put", ["a batch"]), "block", 1, "block"]
    assert stages(told) == ["init", "lower", "compile", "first_step"]
    (cold,) = made.runs["cold"].samples
    assert (cold.wall_seconds, cold.process_seconds) == (9.0, 18.0)
    assert list(made.runs) == ["cold"]


@pytest.mark.parametrize("scopes", [("step", "transfer", "cold"), ("step",), ("kernels",)])
def test_a_graph_that_lacks_kernels_is_made_again_after_the_cold_start(scopes):
    world = World()
    target, (made, told) = Graphed(world), process(world, *scopes)
    cold = steady.started(made, target, [])
    assert stages(told) == ["init", "lower", "compile", "first_step", "recompile"]
    assert cold.wall_seconds == 9.0
    assert not target.lacks


@pytest.mark.parametrize(
    ("kind", "scopes"), [(Graphed, ("cold",)), (Graphed, ("calls",)), (Scripted, ("step",))], ids=str
)
def test_what_times_its_first_program_alone_compiles_once(kind, scopes):
    world = World()
    made, told = process(world, *scopes)
    steady.started(made, kind(world), [])
    assert stages(told) == ["init", "lower", "compile", "first_step"]


def test_a_first_call_has_all_its_steps_and_is_too_long_by_one_of_them():
    world = World()
    target, (made, _) = Scripted(world, first=8.0, per_call=4), process(world, "step", longest_step_seconds=2.0)
    steady.started(made, target, [])
    assert target.asked[-2:] == [4, "block"]
    made, _ = process(world, "step", longest_step_seconds=1.9)
    with pytest.raises(steady.TooLongError) as raised:
        steady.started(made, Scripted(world, first=8.0, per_call=4), [])
    assert str(raised.value) == "skipped: its first step took 2.00 s, what takes more than 1.90 s is left out"


def test_of_calls_the_second_is_warm_up_and_two_more_are_timed_each_of_all_its_steps():
    world = World(step_seconds=0.25)
    target, (made, told) = Scripted(world, per_call=4), process(world, "calls")
    steady.measured_steps(made, target, [])
    found = made.runs["calls"]
    assert [sample.wall_seconds for sample in found.warmup] == [9.0, 1.0]
    assert [sample.wall_seconds for sample in found.samples] == [1.0, 1.0]
    assert found.steps_per_sample == 4
    assert [each for each in target.asked if isinstance(each, int)] == [4, 4, 4, 4]
    assert stages(told)[-1] == "calls"


def test_steps_are_timed_and_then_those_that_are_fed_of_as_many_steps_without_looking_for_them_again():
    world = World()
    target, (made, told) = Fed(world), process(world, "step", "transfer")
    steady.measured_steps(made, target, [])
    step, fed = made.runs["step"], made.runs["transfer"]
    assert fed.steps_per_sample == step.steps_per_sample > 1
    assert step.doubling_ratio == pytest.approx(2.0)
    assert fed.doubling_ratio is None
    assert len(step.blocking_samples) == 30
    assert fed.blocking_samples == ()
    asked = [each for each in target.asked if each != "block"]
    feeds = [each for each in asked if isinstance(each, tuple) and each[0] == "feed"]
    assert {count for _, count in feeds} == {step.steps_per_sample}
    assert target.asked[-2:] == [feeds[-1], "block"]
    assert len(fed.warmup) < len(step.warmup)
    assert stages(told).count("warmup") == 2
    assert stages(told).count("doubling") == 1


def test_steps_that_are_fed_alone_are_looked_for():
    world = World()
    made, _ = process(world, "transfer")
    steady.measured_steps(made, Fed(world), [])
    assert made.runs["transfer"].doubling_ratio == pytest.approx(2.0)
    assert made.runs["transfer"].blocking_samples == ()
    assert list(made.runs) == ["transfer"]


def test_a_program_that_cannot_be_fed_says_so():
    world = World()
    made, _ = process(world, "transfer")
    with pytest.raises(LookupError, match=r"^scope 'transfer' asked for, Scripted does not support it$"):
        steady.measured_steps(made, Scripted(world), [])


def test_of_the_last_three_chains_of_a_warm_up_the_shortest_says_how_long_a_chain_is(monkeypatch):
    lengths = []
    monkeypatch.setattr(
        steady.doubling, "proportional", lambda run, steps, clocks, lasted, call: lengths.append(lasted) or (steps, 2.0)
    )
    walls = (0.1, 0.7, 0.5, 0.6)
    samples = [factory.run(0, 1.0, samples=1).samples[0]] * 4
    warm = tuple(msgspec.structs.replace(s, wall_seconds=w) for s, w in zip(samples, walls, strict=True))
    monkeypatch.setattr(steady.clock, "calibrate", lambda *_: (64, warm))
    world = World()
    made, _ = process(world, "step")
    steady.steady_state(made, world.chain, Scripted(world))
    assert lengths == [0.5]


@pytest.mark.parametrize(("seconds", "shortened"), [(1000.0, False), (40.0, True), (None, False)])
def test_a_plan_is_shortened_where_a_second_step_shows_that_it_does_not_fit(seconds, shortened):
    world = World(step_seconds=5.0)
    target, (made, told) = Scripted(world, first=5.0), process(world, "step", most_seconds=seconds)
    steady.measured_steps(made, target, [])
    assert (made.task.plan.samples == 1) is shortened
    assert ("second_step" in stages(told)) is shortened


def test_a_first_step_that_compiled_shortens_no_plan_and_scopes_share_the_time():
    slow_first = World(step_seconds=0.01)
    made, told = process(slow_first, "step", most_seconds=60.0)
    asked = made.task.plan
    steady.measured_steps(made, Scripted(slow_first, first=20.0), [])
    assert made.task.plan == asked
    assert "second_step" in stages(told)


def test_a_second_call_that_is_timed_anyway_is_taken_by_nobody_else():
    world = World(step_seconds=5.0)
    made, told = process(world, "calls", most_seconds=40.0)
    steady.measured_steps(made, Scripted(world, first=5.0), [])
    assert "second_step" not in stages(told)


def test_energy_is_counted_of_the_steps_that_were_timed_for_so_long_and_only_if_asked_for():
    world = World()
    made, told = process(world, "step", energy_seconds=2.0)
    target = Scripted(world)
    target.begun = True
    assert steady.sustained(made, target) is None
    made.runs["step"] = made.run(steps_per_sample=250)
    assert steady.sustained(made, target) == pytest.approx(0.001)
    assert stages(told) == ["energy"]
    assert world.now == pytest.approx(2.0)
    assert {each for each in target.asked if each != "block"} == {250}
    made.task = msgspec.structs.replace(made.task, energy_seconds=0.0)
    assert steady.sustained(made, target) is None


def test_a_step_that_takes_several_steps_a_call_is_not_waited_for_alone():
    world = World()
    made, _ = process(world, "step")
    assert steady.steady_state(made, world.chain, Scripted(world, per_call=4)).blocking_samples == ()


@pytest.mark.parametrize(("scope", "runs"), [("step", False), ("transfer", False), ("written", True)])
def test_the_garbage_collector_runs_in_the_samples_of_a_loop_as_written_alone(scope, runs):
    seen, world = [], World(step_seconds=0.001)
    own, _ = process(world, scope)
    own.say = lambda line: seen.append(gc.isenabled()) if line.sample else None
    steady.steady_state(own, world.chain, Scripted(world), scope)
    assert set(seen) == {runs}
    assert gc.isenabled()

"""A step that is waited for before the next: timed beside the samples, and a rung and a number of its own."""

import factory
import msgspec
import pytest
from factory import of_one_machine
from trust.worlds import Target, World

from suite.driver import profiles
from suite.report.parts import ladder as shown
from suite.results.cite.citation import Citation, text
from suite.results.cite.one_host import numbers
from suite.results.pooled import ladder
from suite.results.records.run import Sample, Telemetry
from suite.results.single.latency import blocking_step
from suite.results.single.summary import summary
from suite.worker import steady
from suite.worker.recorder import Process
from suite.worker_api.protocol import Task


def seen(world, scope="step", steps_per_call=1):
    """Return what a process saw of a scope, and after how many chains its samples began."""
    target, began = Target(world), []
    target.steps_per_call = steps_per_call
    plan = profiles.plan("quick", "cpu")
    task = Task(cases=(factory.record(scope=scope).case,), dataset="mnist", seed=0, plan=plan, flow=plan)
    process = Process(task=task, say=lambda line: began.append((line.stage, world.calls)), clocks=world.clock)
    return steady.steady_state(process, world.chain, target, scope), dict(reversed(began))


def test_thirty_steps_are_waited_for_before_the_samples_which_they_leave_as_they_are():
    world = World(step_seconds=0.001, overhead_seconds=0.0001)
    found, began = seen(world)
    assert [one.wall_seconds for one in found.blocking_samples] == pytest.approx([0.0011] * 30)
    assert world.steps[began["samples"] - 30 : began["samples"]] == [1] * 30
    assert set(world.steps[began["samples"] :]) == {found.steps_per_sample} != {1}


def test_slow_steps_are_waited_for_a_second_long_and_three_at_least():
    assert len(seen(World(step_seconds=0.06))[0].blocking_samples) == 17
    slow = World(lambda call, now: 400.0 if now > 0.1 else 1.0, step_seconds=0.001)  # K was found while it was fast
    assert len(seen(slow)[0].blocking_samples) == 3


@pytest.mark.parametrize(
    ("world", "options"),
    [
        (World(step_seconds=0.2), {}),  # a sample is one step
        (World(), {"scope": "transfer"}),
        (World(), {"steps_per_call": 4}),
    ],
)
def test_none_is_where_a_sample_is_one_step_where_it_is_copied_and_where_a_call_has_several(world, options):
    assert seen(world, **options)[0].blocking_samples == ()


def step(backend, seconds, alone=None, noise=(1.0, 1.01, 0.99), **changes):
    """Return a record of steps whose processes also waited for single ones that took `alone` seconds, if any."""
    made = factory.record(backend=backend, step_seconds=[seconds * share for share in noise], **changes)
    if alone is None:
        return made
    runs = tuple(
        msgspec.structs.replace(
            run, blocking_samples=tuple(Sample(wall_seconds=alone * share, process_seconds=alone) for _ in range(3))
        )
        for run, share in zip(made.runs, noise, strict=True)
    )
    return msgspec.structs.replace(made, runs=runs)


def test_the_ladder_has_it_behind_the_step_with_its_own_ratio_and_no_part_in_the_curve():
    sides = [step("cpu", 0.010, 0.011), step("gpu", 0.001, 0.0022)]
    colds = [factory.record(backend=side, scope="cold", step_seconds=(2.0,) * 3) for side in ("cpu", "gpu")]
    found = of_one_machine(factory.on_hosts([*sides, *colds]))
    plain, waited, cold = ladder.ladder(found.records, found.speedups)
    assert (plain.case.scope, plain.blocking, waited.blocking, cold.case.scope) == ("step", False, True, "cold")
    assert (plain.ratio.value, waited.ratio.value) == (pytest.approx(10), pytest.approx(5))
    assert waited.words == "a blocking step"
    assert ladder.amortised((plain, waited, cold)) == ladder.amortised((plain, cold)) != ()
    table = shown.table((plain, waited, cold), factory.description(), "a machine")
    assert [row[0].text.split(":")[0] for row in table.rows] == ["a step", "latency", "cold start"]


def test_a_sample_of_one_step_is_a_step_that_is_waited_for():
    slow = step("cpu", 0.5)
    slow = msgspec.structs.replace(
        slow, runs=tuple(msgspec.structs.replace(run, steps_per_sample=1) for run in slow.runs)
    )
    each = summary(slow).record.runs[0].samples[0].wall_seconds
    (_, waited) = ladder.ladder([slow, step("gpu", 0.001, 0.002)])
    assert waited.ratio.value == pytest.approx(each / 0.002, rel=0.02)
    assert [rung.blocking for rung in ladder.ladder([slow])] == [False]  # which would say the same twice


def test_a_side_that_waited_for_none_has_none():
    (_, waited) = ladder.ladder([step("cpu", 0.010), step("gpu", 0.001, 0.002)])
    assert (waited.cpu, waited.ratio) == (None, None)
    assert [rung.blocking for rung in ladder.ladder([step("cpu", 0.010), step("gpu", 0.001)])] == [False]


def test_it_is_of_the_campaign_that_waited_whichever_the_step_is_of():
    older, newer = {"campaign": "a"}, {"campaign": "b", "created": "2026-01-02T00:00:00Z"}
    both = [step("cpu", 0.010, **older), step("gpu", 0.001, **older)]
    plain, waited = ladder.ladder([*both, step("gpu", 0.0011, 0.002, **newer)])
    assert (plain.gpu.record.campaign, plain.ratio.value) == ("a", pytest.approx(10))
    assert (waited.cpu, waited.gpu.record.campaign) == (None, "b")
    sides = [step("cpu", 0.010, 0.012, **older), step("gpu", 0.001, 0.003, **older)]
    _, waited = ladder.ladder([*sides, step("gpu", 0.0011, 0.002, **newer)])
    assert waited.ratio.value == pytest.approx(4)


def test_a_disturbed_side_makes_no_ratio_and_gives_way_to_an_older_campaign():
    def sides(day, cpu, steal):
        when = {"campaign": day, "created": f"2026-01-0{day}T00:00:00Z"}
        host, gpu = step("cpu", cpu, cpu, **when), step("gpu", 0.002, 0.002, **when)
        telemetry = Telemetry(seconds=1.0, readings=9, steal=steal)
        runs = tuple(msgspec.structs.replace(run, telemetry=telemetry) for run in host.runs)
        return msgspec.structs.replace(host, runs=runs), gpu

    first, last = sides("1", 0.010, steal=0.0), sides("2", 0.020, steal=0.14)
    _, blocking = ladder.ladder([*first, *last])
    assert (blocking.cpu.record.campaign, blocking.ratio.value) == ("1", pytest.approx(5))
    _, blocking = ladder.ladder(last)
    assert (blocking.cpu, blocking.ratio) == (None, None)


def test_what_speaks_against_the_step_speaks_against_it_and_its_own_wide_interval():
    assert blocking_step(summary(step("gpu", 0.001, 0.002))).steady
    made = step("gpu", 0.001, 0.002)
    uneven = tuple(
        msgspec.structs.replace(run, blocking_samples=(Sample(wall_seconds=seconds, process_seconds=0.1),))
        for run, seconds in zip(made.runs, (0.001, 0.002, 0.004), strict=True)
    )
    found = blocking_step(summary(msgspec.structs.replace(made, runs=uneven)))
    assert not found.steady
    assert found.reasons[0].startswith("half-width ")
    failed = (
        *made.runs[:2],
        msgspec.structs.replace(made.runs[2], blocking_samples=(), samples=(), reason="out of memory"),
    )
    found = blocking_step(summary(msgspec.structs.replace(made, runs=failed)))
    assert (found.lacking, found.seconds.processes) == (True, 2)


def test_it_is_a_number_that_can_be_cited():
    found = {number.key.metric: number for number in numbers([step("gpu", 0.001, 0.002)])}
    assert found["latency"].value.value == pytest.approx(0.002, rel=1e-3)
    assert (found["latency"].word, found["latency"].reasons) == ("on one host", ())
    assert "ms (95 % interval" in text(Citation(number=found["latency"]))
    assert "blocking latency of one step in steady state" in text(Citation(number=found["latency"]))
    assert "latency" not in {number.key.metric for number in numbers([step("gpu", 0.001)])}
    assert "latency" not in {number.key.metric for number in numbers([step("gpu", 0.001, 0.002, scope="transfer")])}

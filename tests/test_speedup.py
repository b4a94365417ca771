"""What two sides come to: their ratio in one campaign, its certificate, and which campaign's is current."""

import factory
import msgspec
import pytest

from suite import units
from suite.analysis.steps import together
from suite.results.single import selection
from suite.results.single.paired_speedup import baselines_of, current, speedups
from suite.results.single.summary import summary
from suite.results.stats.statistics import Estimate
from suite.results.views.table import one_host_cell

EVEN = (0.010,) * 3


def changed(record, **changes):
    return msgspec.structs.replace(record, **changes)


def runs(count=3, seconds=0.010, **changes):
    return tuple(factory.run(number, seconds, **changes) for number in range(count))


def pair(**changes):
    return [factory.record(backend=side, step_seconds=EVEN if side == "cpu" else (0.0002,) * 3, **changes)
            for side in ("cpu", "gpu")]  # fmt: skip


def test_a_speed_up_needs_both_sides_of_one_campaign_machine_and_workload():
    cpu, gpu = pair()
    (found,) = speedups([cpu, gpu])
    assert (found.cpu.record, found.gpu.record) == (cpu, gpu)
    for other in ({"campaign": "b"}, {"machine": factory.PLAIN}, {"workload": "cifar10_mlp"}):
        assert speedups([cpu, *pair(**other)[1:]]) == ()
    assert speedups([cpu]) == speedups([gpu]) == ()
    apart = changed(gpu, runs=tuple(changed(run, round=run.round + 3) for run in gpu.runs))
    assert speedups([cpu, apart]) == ()


def test_a_ceiling_of_a_machine_is_no_network_and_has_no_speed_up():
    network, ceiling = factory.description(), factory.description(family="ceiling")
    for about, count in ((network, 1), (ceiling, 0)):
        sides = [factory.record(backend=side, step_seconds=EVEN, about=about) for side in ("cpu", "gpu")]
        assert len(list(speedups(sides))) == count


def test_the_cpu_side_of_another_precision_is_float32_at_highest():
    cpu, gpu = pair()
    low = factory.record(backend="gpu", step_seconds=(0.0001,) * 3, precision="bfloat16")
    found = {item.gpu.record.case.precision: item for item in speedups([cpu, gpu, low])}
    assert found["bfloat16"].ratio.value == pytest.approx(100)
    assert found["bfloat16"].cpu.record == cpu
    wrong = factory.record(backend="cpu", step_seconds=EVEN, batch=7)
    assert speedups([wrong, gpu]) == ()


def baseline(seconds, **changes):
    return factory.record(step_seconds=(seconds,) * 3, implementation="torch", **changes)


def test_baselines_are_other_implementations_of_the_same_case():
    mine = summary(factory.record(step_seconds=EVEN))
    same = [baseline(0.02), baseline(0.03, variant="compile"), baseline(0.01, allocator="default-malloc")]
    others = [baseline(0.02, batch=7), baseline(0.02, backend="gpu"), factory.record(variant="nnx-jit")]
    nothing = [changed(baseline(0.02), runs=runs(reason="killed")), changed(baseline(0.02), runs=runs(compilations=1))]
    found = baselines_of(mine, map(summary, [*same, *others, *nothing, factory.record(step_seconds=EVEN)]))
    assert [other.record for other, _ in found] == same
    assert [ratio.value for _, ratio in found] == pytest.approx([2, 3, 1])


@pytest.mark.parametrize(("seconds", "certified"), [(0.00701, True), (0.007, True), (0.00699, False)])
def test_a_cpu_side_is_certified_from_seven_tenths_of_the_fastest_baseline_up(seconds, certified):
    even = [factory.record(backend=side, step_seconds=EVEN, runs=runs(samples=3)) for side in ("cpu", "gpu")]
    (found,) = speedups(
        [*even, changed(baseline(seconds), runs=runs(seconds=seconds * (1 + 1e-12), samples=3)), baseline(0.03)]
    )
    assert found.certified is certified
    assert found.fastest_baseline[1].value == pytest.approx(seconds / 0.01)
    said = () if certified else (f"a baseline takes {seconds / 0.01:.2f} of JAX's time",)
    lacking = "CPU side compared without a way that may be faster: torch compile"
    assert found.reasons == (*said, lacking)


def test_what_needs_no_certificate_is_not_called_uncertified():
    (found,) = speedups(changed(r, case=changed(r.case, scope="transfer")) for r in pair())
    assert (found.certified, found.certificate, found.reasons) == (False, None, ())
    assert one_host_cell(found).text == units.DASH


def test_what_was_not_compared_is_not_certified():
    (found,) = speedups(pair())
    assert (found.certified, found.fastest_baseline) == (False, None)
    assert found.reasons == ("CPU side not compared with an independent framework in this campaign",)
    (found,) = speedups([*pair(), changed(baseline(0.02), runs=runs(compilations=1)), baseline(0.02, batch=7)])
    assert not found.certified
    assert found.reasons == ("CPU side not certified: the independent framework's result is invalid",)
    (found,) = speedups([*pair(profile="smoke"), baseline(0.01, profile="smoke")])
    assert (found.certified, found.reasons[0]) == (True, "cpu: it only shows that it runs")


def test_the_fastest_baseline_is_found():
    (found,) = speedups([*pair(), baseline(0.02), baseline(0.009, variant="compile"), baseline(0.0001, backend="gpu")])
    assert found.fastest_baseline[1].value == pytest.approx(0.9)
    assert isinstance(found.fastest_baseline[1], Estimate)


def test_troubles_name_their_side_and_either_counts():
    cpu, gpu = pair()
    shaky = changed(cpu, runs=runs(seconds=0.01, doubling_ratio=3.0))
    (found,) = speedups([shaky, gpu])
    assert not found.cpu.steady
    assert found.reasons[0].startswith("cpu: twice the steps")
    broken = changed(gpu, runs=gpu.runs[:2])
    (found,) = speedups([shaky, broken])
    assert not found.gpu.complete
    assert found.reasons[1] == "gpu: 1 of 3 rounds is missing"


def test_a_stand_in_takes_the_place_of_random_content_and_real_data_does_not():
    changes = {"campaign": "b", "created": "2026-02-01T00:00:00Z"}
    random = factory.campaign(("mnist_mlp",), data="random")
    standin, real = (factory.campaign(("mnist_mlp",), data=data, **changes) for data in ("embedded", "tfds"))
    assert [item.gpu.record.case.data for item in current(speedups([*standin, *random]))] == ["embedded"]
    assert {item.gpu.record.case.data for item in current(speedups([*real, *random]))} == {"random", "tfds"}


def test_the_newest_speed_up_of_each_machine_and_case_in_their_order():
    old = pair(campaign="a", created="2026-01-01T00:00:00Z")
    new = pair(campaign="b", created="2026-01-02T00:00:00Z")
    other = pair(campaign="c", created="2026-01-01T00:00:00Z", machine=changed(factory.HOST, name="a, 1 core"))
    first = pair(campaign="d", created="2026-01-01T00:00:00Z", workload="a_model")
    found = current(speedups([*new, *old, *other, *first]))
    assert [item.gpu.record.campaign for item in found] == ["d", "c", "b"]


def test_the_better_allocator_is_that_of_the_newest_campaign():
    new = {"campaign": "b", "created": "2026-02-01T00:00:00Z"}
    old = [
        factory.record(data="random", allocator=name, step_seconds=(t,) * 3)
        for name, t in (("tuned-malloc", 0.02), ("default-malloc", 0.01))
    ]
    now = factory.record(step_seconds=(0.03,) * 3, **new)
    (found,) = selection.fastest_of_each_case([summary(record) for record in (*old, now)])
    assert found.record == now
    (before,) = selection.fastest_of_each_case(map(summary, old))
    assert before.record.case.allocator == "default-malloc"


def test_what_was_broken_off_replaces_nothing_whole_and_stands_where_nothing_is():
    own = pair(campaign="a", created="2026-01-01T00:00:00Z")
    newer = pair(campaign="b", created="2026-01-02T00:00:00Z")
    cut = [changed(record, runs=record.runs[:1]) for record in newer]
    assert all(record.is_partial for record in cut)
    assert {item.record.campaign for item in selection.current_cases([*cut, *own])} == {"a"}
    assert {item.record.campaign for item in selection.current_cases(cut)} == {"b"}
    assert [item.gpu.record.campaign for item in current(speedups([*cut, *own]))] == ["a"]
    for late in ([newer[0], cut[1]], [cut[0], newer[1]]):
        assert [item.gpu.record.campaign for item in current(speedups([*late, *own]))] == ["a"]
    larger = [changed(record, case=changed(record.case, batch=512)) for record in (own[0], cut[0])]
    (group,) = together([newer[0], larger[1], own[0], larger[0]], lambda record: record.headline_step("batch"))
    assert {item.record.campaign for item in group} == {"a"}  # of one case of b not all rounds were tried


def test_what_failed_is_a_finding_and_replaces_what_worked():
    own = pair(campaign="a", created="2026-01-01T00:00:00Z")
    newer = pair(campaign="b", created="2026-01-02T00:00:00Z")
    failed = [changed(record, runs=(), reason="out of memory") for record in newer]
    assert not any(record.is_partial for record in failed)
    assert {item.record.campaign for item in selection.current_cases([*failed, *own])} == {"b"}


@pytest.mark.parametrize("side", [0, 1])
def test_a_time_that_makes_no_sense_has_no_speed_up(side):
    records = list(pair(campaign="a", created="2026-01-01T00:00:00Z"))
    records[side] = changed(records[side], runs=tuple(changed(run, compilations=1) for run in records[side].runs))
    assert summary(records[side]).state == "invalid"
    assert not speedups(records)


def test_a_speed_up_whose_own_interval_is_wide_says_so_though_its_sides_are_not():
    cpu, gpu, *_ = pair(campaign="a", created="2026-01-01T00:00:00Z")
    noise = (0.96, 1.0, 1.04)
    cpu = changed(cpu, runs=tuple(factory.run(n, 0.01 * noise[n]) for n in range(3)))
    gpu = changed(gpu, runs=tuple(factory.run(n, 0.001 * noise[2 - n]) for n in range(3)))
    (found,) = speedups([cpu, gpu])
    assert [found.cpu.steady, found.gpu.steady] == [True, True]
    assert "half-width 22 %" in found.caveat
    assert found.reasons[0] == found.caveat


def test_an_experiment_stands_in_where_nobody_asked_for_the_same_and_displaces_nothing():
    own = pair(campaign="a", created="2026-01-01T00:00:00Z")
    newer = pair(campaign="b", created="2026-01-02T00:00:00Z")
    asked = [msgspec.structs.replace(record, experiment="crossover") for record in newer]
    assert all(record.general for record in asked)
    assert [item.gpu.record.campaign for item in current(speedups(asked))] == ["b"]
    assert [item.gpu.record.campaign for item in current(speedups([*asked, *own]))] == ["a"]
    assert {item.record.campaign for item in selection.current_cases([*asked, *own])} == {"a"}
    assert max(asked[0], own[0], key=lambda record: record.sort_key).campaign == "b"


def test_a_newer_smoke_run_does_not_displace_a_speed_up_nor_a_time():
    kept = pair(campaign="a", created="2026-01-01T00:00:00Z")
    smoke = pair(campaign="b", created="2026-01-02T00:00:00Z", profile="smoke")
    found = current(speedups([*smoke, *kept]))
    assert [item.gpu.record.campaign for item in found] == ["a"]
    assert {item.record.campaign for item in selection.current_cases([*smoke, *kept])} == {"a"}
    assert {item.record.campaign for item in selection.fastest_of_each_case(map(summary, (*smoke, *kept)))} == {"a"}


@pytest.mark.parametrize(("scope", "counts"), [("step", "own"), ("run", "experiment"), ("cold", "experiment")])
def test_an_experiments_newer_record_counts_where_no_baseline_could_be_beside_an_older_one(scope, counts):
    own, asked = (
        factory.record(scope=scope, campaign=f"2026010{day}-000000-test", created=f"2026-01-0{day}T00:00:00Z")
        for day in (1, 2)
    )
    asked = changed(asked, experiment="run_length")
    (found,) = selection.current_cases([asked, own])
    assert found.record == {"own": own, "experiment": asked}[counts]


def tight(slow):
    """One standard campaign with hardly any noise, its first CPU process slower by that factor."""
    times = [0.01 * (1 + 0.0001 * n) for n in range(10)]
    cpu = factory.record(step_seconds=[times[0] * slow, *times[1:]], profile="standard")
    return cpu, factory.record(step_seconds=[0.0002] * 10, backend="gpu", profile="standard")


def test_a_ratio_that_one_round_drags_out_of_the_sign_interval_is_unstable():
    (found,) = speedups(tight(1.15))
    assert found.cpu.steady
    assert found.reasons[0].startswith("the ratio lies outside the sign interval, 50.0 to 50.1;")
    (found,) = speedups(tight(1 / 1.15))
    assert found.caveat
    (found,) = speedups(tight(1.0))
    assert not found.caveat


def test_ratios_that_are_all_the_same_are_not_skewed():
    equal = [factory.record(step_seconds=[0.0101] * 10, backend=b, profile="standard") for b in ("cpu", "gpu")]
    third = msgspec.structs.replace(equal[1], runs=tuple(factory.run(n, 0.0003) for n in range(10)))
    (found,) = speedups([equal[0], third])
    assert not found.caveat


def test_a_campaigns_speed_up_is_invalid_not_certified_or_open():
    cpu, gpu = pair()
    slow, fast = (factory.record(implementation="torch", step_seconds=(seconds,) * 3) for seconds in (0.011, 0.002))
    wrong = changed(gpu, runs=tuple(changed(run, first_loss=9.0) for run in gpu.runs))
    states = [speedups([cpu, *made])[0].state for made in ((gpu, slow), (gpu, fast), (wrong, fast), (gpu,))]
    assert states == ["open", "not certified", "invalid", "open"]  # the last has no baseline


def test_a_scope_that_is_no_step_needs_no_certificate():
    (found,) = speedups(pair(scope="cold"))
    assert (found.certificate, found.state) == (None, "open")

"""What two sides come to: their ratio, its certificate, what contradicts it, and which campaign's is current."""

import factory
import msgspec
import pytest

from suite.inquiry.steps import together
from suite.report import tables
from suite.results import selection
from suite.results.peers import peers_of
from suite.results.speedup import current, of_headline, record_of, speedups
from suite.results.standing import standings
from suite.results.statistics import Estimate
from suite.results.summary import summary

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


def peer(seconds, **changes):
    return factory.record(step_seconds=(seconds,) * 3, implementation="torch", **changes)


def test_peers_are_other_implementations_of_the_same_case():
    mine = summary(factory.record(step_seconds=EVEN))
    same = [peer(0.02), peer(0.03, variant="compile"), peer(0.01, allocator="system")]
    others = [peer(0.02, batch=7), peer(0.02, backend="gpu"), factory.record(variant="nnx-jit")]
    nothing = [changed(peer(0.02), runs=runs(reason="killed")), changed(peer(0.02), runs=runs(compilations=1))]
    found = peers_of(mine, map(summary, [*same, *others, *nothing, factory.record(step_seconds=EVEN)]))
    assert [other.record for other, _ in found] == same
    assert [ratio.value for _, ratio in found] == pytest.approx([2, 3, 1])


@pytest.mark.parametrize(("seconds", "certified"), [(0.00701, True), (0.007, True), (0.00699, False)])
def test_a_cpu_side_is_certified_from_seven_tenths_of_the_best_peer_up(seconds, certified):
    even = [factory.record(backend=side, step_seconds=EVEN, runs=runs(samples=3)) for side in ("cpu", "gpu")]
    (found,) = speedups(
        [*even, changed(peer(seconds), runs=runs(seconds=seconds * (1 + 1e-12), samples=3)), peer(0.03)]
    )
    assert found.certified is found.solid is certified
    assert found.best_peer[1].value == pytest.approx(seconds / 0.01)
    said = () if certified else (f"CPU side not certified: the best peer takes {seconds / 0.01:.2f} of JAX's time",)
    lacking = "CPU side compared without a way that may be faster: torch compile, the system allocator"
    assert found.reasons == (*said, lacking)


def test_no_certificate_is_won_by_leaving_a_faster_way_out():
    early = {"campaign": "20260101-000000-test", "created": "2026-01-01T00:00:00Z"}
    late = {"campaign": "20260102-000000-test", "created": "2026-01-02T00:00:00Z"}
    full = [*pair(**early), peer(0.009, **early), peer(0.006, variant="compile", **early)]
    eager = [*pair(**late), peer(0.009, **late)]
    found = {item.gpu.record.created: item for item in speedups([*full, *eager])}
    assert [found[each["created"]].certified for each in (early, late)] == [False, False]
    newer = found[late["created"]]
    assert (newer.outdone, newer.citable) == (True, False)
    assert newer.best_peer[1].value == pytest.approx(0.9)
    assert newer.best_known_peer[1].value == pytest.approx(0.6)
    assert newer.reasons[-1] == ("CPU side not certified: torch compile, which this campaign did not time, takes 0.60 "
                                 "of JAX's time in that of 2026-01-01")  # fmt: skip
    (row,) = (r for r in tables.speedup_table([*full, *eager]).rows)
    assert (row[7].text, row[9].text) == ("0.600x torch compile", "quick, not certified")
    assert "both in another campaign, of 2026-01-01" in row[7].remark


def test_a_way_that_a_campaign_timed_itself_or_a_newer_one_has_is_not_taken_from_an_older_one():
    def of(day, *seconds, **changes):
        made = {"campaign": f"202601{day}-000000-test", "created": f"2026-01-{day}T00:00:00Z", **changes}
        ways = (peer(each, variant=way, **made) for way, each in zip(("plain", "compile"), seconds, strict=False))
        return [*pair(**made), *ways]

    def certified(*groups):
        return max(speedups([r for group in groups for r in group]), key=lambda item: item.gpu.record.created).certified

    assert certified(of("01", 0.009, 0.006), of("03", 0.009, 0.009))
    assert certified(of("01", 0.009, 0.006), of("02", 0.009, 0.009), of("03", 0.009))
    assert not certified(of("01", 0.009, 0.009), of("02", 0.009, 0.006), of("03", 0.009))
    assert certified(of("01", 0.009, 0.006, machine=factory.PLAIN), of("03", 0.009))
    assert certified(of("01", 0.009, 0.006, profile="smoke"), of("03", 0.009))


def test_of_two_allocators_of_a_way_elsewhere_the_better_one_counts_and_what_is_not_steady_does_not():
    early = {"campaign": "20260101-000000-test", "created": "2026-01-01T00:00:00Z"}
    late = {"campaign": "20260102-000000-test", "created": "2026-01-02T00:00:00Z"}
    eager = [*pair(**late), peer(0.009, **late)]
    ways = [peer(0.0095, variant="compile", **early), peer(0.0075, variant="compile", allocator="system", **early)]

    def newest(*others):
        return max(speedups([*pair(**early), *others, *eager]), key=lambda item: item.gpu.record.created)

    assert newest(*ways).best_known_peer[1].value == pytest.approx(0.75)
    assert newest(*ways).certified
    assert not any("not certified" in said for said in newest(*ways).reasons)
    cut = changed(ways[1], rounds=9)
    assert newest(ways[0], cut).best_known_peer[1].value == pytest.approx(0.9)


def test_the_headline_is_the_plain_step_at_the_headline_batch_and_nothing_else():
    usual = pair()
    beside = [*pair(variant="several-steps"), *pair(scope="cold"), *pair(batch=4096), peer(0.02)]
    (found,) = of_headline([*usual, *beside])
    assert found.gpu.record == usual[1]
    assert [item.gpu.record.case.scope for item in of_headline([*usual, *beside], "cold")] == ["cold"]
    assert record_of(found) == usual[1]
    assert record_of(found.cpu) == usual[0]


def test_what_needs_no_certificate_is_not_called_uncertified():
    (found,) = speedups(changed(r, case=changed(r.case, scope="transfer")) for r in pair())
    assert (found.certified, found.certificate, found.reasons) == (False, None, ())
    assert tables.speedup_status_cell(found).text == found.status == "quick"


def test_what_was_not_compared_or_is_not_sound_is_not_solid():
    (found,) = speedups(pair())
    assert (found.certified, found.solid, found.best_peer, found.best_gpu_peer) == (False, False, None, None)
    assert found.reasons == ("CPU side not compared with an independent framework in this campaign",)
    (found,) = speedups([*pair(), changed(peer(0.02), runs=runs(compilations=1)), peer(0.02, batch=7)])
    assert (found.certified, found.solid) == (False, False)
    assert found.reasons == ("CPU side not certified: the independent framework's result is invalid",)
    (found,) = speedups([*pair(profile="smoke"), peer(0.01, profile="smoke")])
    assert (found.certified, found.solid, found.status) == (True, False, "smoke")


def test_the_best_peers_of_both_sides_are_the_fastest():
    fast, slow = peer(0.0001, backend="gpu", variant="graph"), peer(0.0004, backend="gpu")
    (found,) = speedups([*pair(), peer(0.02), peer(0.009, variant="compile"), slow, fast])
    assert found.best_gpu_peer[0].record == fast
    assert found.best_gpu_peer[1].value == pytest.approx(0.5)
    assert found.best_peer[1].value == pytest.approx(0.9)
    assert isinstance(found.best_peer[1], Estimate)


def test_troubles_name_their_side_and_the_worse_status_counts():
    cpu, gpu = pair()
    shaky = changed(cpu, runs=runs(seconds=0.01, doubling_ratio=3.0))
    (found,) = speedups([shaky, gpu])
    assert found.status == "unstable"
    assert found.reasons[0].startswith("cpu: not proportional")
    broken = changed(gpu, runs=gpu.runs[:2])
    (found,) = speedups([shaky, broken])
    assert found.status == "incomplete"
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
        for name, t in (("retaining", 0.02), ("system", 0.01))
    ]
    now = factory.record(step_seconds=(0.03,) * 3, **new)
    (found,) = selection.fastest([summary(record) for record in (*old, now)])
    assert found.record == now
    (before,) = selection.fastest(map(summary, old))
    assert before.record.case.allocator == "system"


def test_what_was_broken_off_replaces_nothing_whole_and_stands_where_nothing_is():
    own = pair(campaign="a", created="2026-01-01T00:00:00Z")
    newer = pair(campaign="b", created="2026-01-02T00:00:00Z")
    cut = [changed(record, runs=record.runs[:1]) for record in newer]
    assert all(record.broken_off for record in cut)
    assert {item.record.campaign for item in selection.current_cases([*cut, *own])} == {"a"}
    assert {item.record.campaign for item in selection.current_cases(cut)} == {"b"}
    assert [item.gpu.record.campaign for item in current(speedups([*cut, *own]))] == ["a"]
    for late in ([newer[0], cut[1]], [cut[0], newer[1]]):
        assert [item.gpu.record.campaign for item in current(speedups([*late, *own]))] == ["a"]
    larger = [changed(record, case=changed(record.case, batch=512)) for record in (own[0], cut[0])]
    (group,) = together([newer[0], larger[1], own[0], larger[0]], lambda record: record.headline_step("batch"))
    assert {item.record.campaign for item in group} == {"a"}  # of one case of b not all rounds were tried
    with_peer = [changed(own[0], case=changed(own[0].case, implementation="torch")), own[0]]
    newer_peer = [changed(newer[0], case=changed(newer[0].case, implementation="torch")), cut[0]]
    (standing,) = standings([*with_peer, *newer_peer])
    assert standing.mine.record.campaign == "a"


def test_what_failed_is_a_finding_and_replaces_what_worked():
    own = pair(campaign="a", created="2026-01-01T00:00:00Z")
    newer = pair(campaign="b", created="2026-01-02T00:00:00Z")
    failed = [changed(record, runs=(), reason="out of memory") for record in newer]
    assert not any(record.broken_off for record in failed)
    assert {item.record.campaign for item in selection.current_cases([*failed, *own])} == {"b"}


@pytest.mark.parametrize(
    ("changes", "contradicts"),
    [
        ({}, True),
        ({"created": "2025-12-31T00:00:00Z"}, False),
        ({"step_seconds": EVEN}, False),
        ({"step_seconds": (0.005, 0.006, 0.007)}, False),
        ({"machine": factory.PLAIN}, False),
        ({"batch": 64}, False),
        ({"profile": "smoke"}, False),
    ],
)
def test_a_newer_time_of_one_side_alone_that_is_clearly_another_makes_a_speed_up_unstable(changes, contradicts):
    both = pair(campaign="a", created="2026-01-01T00:00:00Z")
    newer = {"campaign": "b", "created": "2026-01-02T00:00:00Z", "step_seconds": (0.006, 0.00601, 0.00599)} | changes
    (found,) = speedups([*both, factory.record(**newer)])
    assert (found.status == "unstable") is contradicts
    said = [reason for reason in found.reasons if reason.startswith("cpu: a newer campaign has 6.0")]
    assert len(said) == contradicts


@pytest.mark.parametrize("experiment", ["", "dispatch"])
@pytest.mark.parametrize(("cpu_seconds", "said"), [(0.005, True), (0.01, False)])
def test_campaigns_of_both_sides_contradict_each_other_where_they_are_clearly_apart(cpu_seconds, said, experiment):
    both = pair(campaign="a", created="2026-01-01T00:00:00Z")
    made = [changed(record, experiment=experiment) for record in pair(campaign="b", created="2026-01-02T00:00:00Z")]
    newer = changed(made[0], runs=tuple(factory.run(n, cpu_seconds * (1 + n / 1e3)) for n in range(3)))
    old, new = sorted(speedups([*both, newer, made[1]]), key=lambda item: item.gpu.record.created)
    assert [item.status for item in (old, new)] == (["unstable"] * 2 if said else ["quick"] * 2)
    assert any(reason.startswith("a newer campaign has ") for reason in old.reasons) is said
    assert any(reason.startswith("the campaign before has ") for reason in new.reasons) is said


@pytest.mark.parametrize(("scope", "said"), [("cold", False), ("step", True)])
def test_a_start_is_contradicted_by_none_whose_cpu_had_another_allocator_and_a_step_is(scope, said):
    made = []
    for day, allocator, seconds in ((1, "retaining", 0.010), (2, "system", 0.005)):
        when = {"campaign": f"c{day}", "created": f"2026-01-0{day}T00:00:00Z", "scope": scope}
        noisy = [seconds * (1 + n / 1e3) for n in range(3)]
        made += [
            factory.record(allocator=allocator, step_seconds=noisy, **when),
            factory.record(backend="gpu", step_seconds=[0.001] * 3, **when),
        ]
    assert [item.status == "unstable" for item in speedups(made)] == [said] * 2


@pytest.mark.parametrize("flaw", [{"profile": "smoke"}, {"rounds": 4}])
def test_a_campaign_that_is_no_measurement_contradicts_none(flaw):
    both = pair(campaign="a", created="2026-01-01T00:00:00Z")
    cpu, gpu = pair(campaign="b", created="2026-01-02T00:00:00Z")
    newer = [changed(cpu, runs=tuple(factory.run(n, 0.005 * (1 + n / 1e3)) for n in range(3)), **flaw), gpu]
    found = {item.gpu.record.campaign: item for item in speedups([*both, *newer])}
    assert found["b"].ratio.apart(found["a"].ratio)
    assert found["a"].status == "quick"


def test_what_was_before_the_campaign_that_confirms_a_ratio_contradicts_it_no_more():
    made = []
    for day, seconds in ((1, 0.01), (2, 0.005), (3, 0.005)):
        cpu, gpu, *_ = pair(campaign=f"c{day}", created=f"2026-01-0{day}T00:00:00Z")
        made += [changed(cpu, runs=tuple(factory.run(n, seconds * (1 + n / 1e3)) for n in range(3))), gpu]
    (found,) = current(speedups(made))
    assert (found.gpu.record.campaign, found.status) == ("c3", "quick")


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((10, 11), ()),
        ((10, 11, 12), ("the second before has 10.0x (9.1 to 10.9)",)),
        ((10, 11, 12, 12), ()),
        ((15, 10, 11, 12), ("the second before has 10.0x (9.1 to 10.9)",)),
        ((10, 12), ("the campaign before has 10.0x (9.1 to 10.9)",)),
        ((10, 12, 12), ()),
    ],
)
def test_a_ratio_that_drifts_is_unstable_until_two_campaigns_after_each_other_have_it(steps, said):
    made = []
    for day, times in enumerate(steps, 1):
        cpu, gpu, *_ = pair(campaign=f"c{day}", created=f"2026-01-0{day}T00:00:00Z")
        noisy = tuple(factory.run(n, times / 1e3 * noise) for n, noise in enumerate((0.966, 1.0, 1.035)))
        made += [changed(cpu, runs=noisy), changed(gpu, runs=tuple(factory.run(n, 0.001) for n in range(3)))]
    (found,) = current(speedups(made))
    assert found.ratio.value == pytest.approx(steps[-1], rel=0.01)
    assert found.status == ("unstable" if said else "quick"), found.reasons
    assert tuple(reason.split(";")[0] for reason in found.reasons if reason.startswith("the ")) == said


@pytest.mark.parametrize("side", [0, 1])
def test_a_time_that_makes_no_sense_has_no_speed_up(side):
    records = list(pair(campaign="a", created="2026-01-01T00:00:00Z"))
    records[side] = changed(records[side], runs=tuple(changed(run, compilations=1) for run in records[side].runs))
    assert summary(records[side]).status == "invalid"
    assert not speedups(records)


def test_a_speed_up_whose_own_interval_is_wide_is_unstable_though_its_sides_are_not():
    cpu, gpu, *_ = pair(campaign="a", created="2026-01-01T00:00:00Z")
    noise = (0.97, 1.0, 1.03)
    cpu = changed(cpu, runs=tuple(factory.run(n, 0.01 * noise[n]) for n in range(3)))
    gpu = changed(gpu, runs=tuple(factory.run(n, 0.001 * noise[2 - n]) for n in range(3)))
    (found,) = speedups([cpu, gpu])
    assert [found.cpu.status, found.gpu.status, found.status] == ["quick", "quick", "unstable"]
    assert "wide: the interval's half-width is 1" in found.reasons[0]


def test_an_experiment_stands_in_where_nobody_asked_for_the_same_and_displaces_nothing():
    own = pair(campaign="a", created="2026-01-01T00:00:00Z")
    newer = pair(campaign="b", created="2026-01-02T00:00:00Z")
    asked = [msgspec.structs.replace(record, experiment="crossover") for record in newer]
    assert all(record.general for record in asked)
    assert [item.gpu.record.campaign for item in current(speedups(asked))] == ["b"]
    assert [item.gpu.record.campaign for item in current(speedups([*asked, *own]))] == ["a"]
    assert {item.record.campaign for item in selection.current_cases([*asked, *own])} == {"a"}
    assert max(asked[0], own[0], key=lambda record: record.recency).campaign == "b"


def test_a_newer_smoke_run_does_not_displace_a_speed_up_nor_a_time():
    kept = pair(campaign="a", created="2026-01-01T00:00:00Z")
    smoke = pair(campaign="b", created="2026-01-02T00:00:00Z", profile="smoke")
    found = current(speedups([*smoke, *kept]))
    assert [item.gpu.record.campaign for item in found] == ["a"]
    assert {item.record.campaign for item in selection.current_cases([*smoke, *kept])} == {"a"}
    assert {item.record.campaign for item in selection.fastest(map(summary, (*smoke, *kept)))} == {"a"}


def test_a_speed_up_may_be_quoted_as_its_number_may():
    steady, bare, alone = factory.campaign(), factory.campaign(("mnist_mlp",))[:2], factory.campaign(cpu=0.02)
    once = [msgspec.structs.replace(record, runs=record.runs[:1], rounds=1) for record in alone]
    shaken = [
        factory.record(backend=side, step_seconds=[t, 1.5 * t, 0.7 * t], implementation=name)
        for side, t, name in (("cpu", 0.01, "jax"), ("gpu", 0.001, "jax"), ("cpu", 0.01, "torch"))
    ]
    old = [msgspec.structs.replace(record, schema="result/0") for record in steady]
    cold = [
        factory.record(backend=side, step_seconds=[t, 1.01 * t, 0.99 * t], scope="cold")
        for side, t in (("cpu", 4.0), ("gpu", 5.0))
    ]
    for records, allowed in ((steady, True), (bare, False), (once, False), (shaken, False), (old, False), (cold, True)):
        mine = {item.gpu.record.digest: item.citable for item in speedups(records)}
        assert set(mine.values()) == {allowed}


@pytest.mark.parametrize(("scope", "counts"), [("step", "own"), ("run", "experiment"), ("cold", "experiment")])
def test_an_experiments_newer_record_counts_where_no_peer_could_stand_beside_an_older_one(scope, counts):
    own, asked = (
        factory.record(scope=scope, campaign=f"2026010{day}-000000-test", created=f"2026-01-0{day}T00:00:00Z")
        for day in (1, 2)
    )
    asked = changed(asked, experiment="run_length")
    (found,) = selection.current_cases([asked, own])
    assert found.record == {"own": own, "experiment": asked}[counts]

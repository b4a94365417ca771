"""Speed-ups of a kind of machine: what each is of, and what may be said of it."""

import factory
import msgspec
import pytest

from suite.results.pooled import speedup
from suite.results.pooled.kinds import mean_ratio
from suite.results.pooled.speedup import pooled_speedups
from suite.results.records.record import Record
from suite.results.single.paired_speedup import CERTIFIED_FROM
from suite.results.stats.state import too_wide
from suite.results.stats.statistics import Estimate
from suite.results.views.rows import speedup_cells

NOISE = (1.0, 1.01, 0.99)


def step(seconds=0.010, backend="cpu", workload="mnist_mlp", **axes):
    return factory.record(workload, backend, [seconds * share for share in NOISE], **axes)


def torch(seconds, **axes):
    return step(seconds, implementation="torch", **axes)


BOTH = [step(), step(0.0002, "gpu")]
WHOLE = [*BOTH, torch(0.009)]


def only(records):
    (found,) = pooled_speedups(records)
    return found


def changed(record, **changes):
    return msgspec.structs.replace(record, **changes)


def of_runs(record, **changes):
    return changed(record, runs=tuple(changed(run, **changes) for run in record.runs))


def test_three_hosts_a_narrow_interval_and_a_certificate_make_it_quotable():
    found = only(factory.on_hosts(WHOLE))
    assert (found.state, found.reasons, found.hosts, found.certificate) == ("quotable", (), 3, "certified")
    assert found.ratio.value == pytest.approx(50)
    assert found.ratio.range_low < found.ratio.low < 50 < found.ratio.high < found.ratio.range_high


@pytest.mark.parametrize(
    ("records", "lacks"),
    [
        (factory.on_hosts(WHOLE, NOISE[:2]), "2 hosts of 3"),
        (factory.on_hosts(WHOLE, (1.0, 1.1, 0.9)), "half-width "),
        (factory.on_hosts(BOTH), "certificate open: no baseline was timed on this CPU"),
    ],
)
def test_what_lacks_one_of_these_is_open_and_says_what(records, lacks):
    found = only(records)
    assert (found.state, found.quotable) == ("open", False)
    assert found.reasons[0].startswith(lacks)


def from_storage(earlier=()):
    """Return a speed-up of epochs on three hosts, the sides named `earlier` timed by the method before."""
    records = factory.on_hosts([step(scope="epoch"), step(0.0002, "gpu", scope="epoch"), torch(0.02, scope="epoch")])
    return only([changed(each, method=each.method - (each.backend in earlier)) for each in records])


@pytest.mark.parametrize("side", ["cpu", "gpu"])
def test_what_an_earlier_method_timed_on_either_side_is_open_with_its_value(side, monkeypatch):
    now = from_storage()
    monkeypatch.setattr(speedup, "same_method", lambda *sides: True)
    then = from_storage([side])
    assert [(each.state, each.reasons) for each in (now, then)] == [
        ("quotable", ()),
        ("open", ("timed by an earlier method",)),
    ]
    assert (then.ratio.value, then.ratio.low) == (now.ratio.value, now.ratio.low)
    assert [each.best_over_best.outdated for each in (now, then)] == [False, True]


def test_a_number_that_follows_from_an_earlier_method_s_time_is_known_as_such():
    new, old = from_storage(), from_storage(["cpu", "gpu"])
    assert [each.cpu.pooled.per(32.0).outdated for each in (new, old)] == [False, True]
    assert [each.baselines[0].over.outdated for each in (new, old)] == [False, True]
    products = (new.ratio.times(new.ratio), new.ratio.times(old.ratio), old.ratio.times(new.ratio))
    assert [each.outdated for each in products] == [False, True, True]
    means = [mean_ratio([(new.cpu, new.gpu), sides]) for sides in ((new.cpu, new.gpu), (new.cpu, old.gpu))]
    assert [each.outdated for each in means] == [False, True]


def test_fewer_threads_than_cores_stand_beside_the_time_on_the_cpu(monkeypatch):
    few = [step(threads=8), step(0.0002, "gpu")]
    assert speedup_cells(only(WHOLE))[0].text == "10.0 ms"
    monkeypatch.setattr(Record, "chosen_threads", property(lambda record: record.backend == "cpu"))
    assert speedup_cells(only(few))[0].text == "10.0 ms, 8 threads"


@pytest.mark.parametrize(("end", "words"), [(1.15, ""), (1.1504, "half-width 15.04 %"), (1.192, "half-width 19.2 %")])
def test_a_half_width_has_as_many_digits_as_show_that_it_is_too_wide(end, words):
    assert too_wide(Estimate(value=2.0, low=2 / end, high=2 * end, processes=3)) == words


@pytest.mark.parametrize("rounds", [1, 3])
def test_one_host_alone_has_a_value_and_no_interval(rounds):
    found = only(factory.on_hosts([changed(r, runs=r.runs[:rounds], rounds=rounds) for r in WHOLE], (1.0,)))
    assert (found.ratio.value, found.ratio.low, found.ratio.range_high) == (pytest.approx(50), None, None)
    assert found.reasons[:2] == ("1 host of 3", "no interval: too few hosts to estimate how much they differ")
    assert (found.state, found.certificate) == ("open", "open")


def test_one_process_a_host_is_enough():
    found = only(factory.on_hosts([changed(record, runs=record.runs[:1], rounds=1) for record in WHOLE]))
    assert (found.state, found.ratio.processes) == ("quotable", 3)


def test_equal_values_leave_an_interval_of_no_width():
    equal = [changed(record, runs=record.runs[:1] * 3) for record in WHOLE]
    found = only(factory.on_hosts([of_rounds(record) for record in equal], (1.0,) * 3))
    assert (found.state, found.ratio.estimate.relative_half_width) == ("quotable", pytest.approx(0, abs=1e-4))


def of_rounds(record):
    return changed(record, runs=tuple(changed(run, round=number) for number, run in enumerate(record.runs)))


def test_a_campaign_that_is_ten_times_off_widens_its_own_model_alone_and_is_named():
    names = ("mnist_mlp", "cifar10_mlp", "imdb_text_cnn", "catdog_cnn_base")
    made = []
    for name in names:
        sides = [step(workload=name), step(0.0002, "gpu", name), torch(0.009, workload=name)]
        made += factory.on_hosts(sides, (1.0, 1.01, 0.99, 10.0 if name == names[0] else 1.0))
    off, *others = sorted(pooled_speedups(made), key=lambda item: names.index(item.workload))
    assert (off.state, off.reasons[-2:]) == ("open", tuple(
        f"hosts differ more than those of other models on the {side}" for side in ("CPU", "GPU")))  # fmt: skip
    assert [item.state for item in others] == ["quotable"] * 3
    assert max(item.ratio.estimate.relative_half_width for item in others) < 0.05


def test_sides_that_computed_different_things_are_invalid_whatever_else_holds():
    cpu, gpu, baseline = WHOLE
    found = only(factory.on_hosts([of_runs(cpu, first_loss=9.0), gpu, baseline]))
    assert (found.state, found.quotable) == ("invalid", False)
    assert found.reasons == tuple(f"not the same: round {n}: the first loss is 9 on the CPU and 2.3 on the GPU"
                                  for n in (1, 2, 3))  # fmt: skip


@pytest.mark.parametrize(
    ("share", "certificate", "state"),
    [(1e-5, "certified", "quotable"), (-1e-5, "not certified", "not certified"), (None, "open", "open")],
)
def test_the_certificate_is_decided_where_the_whole_interval_lies_on_one_side_of_the_bound(share, certificate, state):
    if share is None:  # the baseline differs from host to host by more than JAX does
        baselines = factory.on_hosts([torch(0.01 * CERTIFIED_FROM)], (1.0, 1.06, 0.98))
        found = only([*factory.on_hosts(BOTH), *baselines])
    else:
        found = only(factory.on_hosts([*BOTH, torch(0.01 * (CERTIFIED_FROM + share))]))
    assert (found.certificate, found.state) == (certificate, state)
    assert any("torch eager takes 0.7" in reason for reason in found.reasons) is (state != "quotable")


def test_fewer_threads_that_are_surely_faster_refuse_a_certificate_and_another_way_of_jax_does_not():
    for seconds, state in ((0.0099, "not certified"), (0.0101, "quotable")):
        found = only(factory.on_hosts([*WHOLE, step(seconds, threads=4)]))
        assert found.state == state
        assert any("jax with 4 threads takes 0.99" in reason for reason in found.reasons) is (state != "quotable")
    assert only(factory.on_hosts([*WHOLE, step(0.005, variant="nnx-jit")])).state == "quotable"


def test_what_is_no_step_needs_no_certificate():
    found = only(factory.on_hosts([step(scope="cold"), step(0.001, "gpu", scope="cold")]))
    assert (found.certificate, found.state) == (None, "quotable")


@pytest.mark.parametrize(
    ("baselines", "wanted"),
    [([], "open"), ([torch(0.009)], "certified"), ([torch(0.005)], "not certified")],
)
def test_a_copied_step_has_the_certificate_of_the_step(baselines, wanted):
    copied = [step(scope="transfer"), step(0.001, "gpu", scope="transfer")]
    items = pooled_speedups(factory.on_hosts([step(), *baselines, *copied]))
    (found,) = [item for item in items if item.case.scope == "transfer"]
    assert found.certificate == wanted
    assert found.state == ("quotable" if wanted == "certified" else wanted)
    assert found.best_over_best.value == pytest.approx(found.ratio.value), "the baseline was not timed with its copy"


def test_best_over_best_is_of_the_fastest_way_of_each_side_whichever_it_is():
    ways = [torch(0.008, variant="compile"), torch(0.00015, backend="gpu", variant="graph"), torch(0.1, backend="gpu")]
    found = only(factory.on_hosts([*WHOLE, *ways]))
    assert (found.best_cpu.case.variant, found.best_gpu.case.variant) == ("compile", "graph")
    assert found.best_over_best.value == pytest.approx(0.008 / 0.00015)
    assert [way.over.value for way in found.baselines] == pytest.approx([0.8, 0.9])
    assert [way.over.value for way in found.gpu_baselines] == pytest.approx([0.75, 500])
    assert only(factory.on_hosts(WHOLE)).best_gpu == only(factory.on_hosts(WHOLE)).gpu


def test_a_way_whose_sides_computed_different_things_is_no_best_way():
    scans = [step(0.02, variant="scan"), step(0.0001, "gpu", variant="scan")]

    def best(*ways):
        items = pooled_speedups(factory.on_hosts([*WHOLE, *ways]))
        plain = next(item for item in items if item.case.variant == "plain")
        return tuple(
            pool.case.variant if pool.case.implementation == "jax" else "plain"
            for pool in (plain.best_cpu, plain.best_gpu)
        )

    assert best(*scans) == ("plain", "scan")
    assert best(of_runs(scans[0], first_loss=9.0), scans[1]) == ("plain", "plain")
    fast = step(0.005, variant="scan")
    assert best(fast, scans[1]) == ("scan", "scan")
    assert best(of_runs(fast, first_loss=9.0), scans[1]) == ("plain", "plain")


def test_best_over_best_is_the_speed_up_times_the_ratios_on_the_hosts_that_timed_both():
    shares = (2.0, 1.0, 0.5)
    on_slowest = factory.on_hosts([torch(0.009)], shares)[0]
    on_fastest = factory.on_hosts([torch(0.00015, backend="gpu", variant="graph")], shares)[-1]
    found = only([*factory.on_hosts(BOTH, shares), on_slowest, on_fastest])
    cpu, gpu = found.cpu_ways[0], found.gpu_ways[0]
    assert (cpu.over.value, gpu.over.value) == (pytest.approx(0.9), pytest.approx(0.75))
    assert found.ratio.hosts == 3
    best = found.best_over_best
    assert best.value == pytest.approx(found.ratio.value * cpu.over.value / gpu.over.value)
    assert best.hosts == 1


def test_the_plain_way_is_another_way_of_a_variant_and_the_other_allocator_is_none():
    ways = [step(0.02, variant="nnx-jit"), step(0.03, variant="nnx-jit", allocator="default-malloc"), step(0.02, "gpu",
            variant="nnx-jit")]  # fmt: skip
    _, found = pooled_speedups(factory.on_hosts([*WHOLE, step(0.03, allocator="default-malloc"), *ways]))
    assert (found.case.variant, found.best_gpu.case.variant) == ("nnx-jit", "plain")
    assert [way.words for way in found.cpu_ways] == ["torch eager", "jax", "jax, default-malloc"]


def test_a_baseline_is_set_against_jax_on_the_hosts_that_timed_both():
    slow = factory.on_hosts(WHOLE, (2.0,)) + factory.on_hosts(BOTH, (2.0, 1.0, 0.5))[2:]
    (baseline,) = only(slow).baselines
    assert (baseline.over.value, baseline.over.hosts) == (pytest.approx(0.9), 1)
    apart = factory.on_hosts(BOTH)[:4] + factory.on_hosts([torch(0.009)])[2:]
    assert only(apart).baselines[0].over.value == pytest.approx(0.9, rel=0.02)


def test_a_ratio_of_hosts_that_agree_in_all_models_is_less_certain():
    names = ("mnist_mlp", "cifar10_mlp", "imdb_text_cnn", "catdog_cnn_base")
    widths = []
    for turned in (0, 1):
        made = []
        for place, name in enumerate(names):
            turns, hosts = turned * place % 3, (1.0, 1.06, 0.98)
            made += factory.on_hosts([step(workload=name), step(0.0002, "gpu", name)], (1.0,) * 3)
            made += factory.on_hosts([torch(0.009, workload=name)], hosts[turns:] + hosts[:turns])
        over = pooled_speedups(made)[0].baselines[0].over
        widths.append(over.estimate.relative_half_width)
    assert widths[0] > 1.1 * widths[1]


def test_a_host_without_a_gpu_adds_to_the_side_that_it_has():
    mine = changed(step(), machine=changed(factory.HOST, name="test-cpu, 16 cores", gpus=()))
    more = factory.on_hosts([mine], (*NOISE, 1.1))[-1:]
    found = only([*factory.on_hosts(WHOLE), *more])
    assert (found.machine, found.cpu.hosts, found.gpu.hosts, found.hosts) == (factory.HOST.slug, 4, 3, 3)
    assert found.ratio.value > 50.5
    other = changed(more[0], machine=changed(more[0].machine, cpu_number=85))
    assert only([*factory.on_hosts(WHOLE), other]).cpu.hosts == 3


def test_sides_of_two_campaigns_have_a_speed_up_and_those_of_two_machines_have_none():
    apart = [*factory.on_hosts(BOTH[:1])[:1], *factory.on_hosts(BOTH[1:])[1:]]
    assert len({record.campaign for record in apart}) == 3
    assert only(apart).ratio.value == pytest.approx(50, rel=0.02)
    elsewhere = changed(apart[0], machine=changed(factory.PLAIN, cores=16))
    assert pooled_speedups([elsewhere, *apart[1:]]) == ()


def test_a_faster_way_that_later_hosts_left_out_is_still_known():
    fast = [*WHOLE, torch(0.005, variant="compile")]
    found = only(factory.on_hosts(fast)[: len(fast)] + factory.on_hosts(WHOLE)[len(WHOLE) :])
    assert (found.state, found.baselines[0].pool.hosts) == ("not certified", 1)
    assert found.reasons[0].startswith("torch compile takes 0.50 (")


def test_versions_that_differ_between_the_sides_are_said():
    newer = changed(BOTH[1], software=changed(BOTH[1].software, packages={"jax": "0.13.0"}))
    found = only(factory.on_hosts([WHOLE[0], newer, WHOLE[2]]))
    assert (found.state, found.reasons) == ("quotable", ("JAX 0.12.0 on the CPU, 0.13.0 on the GPU",))


def test_what_is_no_evidence_makes_no_speed_up():
    for flaw in ({"profile": "smoke"}, {"runs": ()}):
        assert pooled_speedups(factory.on_hosts([changed(record, **flaw) for record in BOTH])) == ()
    assert pooled_speedups(factory.on_hosts([of_runs(BOTH[0], compilations=1), BOTH[1]])) == ()


def test_the_cpu_side_is_float32_with_the_allocator_that_more_hosts_had():
    low, mine = step(0.0001, "gpu", precision="bfloat16"), step(0.012, allocator="default-malloc")
    found = only(factory.on_hosts([step(), low])[:2] + factory.on_hosts([mine, low], (1.0,) * 3)[2:])
    assert (found.case.precision, found.cpu.case.precision) == ("bfloat16", "float32-highest")
    assert (found.cpu.case.allocator, found.ratio.value) == ("default-malloc", pytest.approx(120, rel=0.01))

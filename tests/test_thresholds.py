"""Below how much work in a call the CPU wins: known truths are found, and what is not known is said."""

import json
import math
import random
import re
from itertools import permutations

import factory
import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from suite import cli, families, models
from suite.analysis import threshold_map
from suite.analysis.capabilities import MachineCapabilities
from suite.driver.plan import make_plan
from suite.driver.request import Request
from suite.experiments import crossover
from suite.results.cite.numbers import Numbers
from suite.results.cite.stored_pools import line_of
from suite.results.pooled.pools import current, pools
from suite.results.pooled.thresholds import Threshold, thresholds
from suite.results.records import store
from suite.results.stats import pooling
from suite.results.stats.fit import crossing, crossing_of_times
from suite.results.stats.statistics import Estimate
from suite.results.stats.variance_components import Components
from suite.results.views import documents
from suite.variants import STEPS_PER_CALL
from suite.worker_api.protocol import Offer

BOTH = MachineCapabilities(backends=("cpu", "gpu"), cores=16, gpu_precisions=("float32-highest", "tf32"))
ABOUT = tuple(models.load(name).description for name in families.NAMES)
ALIKE = (1.0, 1.01, 0.99)  # of three hosts
# Fixed seconds of a call, and seconds of each unit of its work.
CPU = 20e-6, 1 / 100e9
GPU = 45e-6, 1 / 10e12
LATE = 400e-6, 1 / 10e12  # a GPU with so high a fixed cost that the CPU wins 38 MFLOP


def seconds(side, work):
    fixed, each = side
    return fixed + each * work


def truth(cpu=CPU, gpu=GPU):
    """The work at which both sides take equally long."""
    return (gpu[0] - cpu[0]) / (cpu[1] - gpu[1])


def work_of(case):
    about = next(about for about in ABOUT if about.name == case.workload)
    each = about.flop_per_example or families.size_of(about.name).width
    return case.batch * each * (STEPS_PER_CALL if case.variant == "scan" else 1)


def world(cpu=CPU, gpu=GPU, hosts=ALIKE, fits=lambda case: True):
    """Records of the experiment's own cases on machines whose calls cost this much."""
    records = []
    for case in filter(fits, crossover.cases(ABOUT, BOTH)):
        about = next(about for about in ABOUT if about.name == case.workload)
        steps = STEPS_PER_CALL if case.variant == "scan" else 1
        step = seconds(cpu if case.backend == "cpu" else gpu, work_of(case)) / steps
        axes = {"implementation": case.implementation, "variant": case.variant, "data": case.data}
        records.append(factory.record(case.workload, case.backend, (step,), about=about, batch=case.batch, **axes))
    return factory.on_hosts(records, hosts)


def found_in(records) -> dict[tuple[str, str], Threshold]:
    return {(item.family, item.way): item for item in thresholds(current(pools(records)))}


# Cases


def test_each_way_is_timed_at_two_usual_sizes_or_more_on_both_sides():
    cases = crossover.cases(ABOUT, BOTH)
    assert {case.backend for case in cases} == {"cpu", "gpu"}
    assert {case.workload for case in cases} == set(families.NAMES)
    sizes = found_in(world())
    ways = {("jax", "crossover_mlp"), ("jax nnx-jit", "crossover_mlp"), ("jax scan", "crossover_mlp")}
    ways |= {("torch eager", "crossover_mlp"), ("jax", "crossover_trees"), ("xgboost", "crossover_trees")}
    assert {(way, family) for family, way in sizes} == ways
    assert all(len(item.usual) >= 2 for item in sizes.values())


def test_the_default_set_is_small_enough_for_six_minutes():
    assert len(crossover.cases(ABOUT, BOTH)) * 10 <= 360  # seconds, at 10 of a process


JAX = Offer(implementation="jax", backends={"cpu": ("cpu",), "gpu": ("a GPU",)}, of_experiments=ABOUT)
LACKING = {
    name: Offer(implementation=name, problem=f"No module named '{name}'", installed=False)
    for name in ("torch", "xgboost")
}


def test_without_pytorch_and_xgboost_the_ways_of_jax_are_timed_and_the_others_said():
    planned = make_plan(Request(experiment="crossover"), factory.HOST, {"jax": JAX, **LACKING})
    assert {case.implementation for case in planned.cases} == {"jax"}
    (torch, xgboost) = (remark for remark in planned.remarks if "cannot run" in remark)
    assert torch.startswith("torch cannot run: crossover_mlp_128x2 on cpu, crossover_mlp_128x2 on gpu")
    assert xgboost.endswith("crossover_trees_5 on gpu (No module named 'xgboost'); skipped")


def test_a_cpu_build_of_pytorch_times_the_cpu_alone_and_says_why():
    reasons = {"gpu": "this PyTorch is built without CUDA"}
    torch = Offer(implementation="torch", backends={"cpu": ("cpu",)}, names=families.NAMES, reasons=reasons)
    planned = make_plan(Request(experiment="crossover"), factory.HOST, {**LACKING, "jax": JAX, "torch": torch})
    assert {case.backend for case in planned.cases if case.implementation == "torch"} == {"cpu"}
    assert any("on gpu (this PyTorch is built without CUDA); skipped" in remark for remark in planned.remarks)


def test_a_size_can_be_timed_by_name_in_its_experiment_alone():
    named = Request(experiment="crossover", workloads=("crossover_mlp_32x2",))
    assert {case.workload for case in make_plan(named, factory.HOST, {"jax": JAX, **LACKING}).cases} == {
        "crossover_mlp_32x2"
    }
    with pytest.raises(LookupError, match="no workload 'crossover_mlp_32x2' outside experiment 'crossover'; add --"):
        make_plan(Request(workloads=("crossover_mlp_32x2",)), factory.HOST, {"jax": JAX, **LACKING})


# Thresholds


def test_a_known_threshold_is_found_in_each_way():
    for (family, way), item in found_in(world(gpu=LATE)).items():
        if family == "crossover_mlp":
            assert item.found.outcome == "from", way
            assert item.found.size == pytest.approx(truth(gpu=LATE), rel=0.02), way
            assert item.found.low < truth(gpu=LATE) < item.found.high
            assert (item.unit, item.hosts) == ("FLOP", 3)


def test_what_all_hosts_agree_on_may_be_quoted_and_what_one_host_says_may_not():
    (three,) = (item for (_, way), item in found_in(world(gpu=LATE)).items() if way == "jax nnx-jit")
    (one,) = (item for (_, way), item in found_in(world(gpu=LATE, hosts=(1.0,))).items() if way == "jax nnx-jit")
    assert (three.state, three.reasons) == ("quotable", ())
    assert one.state == "open"
    assert one.reasons[0] == "1 host of 3"


def plain_in(records):
    return found_in(records)["crossover_mlp", "jax"]


def test_an_end_outside_the_sizes_is_said_and_has_no_key_if_it_is_the_value_itself():
    almost, surely = 20.4e-6, 1e-13  # seconds of a call and of each FLOP: the GPU probably wins at the least size
    item = plain_in(world(gpu=(almost, surely), hosts=(1.0, 1.1, 0.9)))
    assert (item.found.outcome, item.found.size, item.found.low, item.known) == ("from", None, None, False)
    assert (item.state, item.reasons) == ("open", ("an end of its interval lies outside the sizes",))
    assert item.around == item.usual
    assert threshold_map.clause(item).startswith("below at most ")
    lower = plain_in(world(gpu=(24.0e-6, surely), hosts=(1.0, 1.1, 0.9)))  # the CPU probably wins there
    assert (lower.found.size is None, lower.found.low, lower.known) == (False, None, True)
    assert lower.reasons == ("an end of its interval lies outside the sizes",)


@pytest.mark.parametrize(("hosts", "state"), [((1.0, 1.3, 0.75), "quotable"), ((1.0, 1.4, 0.7), "open")])
def test_an_interval_may_be_two_times_off_at_either_end_and_no_more(hosts, state):
    item = found_in(world(gpu=LATE, hosts=hosts))["crossover_mlp", "jax nnx-jit"]
    off = max(item.found.size / item.found.low, item.found.high / item.found.size)
    assert (item.state, off > 2.0) == (state, state == "open")
    assert item.reasons == (() if state == "quotable" else ("an end of its interval is over 2 times off",))


def test_one_host_without_an_interval_has_a_probable_size_and_no_key():
    item = plain_in(world(hosts=(1.0,)))
    assert (item.found.outcome, item.known, item.state) == ("not separated", False, "open")
    assert item.reasons == ("1 host of 3", "not separated from the noise")
    assert ", probably below 2.53 MFLOP" in threshold_map.clause(item)


def test_equal_sides_at_a_size_are_the_threshold():
    assert plain_in(world(gpu=CPU)).reasons == ("not separated from the noise",)


def test_it_has_the_hosts_and_processes_of_the_side_with_the_fewest():
    records = world(gpu=LATE)
    fewer = [r for r in records if (r.workload, r.host[-1]) != ("crossover_mlp_512x2", "3") or r.backend == "cpu"]
    item = plain_in(fewer)
    assert ([call.ratio.hosts for call in item.around], item.hosts, item.processes) == ([3, 2], 2, 2)
    assert item.reasons[0] == "2 hosts of 3"
    assert len(item.records) == 4 * 3 - 1


def test_a_scan_counts_the_work_of_its_whole_call():
    item = found_in(world())["crossover_mlp", "jax scan"]
    assert [call.work for call in item.calls] == [STEPS_PER_CALL * 389_120, STEPS_PER_CALL * 5_488_640]


def test_elements_are_rows_times_columns():
    item = found_in(world())["crossover_trees", "xgboost"]
    assert [call.work for call in item.calls] == [1024 * 5, 40_960 * 5, 40_960 * 45]
    assert item.unit == "elements"


def test_another_depth_or_batch_moves_no_threshold():
    def slower(record):
        odd = record.workload == "crossover_mlp_256x8" or record.case.batch == 2
        times = 50.0 if odd and record.backend == "gpu" else 1.0
        samples = (msgspec.structs.replace(s, wall_seconds=times * s.wall_seconds) for s in record.runs[0].samples)
        return msgspec.structs.replace(record, runs=(msgspec.structs.replace(record.runs[0], samples=tuple(samples)),))

    before, after = (found_in(records)["crossover_mlp", "jax"] for records in (world(), map(slower, world())))
    assert len(after.calls) == 4
    assert after.found.size == pytest.approx(before.found.size)


def wrong_at(batch):
    """Records whose GPU computed something else in the plain step of one network at that batch."""
    return [
        msgspec.structs.replace(r, runs=tuple(msgspec.structs.replace(run, first_loss=9.0) for run in r.runs))
        if (r.workload, r.backend, r.case.variant, r.case.batch) == ("crossover_mlp_128x2", "gpu", "plain", batch)
        else r
        for r in world()
    ]  # fmt: skip


def test_a_call_that_no_threshold_is_read_from_does_not_keep_it_from_being_quoted():
    item = found_in(wrong_at(2))["crossover_mlp", "jax"]
    assert any(call.apart for call in item.calls)
    assert (item.state, item.reasons) == ("quotable", ())


def test_sides_that_did_not_compute_the_same_are_no_size_and_said():
    item = found_in(wrong_at(32))["crossover_mlp", "jax"]
    assert "crossover_mlp_128x2" not in {call.case.workload for call in item.usual}
    assert item.reasons[0].startswith("not the same: round 1: the first loss is 2.3 on the CPU and 9 on the GPU")
    assert item.state == "open"
    assert [row[8].text for row in threshold_map.table([item]).rows].count("invalid") == 1


@pytest.mark.parametrize(
    ("cpu", "gpu", "words"),
    [
        ((60e-6, 1 / 1e9), GPU, "nowhere from 389 kFLOP up, the least that was timed"),
        ((5e-6, 1 / 10e12), GPU, "up to 84.9 MFLOP, the most that was timed"),
        (GPU, GPU, "somewhere that noise hides from 389 kFLOP to 84.9 MFLOP"),
        (CPU, GPU, "below about 2.5"),
    ],
)
def test_each_outcome_is_a_clause(cpu, gpu, words):
    plain = found_in(world(cpu, gpu))["crossover_mlp", "jax"]
    assert threshold_map.clause(plain).startswith(words)


def test_ways_in_which_the_cpu_wins_nowhere_come_last():
    crossing, never = found_in(world())["crossover_mlp", "jax"], found_in(world((60e-6, 1 / 1e9), GPU))
    (said,) = threshold_map.answers([never["crossover_mlp", "jax"], crossing])
    assert said.startswith("The CPU wins a training step, written as jax below about 2.5")
    assert ". Written as jax (timed from 389 kFLOP up), it wins nowhere. This holds for " in said
    (alone,) = threshold_map.answers([never["crossover_mlp", "jax"]])
    assert alone.startswith("The CPU wins a training step nowhere, written as jax (timed from 389 kFLOP up). This")


def test_another_precision_is_no_part_of_it():
    def fast(record):
        case = msgspec.structs.replace(record.case, precision="tf32")
        return msgspec.structs.replace(record, case=case)

    narrow = [fast(record) for record in world() if record.backend == "gpu"]
    cases = [
        [[call.case for call in item.calls] for item in found_in(of).values()] for of in ([*world(), *narrow], world())
    ]
    assert cases[0] == cases[1]
    assert found_in([*narrow, *(record for record in world() if record.backend == "cpu")]) == {}


def test_a_machine_with_one_side_or_one_size_has_no_threshold():
    assert found_in(world(fits=lambda case: case.backend == "cpu")) == {}
    assert found_in(world(fits=lambda case: case.workload == "crossover_mlp_32x2")) == {}


# Pages


def test_members_stand_on_the_pages_of_the_experiment_its_answer_the_machine_and_numbers_alone():
    files = factory.pages([*factory.hosts(), *world()])
    naming = {path for path, text in files.items() if path.endswith(".md") and "crossover&#95;" in text}
    assert {path.split("/")[0] for path in naming} == {"answers", "experiments", "machines", "numbers"}
    assert {path for path in naming if path.startswith("experiments/")} == {"experiments/crossover.md"}
    assert not [path for path in files if path.startswith("workloads/crossover_")]
    assert (
        'href="../experiments/crossover.html">What crossover&#95;mlp&#95;32x2 is'
        in files["numbers/crossover_mlp_32x2.md"]
    )


# Keys

KEY = "test-gpu-16-cores/crossover_mlp/gpu/step/variant=nnx-jit/flop-threshold"


def test_a_threshold_has_a_key_of_its_own_that_may_be_pinned():
    number = Numbers(world(gpu=LATE)).resolve(KEY)
    assert (number.key.text(), number.state) == (KEY, "quotable")
    assert number.value.value == pytest.approx(truth(gpu=LATE), rel=0.02)
    assert {record.workload for record in number.members} == {"crossover_mlp_128x2", "crossover_mlp_512x2"}
    again = Numbers(world(gpu=LATE), [line_of(number)])
    pinned = again.resolve(f"{KEY}@{line_of(number).digest[:16]}")
    assert pinned.value.low == pytest.approx(number.value.low)


def test_it_rests_on_the_sizes_around_it_alone():
    number = Numbers(world()).resolve("test-gpu-16-cores/crossover_mlp/gpu/step/flop-threshold")
    assert {record.workload for record in number.members} == {"crossover_mlp_32x2", "crossover_mlp_128x2"}


def test_a_threshold_outside_the_sizes_has_no_key():
    assert "gpu/step/flop-threshold" not in " ".join(Numbers(world(GPU, GPU)).pooled)
    with pytest.raises(LookupError, match="nothing has key"):
        Numbers(world(GPU, GPU)).resolve(KEY)


# The experiment's answer


def read(records):
    return crossover.read(factory.of_one_machine(records))


def test_one_sentence_a_family_names_the_condition_and_what_else_turns_it():
    networks, trees = read(world()).answers
    assert networks.startswith("The CPU wins a training step, written as jax below about 2.5")
    assert "This holds for dense networks of 2 hidden layers at batch 32 in float32" in networks
    assert (
        "as torch eager 8 layers of 256 at batch 32 run at "
        in networks.partition("Its form matters beside its work: ")[2]
    )
    assert "as xgboost up to 1,840,000 elements" in trees


def test_a_page_begins_with_the_lead_of_its_experiment_and_not_with_another_question():
    page = factory.pages([*factory.hosts(), *world()])["experiments/crossover.md"]
    lead = page.partition('<p class="lead">')[2].partition("</p>")[0]
    assert lead.startswith("On test-gpu, 16 cores, the CPU wins a training step, written as jax below about 2.5")


def test_what_may_not_be_quoted_is_said_once_where_all_lack_the_same():
    networks, _ = read(world(hosts=(1.0,))).answers
    assert networks.endswith(" Not to be quoted yet: 1 host of 3.")


def test_the_map_has_a_point_for_each_usual_size_and_a_thick_line_for_each_interval():
    result = read(world(gpu=LATE))
    assert (result.chart.name, result.chart.level, [chart.name for chart in result.beside]) == ("mlp", 1.0, ["trees"])
    ways = {"jax", "jax scan", "jax nnx-jit", "torch eager"}
    assert {point.series for point in result.chart.points} == {line.series for line in result.chart.lines} == ways
    assert all(line.thick and line.ends[0][0] < truth(gpu=LATE) < line.ends[1][0] for line in result.chart.lines)
    (table,) = result.tables
    assert len(table.rows) == 18


# The command


def printed(*words):
    done = CliRunner().invoke(cli.main, ["threshold", *words])
    return done.exit_code, done.output


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a row is a line
    for record in world(gpu=LATE):
        store.add(record, tmp_path / "records")


def test_the_command_prints_value_interval_key_machine_and_condition(stored):
    code, output = printed("test-gpu, 16 cores")
    assert code == 0
    assert "test-gpu-16-cores: the work of a call below which the CPU wins" in output
    (row,) = (line for line in output.splitlines() if line.startswith("jax nnx-jit"))
    assert re.search(r"below 38\.\d MFLOP +3\d\.\d MFLOP to \d\d\.\d MFLOP +quotable +3", row)
    assert row.endswith(KEY)
    assert "For dense networks of 2 hidden layers at batch 32 in float32" in output


def test_the_document_fits_its_schema_and_says_the_same(stored):
    code, output = printed("test-gpu-16-cores", "--json")
    said = json.loads(output)
    jsonschema.validate(said, documents.schemas()["threshold"])
    assert (code, said["machine"]) == (0, "test-gpu-16-cores")
    (row,) = (row for row in said["rows"] if row["way"] == "jax nnx-jit")
    assert (row["key"], row["unit"], row["outcome"], row["status"]) == (KEY, "FLOP", "from", "quotable")
    assert row["low"] < row["value"] < row["high"]
    assert set(said["conditions"]) == {row["family"] for row in said["rows"]}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            (),
            "this machine has no GPU to compare with its CPU; measure it on a machine with a GPU: suite run "
            "--experiment crossover; these have thresholds: test-gpu-16-cores",
        ),
        (("test-gpu-16-core",), "no record is of machine 'test-gpu-16-core' (did you mean 'test-gpu-16-cores'?)"),
        (("test-cpu, 4 cores",), "machine 'test-cpu-4-cores' has no GPU to compare with its CPU"),
        (("other-gpu",), "machine 'other-gpu' has no threshold; measure it there: suite run --experiment crossover"),
    ],
)
def test_a_machine_without_one_says_why_and_what_to_do(stored, tmp_path, words, reason):
    other = msgspec.structs.replace(factory.HOST, name="other-gpu")
    for number, machine in enumerate((factory.PLAIN, other), 1):
        backend = "gpu" if machine.gpus else "cpu"
        store.add(factory.record("mnist_mlp", backend, machine=machine, campaign=f"2026020{number}-000000-x"),
                  tmp_path / "records")  # fmt: skip
    code, output = printed(*words)
    assert code == 1
    assert output.startswith("Error: ")
    assert reason in output


def test_without_any_record_nothing_is_measured_yet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = printed("anything")
    assert (code, output) == (1, "Error: no record is of machine 'anything'; no machine has a threshold yet\n")


# Crossing of two times


def exact(side, work):
    return Estimate(value=seconds(CPU, work) / seconds(side, work)), seconds(side, work)


def test_few_sizes_far_apart_find_the_true_work_which_a_chord_of_logarithms_misses():
    curve = [(work, *exact(GPU, work)) for work in (4e5, 5e6, 8e7)]
    assert crossing_of_times(curve).size == pytest.approx(truth())
    assert crossing([(work, ratio) for work, ratio, _ in curve]).size < 0.9 * truth()


def test_order_does_not_matter_and_a_size_without_an_interval_bounds_nothing():
    curve = [(work, *exact(GPU, work)) for work in (8e7, 4e5, 5e6)]
    found = crossing_of_times(curve)
    assert (found.outcome, found.low, found.high) == ("not separated", None, None)
    assert [crossing_of_times(order).size for order in permutations(curve)] == pytest.approx([truth()] * 6)
    assert crossing_of_times([]).outcome == "not separated"


def test_sizes_are_in_order_of_work_whatever_they_take():
    half, twice = Estimate(value=0.5), Estimate(value=2.0)
    assert crossing_of_times([(4, twice, 1.0), (1, half, 3.0)]).size == pytest.approx(1 + 3 * 1.5 / 2.5)


def simulated(rng, hosts, among):
    """One campaign on each of these hosts: a host is fast or slow at every size, each process a bit more or less."""

    def times(side, spread, works):
        tau, sigma = spread
        lots = [rng.gauss(0, tau) for _ in range(hosts)]
        return [[[seconds(side, work) * math.exp(lot + rng.gauss(0, sigma))] for lot in lots] for work in works]

    works = (4e5, 5e6, 8e7)
    sides = times(CPU, (0.09, 0.1), works), times(GPU, (0.02, 0.02), works)
    points = []
    for work, cpu, gpu in zip(works, *sides, strict=True):
        ratio = pooling.ratio((cpu, among[0]), (gpu, among[1]))
        points.append((work, ratio.estimate, pooling.pooled(gpu, among[1]).value))
    return crossing_of_times(points)


@pytest.mark.parametrize("hosts", [1, 3, 6])
def test_the_interval_holds_the_true_work_in_about_95_of_100_campaigns_over_hosts(hosts):
    rng = random.Random(63)
    among = tuple(
        Components(tau2=tau**2, sigma2=sigma**2, degrees=60.0, cells=20) for tau, sigma in ((0.09, 0.1), (0.02, 0.02))
    )
    found = [simulated(rng, hosts, among) for _ in range(2000)]
    held = sum((one.low or 0) <= truth() <= (one.high or math.inf) for one in found) / len(found)
    assert 0.94 <= held <= 0.985


def test_without_the_host_effect_the_interval_would_hold_it_far_less_often():
    rng = random.Random(63)
    blind = tuple(Components(tau2=0.0, sigma2=sigma**2, degrees=60.0, cells=20) for sigma in (0.05, 0.02))
    found = [simulated(rng, 3, blind) for _ in range(500)]
    assert sum((one.low or 0) <= truth() <= (one.high or math.inf) for one in found) / len(found) < 0.9

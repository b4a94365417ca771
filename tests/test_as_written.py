"""Loops as people write them: which there are, what they compute, and what the experiment says of them."""

from datetime import UTC, datetime

import factory
import msgspec
import numpy as np
import pytest
from factory import of_one_machine
from test_measure import answered, offer

from suite import models, units, variants
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver import campaign
from suite.driver.plan import baselines_skipped
from suite.driver.runner import replayed
from suite.experiments import as_written
from suite.programs import load
from suite.results.pooled import speedup
from suite.results.pooled.pools import current, pools
from suite.results.pooled.spreads import kind
from suite.results.single.paired_speedup import disagreements
from suite.results.views.experiment_result import Chart
from suite.worker.checks import replay
from suite.worker_api.program import epoch_of
from suite.worker_api.protocol import Offer

BOTH = MachineCapabilities(backends=("cpu", "gpu"), cores=16)
NETWORK = factory.description(
    "mnist_mlp", source=msgspec.structs.replace(factory.description().source, author="An author", way="fit")
)
HOSTS = (1.0, 1.001, 0.999)


def test_long_steps_are_not_scanned():
    small, large = (models.load(name).description for name in ("mnist_mlp", "cifar10_resnet63"))
    scanned = [case.workload for case in as_written.cases([small, large], BOTH) if case.variant == "scan"]
    assert scanned == ["mnist_mlp", "mnist_mlp"]


def sets(count=2, batch=8):
    rng = np.random.default_rng(0)
    labels = np.eye(10, dtype=np.float32)
    return [
        {"images": rng.random((batch, 28, 28, 1), np.float32), "labels": labels[rng.integers(0, 10, batch)]}
        for _ in range(count)
    ]


def program(variant, scope="written", batches=None, **changes):
    case = Case(workload="mnist_mlp", backend="cpu", scope=scope, batch=8, variant=variant, **changes)
    made, _ = load.of_this_host(case)
    made.initialise(0)
    made.put(batches or sets())
    made.lower()
    made.compile()
    return made


def losses(made, calls, steps):
    taken = []
    for _ in range(calls):
        made.chain(steps)
        made.block()
        taken.append(made.loss())
    return taken


# What a loop computes


@pytest.mark.parametrize("variant", ["nnx-loop", "nnx-loop-wait"])
def test_a_loop_over_slices_takes_the_steps_of_the_same_step_with_batches_on_the_device(variant):
    assert losses(program(variant), 2, 4) == losses(program("nnx-jit", "step"), 2, 4)


def test_a_resident_epoch_takes_each_example_once_in_a_new_order():
    made = program("resident-loop")
    orders = [made._order() for _ in range(2)]
    assert all(sorted(order.ravel()) == list(range(16)) for order in orders)
    assert not np.array_equal(*orders)
    assert made.steps_per_call == 2


def test_a_resident_epoch_in_order_takes_the_steps_of_the_compiled_step(monkeypatch):
    made = program("resident-loop")
    monkeypatch.setattr(made, "_order", lambda: np.arange(16, dtype=np.int32).reshape(2, 8))
    plain = losses(program("plain", "step"), 2, 2)
    assert losses(made, 2, 2) == pytest.approx(plain, rel=1e-4)


@pytest.mark.parametrize("variant", variants.variants_of("jax", "cpu", "written"))
def test_every_loop_of_jax_needs_the_products_of_the_network_and_advances_with_its_batches(variant):
    made = program(variant)
    cost, about = made.jaxpr_cost(), models.load("mnist_mlp").description
    assert cost is not None
    assert (cost.flop_per_step, cost.examples) == (8 * about.flop_per_example, 8)
    losses(made, 1, made.steps_per_call)
    compiled = made.compilations()
    seen = replay(made, sets(), 0)
    assert made.compilations() == compiled, "the program that was timed is replayed"
    assert seen.once != seen.twice
    assert seen.together == pytest.approx(seen.twice, rel=1e-3)
    assert seen.rotated
    assert seen.other_state


def test_an_epoch_repeats_its_sets_whole_and_fits_into_memory():
    two = sets()
    assert [id(batch) for batch in epoch_of(two, 5)] == [id(batch) for batch in (*two, *two)]
    assert epoch_of(two, 0) == two
    large = [{"images": np.broadcast_to(np.float32(0), (2**25,))}] * 2  # 128 MiB each
    assert len(epoch_of(large, 100)) == 2


# Which loops there are


def test_a_loop_as_written_is_no_variant_of_a_step_and_no_step_one_of_a_loop():
    for implementation in ("jax", "torch", "keras"):
        written = set(variants.variants_of(implementation, "gpu", "written"))
        assert written
        assert not written & set(variants.variants_of(implementation, "gpu"))
    with pytest.raises(LookupError, match="no variant 'scan' of 'jax'"):
        variants.require(Case(workload="mnist_mlp", backend="cpu", scope="written", batch=1, variant="scan"))


def test_whole_runs_are_written_by_pytorchs_waiting_loop_and_keras_fit():
    assert variants.variants_of("torch", "cpu", "run") == ("loop-wait",)
    assert variants.variants_of("keras", "gpu", "run") == ("fit-jax", "fit-torch", "fit-tensorflow")
    assert variants.variants_of("jax", "cpu", "run") == variants.variants_of("jax", "cpu")


def test_keras_fits_what_trains_and_predicts_with_what_does_not():
    made = {
        name: {
            c.variant for c in as_written.cases([models.load(name).description], BOTH) if c.implementation == "keras"
        }
        for name in ("mnist_mlp", "serve_mobilenet_v2")
    }
    assert {"fit-jax", "train-on-batch-torch", "fit-tensorflow"} <= made["mnist_mlp"]
    assert {name.split("-")[0] for name in made["serve_mobilenet_v2"]} == {"predict"}


def test_trees_have_xgboost_with_all_threads_and_with_one():
    made = as_written.cases([models.load("gbdt_mortgage").description], BOTH)
    assert {(c.implementation, c.variant, c.backend) for c in made} == {
        ("jax", "plain", "cpu"), ("jax", "plain", "gpu"), ("xgboost", "plain", "cpu"), ("xgboost", "plain", "gpu"),
        ("xgboost", "one-thread", "cpu"),
    }  # fmt: skip


def test_pytorchs_loop_has_pictures_as_people_have_them():
    made = as_written.cases([models.load(name).description for name in ("cifar10_resnet63", "imdb_text_cnn")], BOTH)
    layouts = {(c.workload, c.scope): c.layout for c in made if c.implementation == "torch"}
    assert layouts["cifar10_resnet63", "written"] == "contiguous"
    assert layouts["cifar10_resnet63", "step"] == layouts["imdb_text_cnn", "written"] == "channels-last"


def test_the_framework_under_keras_is_named():
    assert variants.way_name("keras", "fit-torch") == "keras fit, on torch"
    assert variants.way_name("keras", "train-on-batch-tensorflow") == "keras train-on-batch, on tensorflow"
    assert variants.way_name("keras", "plain") == "keras"
    assert variants.keras_backend("predict-on-batch-jax") == "jax"
    assert variants.keras_backend("plain") == "tensorflow"


def test_a_framework_that_is_missing_lacks_its_ways_alone():
    offer = Offer(
        implementation="keras", names=("mnist_mlp",), backends={"cpu": ("cpu",), "gpu": ("gpu",)},
        ways={"fit-jax": ("cpu",), "fit-tensorflow": ()},
    )  # fmt: skip

    def has(backend, variant):
        return offer.has(Case(workload="mnist_mlp", backend=backend, scope="written", batch=1, variant=variant))

    assert has("cpu", "fit-jax")
    assert not has("gpu", "fit-jax")
    assert not has("cpu", "fit-tensorflow")
    assert has("gpu", "fit-torch")


def test_what_is_skipped_is_named_by_its_way_where_other_ways_run():
    lacking = [Case(workload="mnist_mlp", backend="cpu", scope="written", batch=1, implementation="keras", variant=name)
               for name in ("fit-tensorflow", "train-on-batch-tensorflow")]  # fmt: skip
    reasons = {"fit-tensorflow": "No module named 'tensorflow'"}
    keras = Offer(implementation="keras", ways={case.variant: () for case in lacking}, reasons=reasons)
    assert list(baselines_skipped(lacking, {"keras": keras})) == [
        "keras fit, on tensorflow; keras train-on-batch, on tensorflow cannot run: mnist_mlp on cpu "
        "(No module named 'tensorflow'); skipped"
    ]


def test_an_implementation_that_is_missing_is_skipped_with_its_reason():
    lacking = [Case(workload="gbdt_mortgage", backend="gpu", scope="step", batch=1, implementation="xgboost")]
    xgboost = Offer(implementation="xgboost", problem="no xgboost here", installed=False)
    assert list(baselines_skipped(lacking, {"xgboost": xgboost})) == [
        "xgboost cannot run: gbdt_mortgage on gpu (no xgboost here); skipped"
    ]


def test_trees_have_no_loop_as_written_and_that_is_said():
    trees = factory.description("gbdt_mortgage", family="trees")
    jax = offer("cpu", workloads=(trees,), names=("gbdt_mortgage",))
    words = "only networks have loops as written: gbdt_mortgage; skipped in scope 'written'"
    assert words in answered(jax, factory.HOST, workloads=("gbdt_mortgage",), scopes=("step", "written")).remarks
    with pytest.raises(RuntimeError, match=f"{words}; nothing is left to measure"):
        answered(jax, factory.HOST, workloads=("gbdt_mortgage",), scopes=("written",))


def test_processes_of_loops_have_a_spread_of_their_own():
    assert kind("cpu", "written") == ("cpu", "written")
    assert kind("cpu", "transfer") == ("cpu", "step")


# What the experiment says


def timed(seconds, hosts=HOSTS, **changes):
    """Records of one way on both sides, or on those that are given: seconds by backend."""
    return [
        factory.record("mnist_mlp", side, [value * one for one in hosts], about=NETWORK, **changes)
        for side, value in seconds.items()
    ]


def ways():
    return [
        *timed({"cpu": 4e-3, "gpu": 1e-4}),
        *timed({"cpu": 6e-3, "gpu": 2e-3}, implementation="keras", variant="fit-jax", scope="written"),
        *timed({"cpu": 3e-3, "gpu": 6e-3}, implementation="torch", variant="loop-wait", scope="written"),
        *timed({"cpu": 5e-3, "gpu": 1e-3}, implementation="torch"),
        *timed({"gpu": 5e-4}, implementation="torch", variant="graph"),
    ]


def rows(records):
    reading = as_written.read(of_one_machine(factory.on_hosts(records)))
    assert reading is not None
    (table,) = reading.tables
    return reading, {row[1].text: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_each_way_has_its_own_speed_up_and_key_and_the_articles_way_its_claim():
    _, table = rows(ways())
    assert [row["speed-up"].sort for row in table.values()] == pytest.approx([3, 0.5, 40, 5, 10], rel=0.01)
    assert list(table) == [
        "keras fit, on jax", "torch loop-wait", "jax, on the device", "torch eager, on the device",
        "torch graph, on the device",
    ]  # fmt: skip
    fit = table["keras fit, on jax"]
    assert fit["article"].text == "13.29x (whole run)"
    assert "An author" in fit["article"].remark
    assert fit["key"].text.endswith("mnist_mlp/gpu/written/implementation=keras/variant=fit-jax/speedup")
    assert {row["article"].text for name, row in table.items() if row is not fit} == {units.DASH}
    assert table["torch graph, on the device"]["key"].text == units.DASH
    assert table["torch eager, on the device"]["key"].text.endswith("mnist_mlp/gpu/step/implementation=torch/speedup")


def test_the_answer_names_the_range_the_articles_way_and_the_ways_in_which_the_cpu_is_faster():
    reading, _ = rows(ways())
    (answer,) = reading.answers
    assert "0.500x" in answer.split("torch loop-wait")[0]
    assert "jax, on the device; its article's way, keras fit, on jax" in answer
    assert "documented 13.29x (whole run). The CPU is faster in torch loop-wait." in answer


def test_the_page_of_a_model_has_its_ways_without_keys():
    page = factory.pages(factory.on_hosts(ways()))["workloads/mnist_mlp.md"]
    listed = page.partition("As people write it")[2].partition("<h2")[0]
    assert "keras fit, on jax" in listed
    assert "13.29x (whole run)" in listed
    assert "written/implementation=keras" not in listed
    assert f"in each way it is written, {factory.HOST.name}" in listed
    alone = msgspec.structs.replace(factory.HOST, name="alone, 4 cores", gpus=())
    cpu = [msgspec.structs.replace(each, machine=alone) for each in ways() if each.backend == "cpu"]
    beside = factory.pages(factory.on_hosts([*ways(), *cpu]))["workloads/mnist_mlp.md"]
    assert f"in each way it is written, {factory.HOST.name}" in beside, "its ways have both sides"
    assert (
        "As people write it"
        not in factory.pages(factory.on_hosts(timed({"cpu": 4e-3, "gpu": 1e-4})))["workloads/mnist_mlp.md"]
    )


def test_times_of_two_methods_have_no_speed_up():
    way = {"implementation": "keras", "variant": "fit-jax", "scope": "written"}
    steps = timed({"cpu": 4e-3, "gpu": 1e-4})
    for older, known in ((1, False), (2, True), (0, True)):
        gpu = [msgspec.structs.replace(each, method=older) for each in timed({"gpu": 2e-3}, **way)]
        cpu = [msgspec.structs.replace(each, method=2) for each in timed({"cpu": 6e-3}, **way)]
        _, table = rows([*steps, *cpu, *gpu])
        assert (table["keras fit, on jax"]["speed-up"].text != units.DASH) is known


def test_a_row_s_status_says_that_an_earlier_method_timed_it():
    def statuses(method):
        loop = timed({"cpu": 6e-3, "gpu": 2e-3}, implementation="keras", variant="fit-jax", scope="written")
        older = [msgspec.structs.replace(each, method=method) for each in loop]
        return rows([*timed({"cpu": 4e-3, "gpu": 1e-4}), *older])[1]["keras fit, on jax"]["status"].text

    assert statuses(1) == "open, earlier method"
    assert "earlier" not in statuses(2)


def test_what_is_not_certified_may_not_be_quoted_although_its_hosts_agree():
    steps = timed({"cpu": 4e-3, "gpu": 1e-4})
    faster = timed({"cpu": 1e-3}, implementation="torch")
    loop = timed({"cpu": 6e-3, "gpu": 2e-3}, implementation="keras", variant="fit-jax", scope="written")
    reading, table = rows([*steps, *faster, *loop])
    assert table["jax, on the device"]["status"].text == "not certified"
    assert {point.row: point.solid for point in reading.chart.points} == {
        "keras fit, on jax": True, "jax, on the device": False,
    }  # fmt: skip
    assert reading.answers[0].endswith(" 1 of 2 may be quoted.")


def test_the_lead_names_the_network_that_depends_most_on_how_it_is_written():
    about = msgspec.structs.replace(NETWORK, name="mnist_cnn")
    sides = [("cpu", 4e-3), ("gpu", 1e-4)]
    other = [
        factory.record("mnist_cnn", side, [value * one for one in HOSTS], about=about, scope=scope, variant=variant)
        for scope, variant in (("step", "plain"), ("written", "nnx-loop"))
        for side, value in sides
    ]
    reading, _ = rows([*other, *ways()])
    assert reading.lead.startswith("the GPU is 0.500x")
    assert "if mnist_mlp is written as torch loop-wait, 40" in reading.lead
    assert "as jax, on the device; its article documents 13.29x (whole run)" in reading.lead
    assert reading.chart is not None
    assert reading.chart.name == "mnist_mlp", "its chart comes first"
    alone, _ = rows(other)
    assert "0.500x" not in alone.lead
    silent = [
        msgspec.structs.replace(record, description=msgspec.structs.replace(NETWORK, claims=())) for record in ways()
    ]
    assert "its article" not in rows(silent)[0].lead
    without, _ = rows([record for record in [*ways(), *other] if record.backend == "cpu"])
    assert without.lead == ""


def test_each_network_has_a_chart_whose_loops_are_told_apart():
    about = msgspec.structs.replace(NETWORK, name="mnist_cnn")
    other = [
        factory.record("mnist_cnn", side, [value * one for one in HOSTS], about=about, scope=scope, variant=variant)
        for scope, variant in (("step", "plain"), ("written", "nnx-loop"))
        for side, value in (("cpu", 4e-3), ("gpu", 1e-4))
    ]
    reading, _ = rows([*ways(), *other])
    charts = [chart for chart in (reading.chart, *reading.beside) if isinstance(chart, Chart)]
    assert [chart.name for chart in charts] == ["mnist_mlp", "mnist_cnn"]
    second, first = ([(point.row, point.series) for point in chart.points] for chart in charts)
    assert first == [("jax nnx-loop", "as written"), ("jax, on the device", "another way")]
    assert len(second) == len(set(second)) == 5


def test_the_step_of_a_tutorial_counts_as_written_and_a_scan_does_not():
    sides = [("cpu", 4e-3), ("gpu", 1e-4)]
    plain, jit, scan = (
        [factory.record("mnist_mlp", side, [value * one for one in HOSTS], about=NETWORK, variant=variant)
         for side, value in sides]
        for variant in ("plain", "nnx-jit", "scan")
    )  # fmt: skip
    assert as_written.read(factory.of_one_machine([*plain, *jit])) is not None
    assert as_written.read(factory.of_one_machine([*plain, *scan])) is None


def test_a_captured_graph_shows_the_cpu_time_that_its_speed_up_divides_and_its_way():
    reading, table = rows(ways())
    cpu, gpu, ratio = (table["torch graph, on the device"][name] for name in ("CPU step", "GPU step", "speed-up"))
    assert ratio.sort == pytest.approx(cpu.sort / gpu.sort)
    assert cpu.text.endswith(", torch eager")
    said = "A captured graph exists on the GPU only: it is set against the compiled or eager step on the CPU."
    assert reading.tables[0].notes == (said,)
    assert reading.chart.caption.endswith(said)
    without = [record for record in ways() if record.case.variant != "graph"]
    assert rows(without)[0].tables[0].notes == ()


def test_a_captured_graph_without_a_cpu_side_has_no_time_of_another_way():
    alone = [r for r in ways() if (r.backend, r.case.implementation, r.case.scope) != ("cpu", "torch", "step")]
    reading, table = rows(alone)
    assert table["torch graph, on the device"]["CPU step"].text == units.DASH
    assert reading.tables[0].notes == ()


def test_a_machine_without_a_gpu_shows_its_column_and_no_speed_up():
    reading, table = rows([record for record in ways() if record.backend == "cpu"])
    assert reading.chart is None
    assert {row["speed-up"].text for row in table.values()} == {units.DASH}
    assert table["keras fit, on jax"]["CPU step"].sort == pytest.approx(6e-3, rel=0.01)
    assert "on the CPU alone" in reading.answers[0]


def test_ways_of_different_sides_are_not_compared():
    cpu, gpu = ways()[6], ways()[3]
    assert (cpu.backend, gpu.backend) == ("cpu", "gpu")
    reading, _ = rows([cpu, gpu])
    assert reading.answers == ("mnist_mlp: no way was measured on both sides.",)
    reading, _ = rows([cpu, gpu, ways()[0]])
    assert "on the CPU alone a step takes 1.25x (" in reading.answers[0]


def test_of_two_allocators_the_row_shows_the_time_in_its_ratio():
    plain = factory.on_hosts(timed({"cpu": 4e-3, "gpu": 1e-4}))
    other = factory.on_hosts(timed({"cpu": 5e-3}, allocator="default-malloc"), (1.0, 1.0, 1.0, 1.0))
    loop = factory.on_hosts(timed({"cpu": 6e-3}, variant="nnx-loop", scope="written"))
    reading = as_written.read(of_one_machine([*plain, *other, *loop]))
    assert reading is not None
    row = next(row for row in reading.tables[0].rows if row[1].text == "jax, on the device")
    cpu, gpu, ratio = (float(cell.sort or 0) for cell in row[2:5])
    assert ratio == pytest.approx(cpu / gpu)


def test_without_a_loop_as_written_there_is_no_answer():
    steps = [record for record in ways() if record.case.scope == "step"]
    assert as_written.read(of_one_machine(factory.on_hosts(steps))) is None


def test_a_way_that_failed_is_a_note_with_its_reason():
    (lost,) = timed({"gpu": 1.0}, implementation="torch", variant="compile")
    reason = "RuntimeError: no compiler"
    lost = msgspec.structs.replace(lost, runs=(factory.run(0, 1.0, samples=0, reason=reason),), reason=reason)
    reading, _ = rows([*ways(), lost])
    assert "mnist_mlp gpu torch compile does not count: RuntimeError: no compiler." in reading.tables[0].notes[-1]


def test_a_speed_up_of_another_implementation_is_a_way_and_no_speed_up_of_the_machine():
    found = current(pools(factory.on_hosts(ways())))
    assert {(item.case.implementation, item.case.scope) for item in speedup.of_pools(found)} == {("jax", "step")}
    every = speedup.of_ways(found)
    assert {item.case.implementation for item in every} == {"keras", "torch"}
    assert {item.certificate for item in every} == {None}


def test_loops_are_replayed_but_not_those_that_take_an_epoch_in_one_call():
    asked = {"workload": "mnist_mlp", "backend": "cpu", "batch": 8}
    groups = [(Case(**asked, scope="written", variant=name),) for name in ("nnx-loop", "resident-loop")]
    header = campaign.planned(
        [case for group in groups for case in group], [NETWORK], "quick", factory.HOST, datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert [replayed(header, group) for group in groups] == [True, False]


@pytest.mark.parametrize("way", [{"implementation": "torch", "variant": "loop"}, {"variant": "resident-loop"}])
def test_only_inputs_have_to_agree_where_losses_may_differ(way):
    cpu, gpu = timed({"cpu": 1.0, "gpu": 1.0}, scope="written", **way)
    runs = tuple(msgspec.structs.replace(run, first_loss=9.0) for run in gpu.runs)
    assert list(disagreements(cpu, msgspec.structs.replace(gpu, runs=runs))) == []
    runs = tuple(msgspec.structs.replace(run, input_digest="other") for run in gpu.runs)
    assert "the sides had other inputs" in next(disagreements(cpu, msgspec.structs.replace(gpu, runs=runs)))

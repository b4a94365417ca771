"""Each of JAX's steps stands beside the fastest baseline, and beside the ways that were not timed."""

import factory
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from suite import cli
from suite.report.parts import frameworks
from suite.results.pooled.baselines import baseline_comparisons
from suite.results.records import store
from suite.results.views import documents


def test_the_fastest_baseline_counts_whichever_it_is():
    eager = factory.hosts(baseline=0.008)[1::3]
    compiled = [factory.sealed(replace(record, case=replace(record.case, variant="compile"))) for record in eager]
    cpu, gpu = baseline_comparisons([*factory.hosts(), *compiled])
    assert [way.words for way in cpu.ways] == ["torch compile", "torch eager"]
    assert cpu.best is not None
    assert (cpu.best.words, cpu.best.over.value) == ("torch compile", pytest.approx(0.8, rel=0.01))
    assert cpu.not_timed == ("keras",)
    assert (gpu.machine, gpu.mine.case.backend) == (factory.HOST.slug, "gpu")


def test_a_step_without_a_baseline_has_a_row_with_what_was_not_timed():
    _, gpu = documents.baselines_document(baseline_comparisons(factory.hosts())).rows
    assert (gpu.ratio, gpu.low, gpu.high, gpu.best, gpu.timed) == (None, None, None, None, ())
    assert gpu.not_timed == ("torch eager", "torch compile", "torch graph", "torch compile-graph")


def test_a_machine_without_a_gpu_and_trees_have_rows_too():
    trees = factory.record(
        "gbdt_mortgage", machine=factory.PLAIN, about=factory.description("gbdt_mortgage", family="trees")
    )
    (row,) = baseline_comparisons([trees])
    assert (row.machine, row.not_timed) == (factory.PLAIN.slug, ("xgboost", "xgboost one-thread"))


def test_an_engine_is_a_baseline_of_inference_like_any_other():
    about = factory.description("serve_resnet50", family="inference")
    mine = factory.record("serve_resnet50", machine=factory.PLAIN, about=about)
    engine = factory.record(
        "serve_resnet50", step_seconds=(0.004,) * 3, machine=factory.PLAIN, about=about, implementation="openvino"
    )
    (row,) = baseline_comparisons([mine])
    assert row.not_timed == ("torch eager", "torch compile", "keras", "openvino")
    (row,) = baseline_comparisons([mine, engine])
    assert row.best is not None
    assert (row.best.words, "openvino" in row.not_timed) == ("openvino", False)
    (trained,) = baseline_comparisons([factory.record(machine=factory.PLAIN)])
    assert "openvino" not in trained.not_timed


@pytest.mark.parametrize("changes", [{"scope": "cold"}, {"variant": "nnx-jit"}, {"devices": 2}, {"profile": "smoke"}])
def test_what_is_no_step_in_the_usual_way_has_no_row(changes):
    assert baseline_comparisons([factory.record(**changes)]) == ()


def test_neither_another_way_of_jax_is_a_baseline_nor_is_a_ceiling_a_step():
    mine = factory.hosts()
    others = [factory.sealed(replace(record, case=replace(record.case, variant="nnx-jit"))) for record in mine[::3]]
    cpu, _ = baseline_comparisons([*mine, *others])
    assert [way.words for way in cpu.ways] == ["torch eager"]
    assert baseline_comparisons([factory.record(about=factory.description(family="ceiling"))]) == ()


@pytest.mark.parametrize(
    ("tuned", "default", "shown"), [(2, 3, "default-malloc"), (3, 2, "tuned-malloc"), (3, 4, "tuned-malloc")]
)
def test_of_two_allocators_the_usual_has_the_row_unless_it_is_on_too_few_hosts(tuned, default, shown):
    steps = [(record, replace(record.case, allocator="default-malloc")) for record in factory.hosts(default)[::3]]
    others = [factory.sealed(replace(record, case=case)) for record, case in steps]
    (row,) = baseline_comparisons([*factory.hosts(tuned)[::3], *others])
    assert row.mine.case.allocator == shown


def test_each_precision_and_batch_has_a_row_and_either_allocator_one_together():
    steps = [
        {},
        {"allocator": "default-malloc"},
        {"batch": 8},
        {"backend": "gpu"},
        {"backend": "gpu", "precision": "tf32"},
    ]
    rows = baseline_comparisons([factory.record(**step) for step in steps])
    assert [(row.mine.case.backend, row.mine.case.batch, row.mine.case.precision) for row in rows] == [
        ("cpu", 8, "float32-highest"),
        ("cpu", 128, "float32-highest"),
        ("gpu", 128, "float32-highest"),
        ("gpu", 128, "tf32"),
    ]


def test_a_table_has_what_was_compared_and_notes_the_rest():
    cpu, gpu = frameworks.listed(baseline_comparisons(factory.hosts()))
    assert [cell.text for cell in cpu.rows[0]][:5] == ["mnist_mlp", "128", "float32-highest", "torch eager", "1.01x"]
    assert (gpu.rows, gpu.notes) == ((), ("No baseline beside some steps of mnist_mlp; --json has these too.",))


def test_the_command_line_prints_tables_and_refuses_where_nothing_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no record is a JAX step" in CliRunner().invoke(cli.main, ["baselines"]).output
    for record in factory.hosts():
        store.add(record, tmp_path / "records")
    answer = CliRunner().invoke(cli.main, ["baselines"])
    assert answer.exit_code == 0
    assert "Baselines on the CPU of test-gpu-16-cores" in answer.output
    assert "Baselines on the GPU" not in answer.output

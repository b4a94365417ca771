"""What is to be measured next: each cell is filled, or says which tier fills it or why nothing does."""

import re
from dataclasses import replace

import factory
import msgspec
import pytest
from factory import of_one_machine
from plan import __main__ as printed
from plan import wanted
from plan.tables import answered as answers_table
from plan.tables import controlled as sentence
from plan.tables import table as plan_table

from suite import experiments, models
from suite.analysis import devices
from suite.report.parts import tables
from suite.results.pooled.speedup import pooled_speedups
from suite.results.views.experiment_result import ExperimentResult
from suite.results.views.table import Cell, Table
from suite.workload import Grid, WholeRun

H100 = msgspec.structs.replace(
    factory.HOST, gpus=(msgspec.structs.replace(factory.H100, name="NVIDIA H100 80GB HBM3"),)
)
KIND = next(kind for kind in wanted.KINDS if kind.gpu == "H100")
ABOUT = factory.description(headline=True)
ALONE = next(kind for kind in wanted.KINDS if kind.gpu == "H200")


def with_h200(count):
    gpu = msgspec.structs.replace(factory.H100, name="NVIDIA H200")
    return msgspec.structs.replace(factory.HOST, name=f"{count}x h200", cores=16 * count, gpus=(gpu,) * count)


def texts(records, about=ABOUT, headline=True):
    mine = wanted.plain(record for record in records if KIND.fits(record.machine))
    about = msgspec.structs.replace(about, headline=headline)
    return {w.title: wanted.cell(w, about, mine) for w in KIND.wanted}


def test_an_empty_cell_names_its_tier():
    found = texts([])
    assert found["GPU step, float32"].text == "tier 1"
    assert found["GPU step, TF32"].text == "tier 2"
    assert found["GPU epoch, float32"].text == "tier 2"
    assert not any(cell.record for cell in found.values())


def test_trees_have_no_precision_to_be_timed_at():
    found = texts([], msgspec.structs.replace(ABOUT, family="trees"))
    assert found["GPU step, float32"].text == "tier 1"
    assert (found["GPU step, TF32"].text, found["GPU step, TF32"].remark) == (
        "–", "trees add whole numbers, which have no precision"
    )  # fmt: skip


def test_what_no_tier_asks_for_is_filled_where_it_was_measured_all_the_same():
    record = factory.record(machine=factory.HOST, backend="gpu", scope="epoch")
    found = texts([record], headline=False)
    assert (found["GPU epoch, float32"].text, found["GPU epoch, float32"].record) == ("3 rounds", record)
    assert found["CPU epoch, float32"].text == "–"


def test_a_filled_cell_has_its_record_and_what_that_is_worth():
    record = factory.record(machine=factory.HOST)
    cell = texts([record])["CPU step, float32"]
    assert (cell.text, cell.record) == ("3 rounds", record)
    assert texts([record])["GPU step, float32"].text == "tier 1"


def test_the_result_that_other_pages_show_is_judged_though_an_older_one_was_sound():
    newer = {"campaign": "20270101-000000-x", "created": "2027-01-01T00:00:00Z"}
    sound = factory.record(machine=factory.HOST)
    noisy = [factory.record(step_seconds=(0.01, 0.02, 0.03), **newer), factory.record(backend="gpu", **newer)]
    cell = texts([sound, *noisy])["CPU step, float32"]
    assert (cell.text, cell.record, "half-width" in cell.remark) == ("3 rounds", noisy[0], True)
    (row,) = tables.speedup_table(pooled_speedups([sound, *noisy])).rows
    assert row[tables.SPEEDUP_COLUMNS.index("CPU step")].record == cell.record


def test_a_result_that_failed_says_why():
    failed = msgspec.structs.replace(factory.record(machine=factory.HOST), runs=(), reason="out of memory")
    only = texts([failed])["CPU step, float32"]
    assert (only.text, only.remark) == ("0 of 3 rounds", "out of memory")


def test_the_better_allocator_fills_a_cell():
    both = [
        factory.record(allocator=a, step_seconds=[t] * 3) for a, t in (("tuned-malloc", 0.01), ("default-malloc", 0.02))
    ]
    assert texts(both)["CPU step, float32"].record == both[0]


def test_another_way_or_another_machine_fills_no_cell():
    other = (
        factory.record(machine=factory.HOST, variant="scan"),
        factory.record(machine=factory.HOST, batch=64),
        factory.record(machine=factory.HOST, implementation="torch"),
        factory.record(machine=msgspec.structs.replace(factory.HOST, cores=8)),
        msgspec.structs.replace(factory.record(machine=factory.HOST, threads=1), experiment="threads"),
    )
    assert texts(other)["CPU step, float32"].record is None


def test_random_content_timed_before_there_was_a_stand_in_fills_a_cell():
    for data in ("random", "embedded"):
        record = factory.record(machine=factory.HOST, data=data)
        assert texts([record])["CPU step, float32"].record == record


def test_what_an_experiment_measured_as_if_nobody_had_asked_fills_a_cell():
    asked = msgspec.structs.replace(factory.record(machine=factory.HOST), experiment="threads")
    assert texts([asked])["CPU step, float32"].record == asked


def test_what_does_not_belong_says_why():
    assert texts([], headline=False)["GPU epoch, float32"].remark == "asked of the headline set alone"
    assert texts([], factory.description(run=None))["GPU run, float32"].remark == "no whole run is documented"
    assert texts([], factory.description(data="random"))["GPU epoch, float32"].remark == "no stored data"


def test_kinds_of_machines_are_told_apart():
    machines = (factory.PLAIN, factory.HOST, with_h200(1), with_h200(4))
    fits = [[kind.fits(machine) for kind in wanted.KINDS] for machine in machines]
    assert fits == [[True, False, False], [False, True, False], [False, False, True], [False, False, False]]


def test_one_gpu_of_several_counts_where_the_gpu_alone_does():
    double = msgspec.structs.replace(H100, gpus=H100.gpus * 2)
    fills = [[kind.fills(machine) for kind in wanted.KINDS] for machine in (with_h200(4), double)]
    assert fills == [[False, False, True], [False, False, False]]


def test_what_one_gpu_of_several_did_says_so_and_comes_after_a_gpu_alone():
    several, alone = (factory.record(machine=with_h200(count), backend="gpu", scope="step") for count in (4, 1))
    several = msgspec.structs.replace(several, created="2027-01-01T00:00:00Z")
    step = ALONE.wanted[0]
    only, both = (wanted.cell(step, ABOUT, wanted.plain(mine)) for mine in ([several], [several, alone]))
    assert (only.text, only.remark, only.record) == ("3 rounds, 1 of 4 GPUs", "of 4x h200", several)
    assert (both.text, both.remark, both.record) == ("3 rounds", "", alone)


def asked_of(name):
    """The models of an experiment; of one that chooses them by description, two."""
    experiment = experiments.load(name)
    return ("cifar10_mlp", "cifar10_resnet63") if hasattr(experiment, "usual") else experiment.WORKLOADS


def answered(name, *machines_and_answers):
    mine = [
        (machine, answers if isinstance(answers, ExperimentResult) else ExperimentResult(answers=answers))
        for machine, answers in machines_and_answers
    ]
    asked = [models.load(model).description for model in asked_of(name) if "ceiling" not in model]
    (row,) = answers_table({name: mine}, asked).rows
    return dict(zip(("four", "h100", "h200"), row[2:], strict=True))


def test_an_experiment_that_lacks_models_says_which():
    row = answered("threads", (factory.HOST, ("cifar10_mlp: 2x, cifar10_resnet63_too is another",)))
    assert row["h100"].text == "1 of 2 models, the rest tier 2"
    assert row["h100"].remark == "not answered yet: cifar10_resnet63"
    two = answered("threads", (factory.HOST, ("cifar10_mlp: 2x",)), (factory.HOST, ("cifar10_resnet63: 2x",)))
    assert two["h100"].text == "answered"
    assert answered("roofline", (factory.HOST, ("a sentence",)))["h100"].text == "answered"


def test_a_tier_owes_an_experiment_the_headline_set_alone():
    served = "serve_resnet50: 2x", "serve_mobilenet_v2: 2x"
    row = answered("serving", (factory.HOST, served))
    assert row["h100"].text == "2 of 5 models"
    assert row["h100"].remark.startswith("beyond the headline set, not asked for: serve_")
    row = answered("serving", (factory.HOST, served[1:]))
    assert row["h100"].text == "1 of 5 models, serve_resnet50 tier 2"


@pytest.mark.parametrize(("answer", "is_answered"), [("Not known: 1 network has both sides", False), ("Over 9", True)])
def test_an_experiment_of_all_models_together_is_answered_once_its_answer_is_known(answer, is_answered):
    row = answered("size", (factory.HOST, (answer,)))
    assert (row["h100"].text == "answered") is is_answered


def test_an_empty_table_that_names_a_model_in_its_title_answers_nothing():
    titled = Table(title="The grid of cifar10_mlp", columns=("batch",), rows=())
    filled = replace(titled, rows=((Cell(text="32"),),))
    rows = [answered("threads", (factory.HOST, ExperimentResult(answers=("cifar10_resnet63: 2x",), tables=(table,))))
            for table in (titled, filled)]  # fmt: skip
    assert [row["h100"].text for row in rows] == ["1 of 2 models, the rest tier 2", "answered"]


def test_of_an_experiment_that_no_tier_asks_for_no_tier_owes_the_rest():
    row = answered("threads", (factory.PLAIN, ("cifar10_mlp: 2x",)))
    assert (row["four"].text, row["four"].remark) == ("1 of 2 models", "not asked for: cifar10_resnet63")


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("threads", {"threads": (1, None)}),
        ("dispatch", {"variant": ("plain", "scan")}),
        ("precision", {"precision": ("tf32", "float32-highest"), "backend": ("gpu", "gpu")}),
        ("grid_search", {"variant": ("plain", "stacked"), "batch": (128, 256)}),
    ],
)
def test_a_model_whose_answer_is_not_known_is_not_answered(name, axes):
    model, *others = asked_of(name)
    each = [dict(zip(axes, values, strict=True)) for values in zip(*axes.values(), strict=True)]
    grid = Grid(hidden=((128,),), epochs=(10,), folds=3)
    about = factory.description(model, run=WholeRun(epochs=1, train=100), grid=grid)
    made = (factory.record(model, about=about, runs=(), **one) for one in each)
    reading = experiments.load(name).read(
        of_one_machine([msgspec.structs.replace(one, reason="out of memory") for one in made])
    )
    assert reading is None or reading.names(model)  # None: it stands in no pool, and the page names it in no table
    reading = reading or ExperimentResult(answers=())
    assert answered(name, (factory.HOST, reading))["h100"].text == "tier 2"
    row = answered(name, (factory.HOST, reading), (factory.HOST, tuple(f"{other}: 2x" for other in others)))
    assert row["h100"].text.endswith("tier 2")
    assert not others or row["h100"].remark == f"not answered yet: {model}"


SCALED = experiments.load("scaling").WORKLOADS


def scaled(machine, *counts, models=SCALED, **changes):
    """What a host says of its scaling, whose records are of these numbers of GPUs."""
    records = (
        factory.record(model, "gpu", machine=machine, devices=count, batch=128 * count, **changes)
        for model in models
        for count in (1, *counts)
    )
    asked = [msgspec.structs.replace(one, experiment="scaling") for one in records]
    return experiments.load("scaling").read(of_one_machine(asked)) or ExperimentResult(answers=())


def h200s(*hosts):
    """The cell of H200s in which these hosts are: how many GPUs each has, and its answer's counts and changes."""
    answers = [(with_h200(gpus), scaled(with_h200(gpus), *counts, **changes)) for gpus, counts, changes in hosts]
    return answered("scaling", *answers)["h200"]


def test_scaling_is_not_answered_while_a_number_of_gpus_that_is_asked_for_has_no_record():
    two, four, eight = ((n, tuple(c for c in (2, 4, 8) if c <= n), {}) for n in (2, 4, 8))
    assert answered("scaling")["h200"].text == "tier 3"
    assert (h200s(two).text, h200s(two).remark) == (
        "2 of 2, 4, 8 GPUs, the rest tier 3", "with 4 GPUs not answered yet; with 8 GPUs not answered yet"
    )  # fmt: skip
    for hosts in ((four,), (two, four)):
        assert h200s(*hosts).text == "2 and 4 of 2, 4, 8 GPUs, the rest tier 3"
        assert h200s(*hosts).remark == "with 8 GPUs not answered yet"
    assert h200s(eight) == Cell(text="answered with 2, 4, 8 GPUs")
    assert h200s(four, (8, (8,), {})).text == "answered with 2, 4, 8 GPUs"


def test_a_larger_host_answers_only_for_the_numbers_of_gpus_that_it_timed():
    assert h200s((8, (2, 8), {})).text == "2 and 8 of 2, 4, 8 GPUs, the rest tier 3"
    assert h200s((2, (2,), {}), (4, (4,), {"runs": ()})).text == "2 of 2, 4, 8 GPUs, the rest tier 3"


def test_a_number_of_gpus_is_answered_with_all_models_of_its_experiment():
    lacking = h200s((4, (2, 4), {}), (8, (8,), {"models": SCALED[:-1]}))
    assert lacking.text == "2 and 4 of 2, 4, 8 GPUs, the rest tier 3"
    assert lacking.remark == f"with 8 GPUs not answered yet: {SCALED[-1]}"
    assert h200s((2, (2,), {"models": SCALED[:1]})).text == "tier 3"


def test_what_is_asked_of_several_gpus_is_what_the_experiment_times():
    for kind in wanted.KINDS:
        assert set(kind.gpus) <= set(devices.COUNTS)
        assert kind.counts(1) == (1,) * (1 in kind.gpus)
    assert (KIND.counts(2), ALONE.counts(2)) == ((2,), (2, 4, 8))


def test_the_experiments_table_counts_what_tiers_ask_for_and_what_is_answered_whole():
    about = [factory.description(name=model) for model in SCALED]
    for counts, full in (((2, 4), 0), ((2, 4, 8), 1)):
        machine = with_h200(8)
        table = answers_table({"scaling": [(machine, scaled(machine, *counts))], "accuracy": []}, about)
        assert table.title.endswith(f": {full} of 2 cells that a tier asks for are answered")


def test_an_experiment_on_several_gpus_is_answered_by_a_host_of_several_whatever_its_cores():
    answers = tuple(f"{model}: 2x" for model in SCALED)
    double = msgspec.structs.replace(H100, gpus=H100.gpus * 2, cores=32, name="2x h100")
    assert not any(kind.fits(double) for kind in wanted.KINDS)
    row = answered("scaling", (double, scaled(double, 2)))
    assert (row["h100"].text, row["h200"].text) == ("answered with 2 GPUs", "tier 3")
    assert answered("scaling", (H100, scaled(double, 2)))["h100"].text == "tier 2"
    assert answered("threads", (double, answers))["h100"].text == "tier 2"
    assert answered("threads", (with_h200(4), answers))["h200"].text == "–"


def controlled(*records, kind=KIND, catalogue=(ABOUT,)):
    """The sentence on controls, and the cells of the first model, by column."""
    others = wanted.controls(records)
    mine = wanted.plain(record for record in records if kind.fills(record.machine))
    table = plan_table(kind.name, kind.wanted, catalogue, mine, others)
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    return sentence(kind.wanted, table.rows, others), cells


def test_a_step_says_which_control_it_has_beside_it():
    said, cells = controlled(
        factory.record(machine=factory.HOST),
        factory.record(machine=factory.HOST, implementation="torch", variant="compile"),
        factory.record(machine=factory.HOST, implementation="keras"),
        factory.record(machine=factory.HOST, backend="gpu"),
    )
    assert cells["CPU step, float32"].remark == "control: keras, torch"
    assert cells["GPU step, float32"].remark == "no control"
    assert "1 of 2 steps have one, 1 of them in the campaign of the result that is shown" in said
    assert said.endswith("; without one are mnist_mlp (GPU step, float32).")


def test_a_control_of_another_campaign_counts_on_the_same_machine_alone():
    newer = {"campaign": "20270101-000000-x", "created": "2027-01-01T00:00:00Z"}
    both = [factory.record(machine=factory.HOST, implementation=each) for each in ("jax", "torch")]
    shown = factory.record(machine=factory.HOST, **newer)
    said, cells = controlled(*both, shown)
    assert cells["CPU step, float32"].record == shown
    assert cells["CPU step, float32"].remark == "control in another campaign: torch"
    assert "1 of 2 steps have one, 0 of them in the campaign of the result that is shown" in said
    _, cells = controlled(*both, shown, factory.record(machine=factory.HOST, implementation="keras", **newer))
    assert cells["CPU step, float32"].remark == "control: keras"
    away = msgspec.structs.replace(factory.HOST, name="another, 16 cores")
    said, cells = controlled(shown, *(msgspec.structs.replace(each, machine=away) for each in both))
    assert cells["CPU step, float32"].remark == "no control"
    assert "0 of 2 steps have one" in said


@pytest.mark.parametrize(
    "changes",
    [{"batch": 64}, {"precision": "tf32"}, {"runs": ()}, {"profile": "smoke"}, {"scope": "cold"},
     {"campaign": "20270101-000000-x"}, {"machine": msgspec.structs.replace(factory.HOST, name="another, 16 cores")}],
)  # fmt: skip
def test_what_is_not_the_same_step_timed_beside_jax_is_no_control(changes):
    mine = factory.record(machine=factory.HOST, backend="gpu")
    other = factory.record(backend="gpu", implementation="torch", **{"machine": factory.HOST, **changes})
    assert controlled(mine, other)[1]["GPU step, float32"].remark == "no control"


def test_controls_are_wanted_by_the_tiers_that_ask_for_them():
    both = [factory.record(machine=factory.HOST, backend="gpu", precision="tf32", implementation=each)
            for each in ("jax", "torch")]  # fmt: skip
    cold = factory.record(machine=factory.HOST, scope="cold")
    said, cells = controlled(*both, cold)
    assert (cells["GPU step, TF32"].remark, cells["CPU cold, float32"].remark) == ("", "")
    assert cells["GPU step, float32"].remark == "not measured yet"
    assert "0 of 2 steps have one" in said
    assert {(kind.gpu, each.title) for kind in wanted.KINDS for each in kind.wanted if each.controlled} == {
        ("", "CPU step, float32"), ("H100", "CPU step, float32"), ("H100", "GPU step, float32"),
        ("H200", "GPU step, float32"),
    }  # fmt: skip


def test_what_is_printed_says_of_each_kind_of_machine_what_it_lacks(monkeypatch, capsys):
    shaky = factory.record(step_seconds=(1.0, 2.0, 3.0), machine=factory.HOST)
    records = [factory.record(machine=factory.HOST, backend="gpu"), shaky]
    records += [factory.record(machine=factory.PLAIN, implementation=each) for each in ("jax", "torch")]
    monkeypatch.setattr(printed.store, "load", lambda _: (records, ()))
    monkeypatch.setattr(printed.catalogue, "read", lambda _: (ABOUT, factory.description(name="convnet")))
    printed.main()
    said = " ".join(capsys.readouterr().out.split())
    words = r": (\d+) of (\d+) cells are filled, nothing speaks against (\d+) of them"
    counts = [re.findall(re.escape(kind.name) + words, said) for kind in wanted.KINDS]
    assert counts == [[("1", "6", "1")], [("2", "18", "1")], [("0", "6", "0")]]
    assert re.findall(r"(\d+) of (\d+) steps have one", said) == [("1", "2"), ("0", "4"), ("0", "2")]
    assert "; without one are convnet (CPU step, float32)." in said
    assert "tier 2 (not measured yet)" in said

"""Accuracies are shown with what they were trained on, shortfalls are not hidden, stand-ins make no claim."""

import re

import factory
import msgspec
import pytest
from factory import of_one_machine

from suite import experiments, models
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.input_pipeline import claimed
from suite.analysis.learning import documented_steps
from suite.claims import observations
from suite.experiments import accuracy, predict_rescale
from suite.report.pages import experiments as pages
from suite.report.pages import learning as report
from suite.report.parts import from_storage
from suite.report.parts.facts import Facts
from suite.results.evidence import learning
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.run import Learnt, Predictions

ABOUT = {name: models.load(name).description for name in models.names()}
GOOD = learning.Trained(
    data="mnist, stand-in", batch=128, steps=100, examples=1024, accuracies=(0.97, 0.98, 0.99),
    bound=0.95, broken={"labels shuffled": 0.11, "last layer alone learns": 0.81},
)  # fmt: skip
FOUND = learning.LearningCheck(
    network="mnist_mlp", made="2026-01-01", commit="abc", machine="a processor", cores=4, backend="cpu", seconds=70.0,
    seeds=(0, 1, 2), trained=GOOD,
    checks=(learning.LossCheck(expected="e", found="not tried: needs a GPU", good=None),),
)  # fmt: skip
HALF = Predictions(
    pixels="0 to 1", examples=400, mean_output=0.5, above_half=0.5, exactly_one=0.01, accuracy_above_half=0.9,
    accuracy_exactly_one=0.51,
)  # fmt: skip
RAW = msgspec.structs.replace(HALF, pixels="0 to 255", exactly_one=0.98, above_half=0.99)

SIDES = {"cpu": (0.980, 0.981, 0.982), "gpu": (0.982, 0.981, 0.983)}  # of three equal seeds


def trained(name, shares=(0.8, 0.82), data="tfds", steps=None, predictions=(), backend="gpu", **axes):
    about = ABOUT[name]
    steps = steps or documented_steps(about)
    learnt = [
        Learnt(steps=steps, losses=(0.7, 0.3), loss_every=10, examples=2000, accuracy=s, predictions=predictions)
        for s in shares
    ]
    runs = tuple(factory.run(n, 60.0, steps=1, samples=1, learnt=one) for n, one in enumerate(learnt))
    return factory.record(
        name, backend, [60.0] * len(runs), about=about, scope="learning", runs=runs, data=data, steps=steps, **axes
    )


# The session's page


def test_what_was_found_is_read_as_it_was_written(tmp_path):
    FOUND.write(tmp_path)
    other = msgspec.structs.replace(FOUND, backend="gpu")
    other.write(tmp_path)
    assert learning.LearningCheck.read_all(tmp_path) == (FOUND, other)
    assert learning.LearningCheck.read_all(tmp_path / "nothing") == ()


def test_a_file_that_is_something_else_is_named(tmp_path):
    FOUND.write(tmp_path).write_text("[]")
    with pytest.raises(ValueError, match=r"learning\.jsonl' is not what the learning session writes"):
        learning.LearningCheck.read_all(tmp_path)


def test_every_seed_has_to_reach_the_bound():
    assert GOOD.good
    assert not msgspec.structs.replace(GOOD, accuracies=(0.99, 0.94, 0.99)).good
    assert GOOD.spread == pytest.approx(0.02)


def test_a_bound_that_a_broken_network_reaches_is_a_shortfall():
    blunt = msgspec.structs.replace(GOOD, broken={"labels shuffled": 0.96})
    assert not blunt.good
    both = (FOUND, msgspec.structs.replace(FOUND, trained=blunt))
    assert [row[-1].text for row in report.trained(both).rows] == ["learns", "shortfall"]
    assert not both[1].good


def test_what_was_not_tried_is_no_failure_and_says_so():
    assert FOUND.good
    assert [row[-1].text for row in report.checks((FOUND,)).rows] == ["not tried"]


def test_what_a_gpu_has_tried_is_not_called_untried_on_the_cpu():
    tried = learning.LossCheck(expected="e", found="f", good=True)
    other = msgspec.structs.replace(FOUND, backend="gpu", checks=(tried,))
    (row,) = report.checks((FOUND, other)).rows
    assert [cell.text for cell in row] == ["mnist_mlp", "gpu", "e", "f", "as required"]
    elsewhere = msgspec.structs.replace(other, network="mnist_cnn")
    assert [row[-1].text for row in report.checks((FOUND, elsewhere)).rows] == ["not tried", "as required"]


def test_a_network_stands_once_for_each_backend_and_in_the_order_of_names():
    other = msgspec.structs.replace(FOUND, backend="gpu")
    later = msgspec.structs.replace(FOUND, network="mnist_cnn")
    page = report.files(Facts(records=(), lessons=(later, other, FOUND)))["learning.md"]
    rows = re.findall(r"<th scope='row'>mnist&#95;(\w+)</th>\s*<td[^>]*>(\w+)<", page)
    assert rows[:3] == [("cnn", "cpu"), ("mlp", "cpu"), ("mlp", "gpu")]


def test_a_check_that_failed_is_a_shortfall():
    failed = msgspec.structs.replace(FOUND, checks=(learning.LossCheck(expected="e", found="f", good=False),))
    assert not failed.good
    assert [row[-1].text for row in report.checks((failed,)).rows] == ["shortfall"]


def test_the_page_has_accuracies_spread_bound_and_the_worst_broken_network():
    (row,) = report.trained((FOUND,)).rows
    assert [cell.text for cell in row[5:]] == [
        "97.0 % · 98.0 % · 99.0 %", "2.0 %", "95 %", "last layer alone learns: 81.0 %", "learns",
    ]  # fmt: skip
    assert "2026-01-01" in report.files(Facts(records=(), lessons=(FOUND,)))["learning.md"]


def test_a_record_says_what_its_accuracy_is_and_what_it_was_trained_on():
    table = from_storage.accuracy_table([trained("mnist_mlp", data="embedded"), factory.record()])
    assert [row[1].text for row in table.rows] == ["a stand-in that the project makes"] * 2
    assert "share of validation examples" in table.notes[0]
    assert from_storage.accuracy_table([factory.record()]).rows == ()


def test_a_run_ends_with_the_accuracies_of_this_machine():
    *_, table = from_storage.for_terminal([trained("mnist_mlp", data="embedded")], factory.HOST.slug)
    assert [row[0].text for row in table.rows] == ["mnist_mlp"] * 2
    assert [row[-1].text for row in table.rows] == ["80.0 %", "82.0 %"]
    assert not any(table.rows for table in from_storage.for_terminal([trained("mnist_mlp")], "another"))
    assert not any(table.rows for table in from_storage.for_terminal([factory.record()], factory.HOST.slug))


# Documented accuracies


def test_the_documented_trainings_are_as_long_as_their_sources_say():
    steps = {name: documented_steps(about) for name, about in ABOUT.items()}
    assert steps["mnist_mlp"] == 9380
    assert steps["catdog_cnn_base"] == steps["catdog_cnn_128"] == 25 * 8000
    assert steps["imdb_bilstm"] is None


def test_accuracy_is_refused_on_stand_ins_in_one_line():
    with pytest.raises(RuntimeError, match=r"needs the real data, this run has data 'embedded'; add --data tfds"):
        accuracy.cases([ABOUT["mnist_mlp"]], MachineCapabilities(backends=("cpu",), cores=4))


def test_accuracy_is_trained_on_the_gpu_if_there_is_one():
    real = MachineCapabilities(backends=("cpu", "gpu"), cores=4, data="tfds")
    (case,) = accuracy.cases([ABOUT["catdog_cnn_128"], ABOUT["imdb_bilstm"]], real)
    assert (case.backend, case.scope, case.steps, case.data) == ("gpu", "learning", 200_000, "tfds")
    with pytest.raises(ValueError, match="no training of these workloads is documented"):
        accuracy.cases([ABOUT["imdb_bilstm"]], real)


def test_every_network_of_the_experiment_has_a_documented_accuracy_and_no_other():
    documented = {name for name, about in ABOUT.items() if claimed(about, "accuracy")}
    assert documented == set(accuracy.WORKLOADS)


def test_measured_accuracies_stand_beside_the_documented():
    (table,) = accuracy.read(of_one_machine([trained("catdog_cnn_base")])).tables
    rows = {row[0].text: row for row in table.rows}
    assert [cell.text for cell in rows["catdog_cnn_base"][1:7]] == [
        "gpu", "80.0 %", "81.0 %", "80.0 % to 82.0 %", "+1.0 points", "200,000",
    ]  # fmt: skip


@pytest.mark.parametrize("record", [{"data": "embedded"}, {"steps": 300}, {"batch": 64}, {"augmentation": "none"}])
def test_no_other_training_stands_in_the_column_of_the_documented_one(record):
    assert accuracy.read(of_one_machine([trained("catdog_cnn_base", **record)])) is None


def test_a_training_that_was_cut_short_does_not_count():
    whole = trained("catdog_cnn_base")
    runs = tuple(msgspec.structs.replace(r, learnt=msgspec.structs.replace(r.learnt, steps=4)) for r in whole.runs)
    assert accuracy.read(of_one_machine([msgspec.structs.replace(whole, runs=runs)])) is None


def test_what_a_source_trained_whole_is_trained_on_cpu_and_gpu_and_the_long_trainings_on_one():
    real = MachineCapabilities(backends=("cpu", "gpu"), cores=4, data="tfds")
    made = accuracy.cases([ABOUT[name] for name in ("mnist_cnn", "catdog_cnn_base")], real)
    assert [(case.workload, case.backend, case.steps) for case in made] == [
        ("mnist_cnn", "cpu", 469), ("mnist_cnn", "gpu", 469), ("catdog_cnn_base", "gpu", 200_000),
    ]  # fmt: skip


def test_cpu_and_gpu_are_compared_over_equal_seeds():
    sides = [trained("mnist_mlp", shares, backend=backend) for backend, shares in SIDES.items()]
    accuracies, pairs = accuracy.read(of_one_machine(sides)).tables
    assert [row[1].text for row in accuracies.rows] == ["cpu", "gpu"]
    assert [cell.text for cell in pairs.rows[0]] == ["mnist_mlp", "3", "+0.10 points", "-0.15 to +0.35"]
    assert len(accuracy.read(of_one_machine(sides[:1])).tables) == 1


def test_the_first_answer_sets_what_is_reached_beside_what_is_documented_and_cpu_beside_gpu():
    sides = [trained("mnist_mlp", shares, backend=backend) for backend, shares in SIDES.items()]
    lead = accuracy.read(of_one_machine(sides)).answers[0]
    reached = accuracy.read(of_one_machine(sides)).tables[0].rows[-1][3].text
    assert lead == (
        f"mnist_mlp reaches {reached}, documented 98.4 %. From equal seeds CPU and GPU differ by at most 0.35 points."
    )
    alone = accuracy.read(of_one_machine(sides[1:])).answers[0]
    assert alone == f"mnist_mlp reaches {reached}, documented 98.4 %."


def test_a_further_campaign_adds_its_pairs_of_equal_seeds():
    first = [trained("mnist_mlp", shares[:2], backend=backend) for backend, shares in SIDES.items()]
    later = [
        msgspec.structs.replace(
            record, campaign="20260102-000000-test", created="2026-01-02T00:00:00Z",
            runs=tuple(msgspec.structs.replace(run, seed=7) for run in record.runs),
        )
        for record in (trained("mnist_mlp", shares[2:], backend=backend) for backend, shares in SIDES.items())
    ]  # fmt: skip
    _, pairs = accuracy.read(of_one_machine([*first, *later])).tables
    assert [cell.text for cell in pairs.rows[0]] == ["mnist_mlp", "3", "+0.10 points", "-0.15 to +0.35"]


def test_a_network_without_a_documented_accuracy_says_so():
    result = accuracy.read(of_one_machine([trained("mnist_cnn", (0.98, 0.99))]))
    (row,) = result.tables[0].rows
    assert [cell.text for cell in row[2:6]] == ["–", "98.5 %", "98.0 % to 99.0 %", "–"]
    assert "its source states no accuracy" in result.answers[0]


def test_the_ladder_is_judged_once_all_of_it_was_run():
    ladder = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_128")
    rising = [trained(name, (0.8 + 0.04 * rung,)) for rung, name in enumerate(ladder)]
    assert accuracy.read(of_one_machine(rising)).answers[-1].endswith("rises with each step, as documented.")
    falling = [*rising[:-1], trained(ladder[-1], (0.5,))]
    assert accuracy.read(of_one_machine(falling)).answers[-1].endswith("does not rise with each step, as documented.")
    assert "From" not in accuracy.read(of_one_machine(rising[:3])).answers[-1]


def test_the_page_of_what_was_not_run_begins_by_saying_that_it_is_open_and_why():
    files = pages.files(Facts(records=()))
    begin = '</h1>\n\n<p class="lead">This question is open: '
    real = "it needs the published data. Answer it: <code>suite run --experiment accuracy --data tfds<"
    assert begin + real in files["experiments/accuracy.md"]
    assert (
        f"{begin}no machine has answered it yet. Answer it: <code>suite run --experiment size<"
        in (files["experiments/size.md"])
    )


def test_questions_that_the_stand_ins_cannot_answer_come_last():
    asked = [name for name, _ in experiments.questions()]
    assert asked[-2:] == ["accuracy", "stand_ins"]
    assert asked[:-2] == sorted(asked[:-2])


# Pixels that are not rescaled


def test_both_rules_are_applied_to_both_kinds_of_pixels():
    reading = predict_rescale.read(of_one_machine([trained("catdog_cnn_dropout", (0.9,), predictions=(HALF, RAW))]))
    (table,) = reading.tables
    assert [(row[3].text, row[4].text, row[5].sort, row[6].sort) for row in table.rows] == [
        ("0 to 1", "output > 0.5", 0.9, 0.5),
        ("0 to 1", "output = 1", 0.51, 0.01),
        ("0 to 255", "output > 0.5", 0.9, 0.99),
        ("0 to 255", "output = 1", 0.51, 0.98),
    ]
    assert "trained on the published data" in reading.answers[0]


def test_what_was_trained_on_the_stand_in_says_so_and_comes_last():
    records = [
        trained("catdog_cnn_dropout", (0.9,), data=data, steps=300, predictions=(HALF, RAW))
        for data in ("embedded", "tfds")
    ]
    reading = predict_rescale.read(of_one_machine(records))
    assert [row[1].text for row in reading.tables[0].rows[::4]] == ["the published data", "the stand-in"]
    assert "trained on the stand-in" in reading.answers[1]


def test_photographs_decide_whether_pixels_tilt_the_answers_and_drawings_do_not():
    (about,) = (each for each in observations() if each.code == "O25")

    def judge(*records):
        return about.judge(Evidence(records=records))

    real, drawn = (
        trained("catdog_cnn_dropout", (0.9,), data=data, steps=steps, predictions=(HALF, RAW))
        for data, steps in (("tfds", None), ("embedded", 300))
    )
    assert judge(real, drawn).verdict == judge(drawn, real).verdict == "reproduced"
    assert judge(drawn).verdict == "not comparable"
    assert "trained on drawings" in judge(drawn).found
    assert judge(trained("catdog_cnn_base", (0.9,))).verdict == "not run"


def test_cats_and_dogs_alone_are_asked_about():
    here = MachineCapabilities(backends=("cpu",), cores=4)
    (case,) = predict_rescale.cases([ABOUT["catdog_cnn_dropout"], ABOUT["mnist_mlp"]], here)
    assert (case.workload, case.steps) == ("catdog_cnn_dropout", 300)
    with pytest.raises(ValueError, match="asks about cats and dogs"):
        predict_rescale.cases([ABOUT["mnist_mlp"]], here)

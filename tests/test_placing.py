"""A machine is set beside the one that it has most in common with, in a sentence."""

from statistics import geometric_mean

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite import cli, units
from suite.console import printing
from suite.report.pages import machine
from suite.report.parts import placing
from suite.report.parts.facts import Facts
from suite.report.parts.matrix import matrices
from suite.results.pooled import kinds
from suite.results.records import store
from suite.results.single.summary import summary

HERE = msgspec.structs.replace(factory.HOST, name="mine, 4 cores")


def mine(**changes):
    return factory.campaign(("mnist_mlp",), HERE, cpu=0.04, gpu=0.0006, campaign="20260103-000000-mine",
                            created="2026-01-03T00:00:00Z", **changes)  # fmt: skip


def place(records, machine=HERE):
    return placing.place(placing.headlines(factory.current(records)), machine.slug)


def said(records, machine=HERE):
    return place(records, machine).sentences


def test_each_backend_has_a_sentence_the_gpu_s_first():
    gpu, cpu = said([*factory.campaign(), *mine()])
    assert gpu.startswith("A step takes 3")
    assert f"on this GPU as on that of {factory.HOST.name}" in gpu
    assert "takes 4" in cpu
    assert "on this CPU" in cpu


def test_the_machine_with_most_in_common_is_taken_and_smoke_is_none():
    third = msgspec.structs.replace(factory.HOST, name="third, 8 cores")
    other = factory.campaign(("mnist_mlp", "cifar10_mlp"), third, campaign="20260104-000000-x")
    here = factory.campaign(("mnist_mlp", "cifar10_mlp"), HERE, campaign="20260103-000000-mine")
    (gpu, _) = said([*factory.campaign(("mnist_mlp",)), *other, *here])
    assert "geometric mean of 2 models" in gpu
    assert third.name in gpu
    assert said([*factory.campaign(), *mine(profile="smoke")]) == ()
    assert said(factory.campaign(), factory.HOST) == ()


def test_a_faster_machine_timed_by_another_method_hides_none_of_the_same_method():
    third = msgspec.structs.replace(factory.HOST, name="third, 16 cores")
    other = factory.campaign(machine=third, cpu=0.001, campaign="20260104-000000-x", created="2026-01-04T00:00:00Z")
    faster = [msgspec.structs.replace(record, method=0) for record in other]
    (_, cpu) = said([*factory.campaign(), *faster, *mine()])
    assert f"on that of {factory.HOST.name}" in cpu


def test_methods_in_use_and_earlier_ones_are_counted_by_scope():
    step, run = factory.record(campaign="a"), factory.record(scope="run", campaign="b")
    older = msgspec.structs.replace(run, method=run.method - 1)
    assert machine._methods([step, run]) == "the one in use in 2 campaigns"
    assert machine._methods([step, older]) == "the one in use in 1 campaign, an earlier one in 1 campaign"


def test_the_home_page_and_the_machine_s_say_where_a_local_machine_stands():
    records = [*factory.campaign(), *mine()]
    files = factory.pages(records, frozenset({"20260103-000000-mine"}))
    assert f'<a href="machines/{HERE.slug}.html">' in files["index.md"]
    assert "as long on this GPU as on that of" in files[f"machines/{HERE.slug}.md"]
    assert "Your machine" in files["index.md"]
    assert "Your machine" not in factory.pages(factory.campaign())["index.md"]


def test_a_record_s_file_is_checked_before_it_is_sent(tmp_path):
    path = store.add(factory.record(), tmp_path)
    good = CliRunner().invoke(cli.main, ["validate", str(path)])
    assert good.exit_code == 0
    assert "mnist_mlp.cpu.step, open" in good.output
    path.chmod(0o644)
    path.write_text(path.read_text().replace('"rounds": 3', '"rounds": 4'))
    bad = CliRunner().invoke(cli.main, ["validate", str(tmp_path)])
    assert bad.exit_code == 1
    assert "is not a readable record" in bad.output
    empty = tmp_path / "empty"
    empty.mkdir()
    none = CliRunner().invoke(cli.main, ["validate", str(empty)])
    assert none.exit_code == 1
    assert "no record" in none.output
    assert CliRunner().invoke(cli.main, ["validate", "nowhere"]).exit_code == 2


def test_what_the_site_leaves_out_because_of_its_place_fails_the_check(tmp_path):
    record = factory.record()
    cases = {
        "in a folder of another name": (tmp_path / "a" / "mine", tmp_path / "a", "put it there"),
        "in no folder of a campaign": (tmp_path / "b", tmp_path / "b", "put it there"),
        "a level too deep": (
            tmp_path / "c" / "sent" / record.campaign,
            tmp_path / "c",
            f"or name '{tmp_path / 'c' / 'sent'}' if that is where campaigns lie",
        ),
        "twice in its campaign": (
            tmp_path / "d" / record.campaign / record.campaign,
            tmp_path / "d" / record.campaign,
            f"it belongs in '{tmp_path / 'd' / record.campaign}'",
        ),
    }
    for place, (folder, named, words) in cases.items():
        path = store.put(record, folder)
        answer = CliRunner().invoke(cli.main, ["validate", str(named)])
        assert answer.exit_code == 1, place
        assert words in answer.output, place
        assert answer.stdout == "0 records, none invalid; 1 file that the site skips\n"
        assert CliRunner().invoke(cli.main, ["validate", str(path)]).exit_code == 0, place


@pytest.mark.parametrize("begun", ["", store.PARTIAL])
def test_a_campaign_is_right_where_it_is_and_in_the_folder_above(tmp_path, monkeypatch, begun):
    record = factory.record()
    path = store.put(record, tmp_path / f"{begun}{record.campaign}")
    monkeypatch.chdir(path.parent)
    for named in (str(path.parent), str(tmp_path), ".", ".."):
        answer = CliRunner().invoke(cli.main, ["validate", named])
        assert (answer.exit_code, answer.output.splitlines()[1:]) == (0, ["1 record, none invalid"]), named


def test_the_last_line_of_a_check_counts_what_is_invalid_which_is_no_error(tmp_path):
    store.add(factory.record(), tmp_path)
    impossible = factory.record("mnist_mlp", "gpu", step_seconds=[1e-12] * 3)
    assert summary(impossible).state == "invalid"
    store.add(impossible, tmp_path)
    answer = CliRunner().invoke(cli.main, ["validate", str(tmp_path)])
    assert answer.exit_code == 0
    assert answer.output.splitlines()[-1] == "2 records, 1 invalid"


def test_a_run_prints_what_it_measured_and_a_report_what_counts(tmp_path, capsys):
    measured = {"campaign": "a", "created": "2026-01-01T00:00:00Z", "cpu": 0.01}
    tried = {"campaign": "b", "created": "2026-01-02T00:00:00Z", "cpu": 0.02, "profile": "smoke"}
    for record in (*factory.campaign(("mnist_mlp",), **measured), *factory.campaign(("mnist_mlp",), **tried)):
        store.add(record, tmp_path)
    seen = []
    for campaigns in ((), ("b",)):
        printing.print_results((tmp_path,), factory.HOST, campaigns=campaigns)
        printed = capsys.readouterr().out
        seen.append((" 50.0x" in printed, " 100x" in printed))
    assert seen == [(True, False), (False, True)]


def test_an_experiment_ends_with_its_own_failures_alone(tmp_path, capsys):
    first = factory.campaign(("mnist_mlp",), campaign="a")[0]
    for asked in ("dispatch", "serving"):
        failed = msgspec.structs.replace(first, campaign=asked, experiment=asked, reason=f"no {asked}", runs=())
        store.add(failed, tmp_path)
    printing.print_answers("dispatch", (tmp_path,), first.machine)
    said = capsys.readouterr().err
    assert "no dispatch" in said
    assert said.endswith("note: --resume does not retry failed cases; start a new run of them\n")
    assert "no serving" not in said


@pytest.mark.parametrize(
    ("profile", "why"),
    [("smoke", "profile smoke only shows that everything runs"), ("quick", "some of the cases that it compares are")],
)
def test_an_experiment_without_an_answer_says_why(tmp_path, capsys, profile, why):
    record = msgspec.structs.replace(factory.record(profile=profile), experiment="as_written")
    store.add(record, tmp_path)
    printing.print_answers("as_written", (tmp_path,), record.machine)
    assert f"experiment 'as_written' has no answer yet: {why}" in capsys.readouterr().err


def test_an_experiment_says_which_of_its_records_cannot_be_read(tmp_path, capsys):
    path = store.add(factory.record(), tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"rounds": 3', b'"rounds": 4'))
    printing.print_answers("dispatch", (tmp_path,), factory.HOST)
    assert "it was changed after it was written" in capsys.readouterr().err


def _steps(machine, seconds, day, names=("mnist_mlp", "cifar10_mlp", "mnist_cnn")):
    records = factory.campaign(names, machine, cpu=seconds, campaign=f"2026010{day}-000000-x")
    return [record for record in records if record.backend == "cpu"]


def test_many_cores_that_gain_little_over_fewer_newer_ones_get_a_caution():
    many = msgspec.structs.replace(factory.HOST, name="many, 16 cores", cores=16, gpus=())
    few = msgspec.structs.replace(factory.HOST, name="few, 2 cores", cores=2, gpus=())
    slow = place([*_steps(many, 0.010, 1), *_steps(few, 0.012, 2)], many)
    assert slow.caution == (
        "These 16 cores are 1.20x as fast as 2 cores of the Test CPU: the geometric mean of 3 models. "
        "Against 16 of those cores the GPU would gain less. Not to be quoted: 1 host of 3."
    )
    assert slow.sentences == (), "the same two CPUs are compared once"
    slower = place([*_steps(many, 0.024, 1), *_steps(few, 0.012, 2)], many).caution
    assert slower.startswith("A step takes 2.00x as long on these 16 cores as on 2 cores of the Test CPU: ")
    assert slower.endswith("Against those the GPU gains less. Not to be quoted: 1 host of 3.")
    fast = place([*_steps(many, 0.010, 1), *_steps(few, 0.050, 2)], many)
    assert fast.caution == "", "five times as fast as an eighth"
    assert len(fast.sentences) == 1
    newer = place([*_steps(many, 0.010, 1), *_steps(few, 0.012, 2)], few)
    assert newer.caution == ""
    assert len(newer.sentences) == 1


def test_the_caution_stands_below_the_first_sentence_of_home():
    many = msgspec.structs.replace(factory.HOST, name="many, 16 cores", cores=16)
    few = msgspec.structs.replace(factory.HOST, name="few, 2 cores", cores=2, gpus=())
    names = ("mnist_mlp", "cifar10_mlp", "mnist_cnn")
    records = [*factory.campaign(names, many, cpu=0.01, campaign="20260103-000000-x"), *_steps(few, 0.012, 2)]
    files = factory.pages(records)
    first, rest = files["index.md"].split("</p>", 1)
    assert "as fast on one" in first
    assert rest.lstrip().startswith('<p class="note">These 16 cores are 1.20x as fast as 2 cores of the ')
    assert files["index.md"].count("These 16 cores") == files[f"machines/{many.slug}.md"].count("These 16 cores") == 1


def test_a_ratio_of_machines_is_that_of_the_same_kinds_and_of_the_coverage_page():
    names = ("a", "b", "c", "d", "e")  # as many as a mean over kinds needs
    one, other = (msgspec.structs.replace(factory.HOST, name=f"{name}, 4 cores", gpus=()) for name in ("one", "other"))
    sides = (*_steps(one, 0.010, 1, names), *_steps(one, 0.020, 2, names)), _steps(other, 0.012, 3, names)
    records = [*sides[0], *sides[1]]
    (sentence,) = said(records, one)
    (left, right) = sorted(kinds.kinds(factory.current(records), "cpu"), key=lambda kind: kind.machine.name)
    mean = kinds.Pair(cpu=left, other=right).mean
    assert sentence.startswith(f"A step takes {units.ratio(mean.value)} as long on this CPU as on that of other, 4")
    (times,) = matrices(Facts(records=records))
    shown = {machine: [row[place].sort for row in times.rows] for place, machine in enumerate(times.machines)}
    assert geometric_mean(shown[one.slug]) / geometric_mean(shown[other.slug]) == pytest.approx(mean.value)


def test_machines_are_compared_by_steps_of_one_method():
    one, other = (msgspec.structs.replace(factory.HOST, name=f"{name}, 4 cores", gpus=()) for name in ("one", "other"))
    ours, theirs = _steps(one, 0.010, 1), _steps(other, 0.012, 2)
    earlier = [msgspec.structs.replace(record, method=0) for record in theirs]
    assert "3 models" in said([*ours, *theirs], one)[0]
    assert "of 1 model" in said([*ours, *theirs[:1], *earlier[1:]], one)[0]
    assert said([*ours, *earlier], one) == ()


def test_a_model_whose_pool_two_machines_share_is_not_compared():
    two = [msgspec.structs.replace(factory.KNOWN, name=f"{name}, 4 cores", gpus=()) for name in ("one", "other")]
    records = [record for machine in two for record in _steps(machine, 0.01, 1)]
    shared = [record for number in (1, 2) for record in factory.on_hosts(records, (1.0, float(number)))]
    assert said(shared, two[0]) == ()

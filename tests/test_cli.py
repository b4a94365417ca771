"""Wrong input gets one clear line and a failing exit."""

import errno
import json
import os
import re
import sys
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import click
import factory
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from suite import experiments, models, variants
from suite.cli import gallery, main
from suite.cluster import plan
from suite.console import citing
from suite.driver.journal import FILE_NAME, PLAN_VERSION, Closed, CompletedRun, Header, Journal, Session
from suite.driver.plan import CampaignPlan
from suite.driver.request import Request
from suite.multihost import hosts
from suite.processes import lock
from suite.report.site import pages
from suite.results.evidence.gallery import Sheet
from suite.results.records import store
from suite.results.single.summary import summary
from suite.scopes import Scope
from suite.sessions import bench, publishing, resuming
from suite.worker_api.protocol import Offer

SHEET = Sheet(dataset="mnist", title="", caption="", labels=(), columns=1, file="mnist.png", width=1, height=1,
              seeds=(), digest="")  # fmt: skip

PACK = Path("site/records/20260101-000000-test.zip")  # of what is published here


def said(*arguments):
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.output


def commands(group=main):
    yield group
    for command in getattr(group, "commands", {}).values():
        yield from commands(command)


@pytest.mark.parametrize("command", tuple(commands()), ids=lambda command: command.callback.__name__)
def test_a_command_and_each_of_its_options_say_what_they_are_for(command):
    assert command.help
    assert not [each.name for each in command.params if isinstance(each, click.Option) and not each.help]


def test_the_list_has_the_documented_totals():
    code, output = said("list", "--json")
    assert code == 0
    totals = {w["name"]: w["parameters"] for w in json.loads(output)}
    assert totals["mnist_mlp"] == 669_706
    assert totals["cifar10_mlp"] == 12_230_010
    assert totals["cifar10_resnet63"] == 15_206_538


def test_the_published_catalogue_is_what_the_code_says():
    published = Path(__file__).parent.parent / "site" / "records" / "catalogue.json"
    assert json.loads(published.read_text()) == json.loads(said("list", "--json")[1])


def test_an_unknown_workload_fails_and_names_what_there_is(tmp_path):
    code, output = said("run", "nosuch", "--out", str(tmp_path))
    assert code != 0
    assert re.search(r"no workload 'nosuch'.*there are: .*mnist_mlp", output)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--backend", "tpu"), "'tpu' is not one of: cpu, gpu"),
        (("--profile", "fast"), "'fast' is not one of 'smoke', 'quick', 'standard'"),
        (("--precision", "fp8"), "'fp8' is not one of: float32-highest, framework-default, tf32, bfloat16"),
        (("--batch", "0"), "0 is not in the range x>=1"),
        (
            ("--variant", "fast"),
            "'fast' is not one of: plain, nnx-jit, scan, stacked, resident, compile, graph, compile-graph",
        ),
        (("--implementation", "flax"), "'flax' is not one of: jax, torch, keras"),
        (("--devices", "0"), "0 is not in the range x>=1"),
        (("--scope", "fit"), "'fit' is not one of: cold, step, transfer, epoch, input, run, calls"),
        (("--data", "real"), "'real' is not one of 'embedded', 'tfds'"),
        (("--workers", "0"), "'0' is not a list of numbers from 1 to 1024, such as 1,2,4"),
        (("--workers", "many"), "'many' is not a list of numbers"),
        (("--loader", "fork"), "'fork' is not one of: threads, processes"),
        (("--augmentation", "gpu"), "'gpu' is not one of: host, device, none"),
        (("--budget", "0"), "0.0 is not in the range x>0"),
        (
            ("--reference", "--cluster", "local"),
            "--reference asked for with --cluster, but a reference round runs on one host",
        ),
        (("--compile-cache", "x", "--cluster", "local"), "--compile-cache asked for with --cluster"),
        (("--publish", "--profile", "smoke"), "--publish asked for with --profile smoke"),
        (("--within", "0"), "--within '0' is not a percentage between 0 and 100; write, say, --within 10"),
        (("--within", "200"), "--within '200' is not a percentage between 0 and 100; write, say, --within 10"),
        (
            ("--within", "200", "--resume"),
            "--within '200' is not a percentage between 0 and 100; write, say, --within 10",
        ),
        (("--within", "nan"), "--within 'nan' is not a percentage between 0 and 100; write, say, --within 10"),
        (
            ("--most-rounds", "9"),
            "--budget sets the time, --within the half-width to reach, --rounds",
        ),
        (("--cluster", "local", "--within", "5"), "--within asked for with --cluster, whose jobs plan their rounds"),
    ],
)
def test_a_wrong_word_fails_and_names_the_right_ones(arguments, words):
    code, output = said("run", *arguments)
    assert code != 0
    assert words in " ".join(output.split())


def test_the_experiments_are_listed_with_their_questions():
    code, output = said("list", "--experiments")
    assert code == 0
    for name in experiments.names():
        assert re.search(rf"^{name} +{re.escape(experiments.load(name).TITLE)}$", output, re.MULTILINE)
    starts = {len(line) - len(line.split(maxsplit=1)[1]) for line in output.splitlines()}
    assert len(starts) == 1


def test_the_experiments_have_no_json():
    code, output = said("list", "--experiments", "--json")
    assert code == 2
    assert "--json lists workloads; leave out --json or --experiments" in output


def test_no_key_with_a_word_in_it_is_an_error():
    code, output = said("cite", "--list", "nosuch")
    assert code == 1
    assert "no key with 'nosuch' in it has a number that may be quoted" in output


@pytest.mark.parametrize(("option", "value"), [("--format", "badge"), ("--site", "https://example.org")])
def test_the_list_of_keys_refuses_what_is_of_one_number(option, value):
    code, output = said("cite", "--list", "step", option, value)
    assert code == 2
    assert f"{option} applies to one number; leave out {option} or --list" in output


def test_a_catalogue_beside_records_is_none_of_them(tmp_path):
    store.add(factory.record(), tmp_path)
    (tmp_path / "catalogue.json").write_text("[]")
    code, output = said("validate", str(tmp_path))
    assert code == 0
    assert output.splitlines()[1:] == ["1 record, none invalid"]


def test_a_clusters_plan_beside_records_is_none_of_them(tmp_path):
    out = tmp_path / ".hidden" / "records"
    store.add(factory.record(), out)
    plan.new(out, datetime(2026, 1, 1, tzinfo=UTC)).write(
        plan.Plan(
            cluster="local",
            request=Request(),
            parts=(("mnist_mlp",),),
            options={},
            machine_name=None,
            software={},
        )
    )
    code, output = said("validate", str(out))
    assert code == 0
    assert output.splitlines()[1:] == ["1 record, none invalid"]


@pytest.mark.parametrize(("reasons", "wanted"), [(("", "out of memory"), 0), (("out of memory",) * 2, 1)])
def test_a_run_fails_if_nothing_has_a_result(cut, monkeypatch, reasons, wanted):
    out, journal = cut(ran=0)
    header, one = journal.header(), factory.record()
    for number, reason in enumerate(reasons):
        run = factory.run(number, 0.01, reason=reason)
        journal.append(CompletedRun(case=header.cases[0], software=one.software, run=run))
    monkeypatch.setattr(bench, "planned", lambda *_, **__: journal)
    monkeypatch.setattr(bench, "measure", lambda *_, **__: "whole")
    monkeypatch.chdir(out)  # where nothing is published that would be read too
    assert said("run", "--out", str(out))[0] == wanted


@pytest.mark.parametrize("more", [(), ("--cluster", "local")], ids=["here", "jobs"])
def test_an_interrupt_while_a_run_is_planned_is_said_in_a_word(tmp_path, monkeypatch, more):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("suite.driver.probing.offer", interrupted)
    assert said("run", "mnist_mlp", *more, "--out", str(tmp_path)) == (130, "interrupted\n")


def test_an_unknown_experiment_fails_and_names_the_nearest(tmp_path):
    code, output = said("run", "--experiment", "thread", "--out", str(tmp_path))
    assert code == 1
    assert "no experiment 'thread' (did you mean 'threads'?)" in " ".join(output.split())


@pytest.mark.parametrize(
    "words", [["mnist_mlp,cifar10_mlp"], ["mnist_mlp", "cifar10_mlp"], ["mnist_mlp, cifar10_mlp,,mnist_mlp,"]]
)
def test_names_of_workloads_may_be_separated_by_commas(tmp_path, monkeypatch, words):
    asked = []
    monkeypatch.setattr(bench, "planned", lambda request, *_, **__: asked.append(request.workloads) or sys.exit(9))
    assert said("run", *words, "--out", str(tmp_path))[0] == 9
    assert asked == [("mnist_mlp", "cifar10_mlp")]


def test_an_unknown_name_between_commas_is_named(tmp_path):
    code, output = said("run", "mnist_mlp,,nosuch", "--out", str(tmp_path))
    assert code == 1
    assert "no workload 'nosuch'" in " ".join(output.split())


def test_data_sets_are_named_with_commas_too_and_none_is_made_before_all_are_known(tmp_path, monkeypatch):
    monkeypatch.setenv("SUITE_DATA", str(tmp_path))
    code, output = said("data", "path", "mnist,cifar10")
    assert (code, len(output.split())) == (0, 2)
    code, output = said("data", "prepare", "--size", "small", "mnist,nosuch")
    assert code == 1
    assert "nosuch" in output
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_resume_is_said(tmp_path):
    code, output = said("run", "--resume", "--out", str(tmp_path))
    assert code == 1
    assert "holds no campaign" in output


def test_resume_says_what_it_does_not_look_at(tmp_path):
    wanted = ("mnist_mlp", "--rounds", "9", "--scope", "step", "--budget", "5", "--machine", "mine")
    _, output = said("run", "--resume", *wanted, "--out", str(tmp_path))
    ignored = "WORKLOAD, --rounds, --scope, --machine"
    assert f"note: --resume uses the stored plan and ignores {ignored}\n" in output
    _, output = said("run", "--resume", "--budget", "5", "--within", "5", "--out", str(tmp_path))
    assert "ignores" not in output


def test_resume_says_when_every_campaign_has_ended(campaign):
    code, output = said("run", "--resume", "--out", str(campaign("quick", ended=True)))
    assert code == 1
    assert "has ended, '20260101-000000-test' last; start one without --resume" in " ".join(output.split())


def test_resume_says_what_differs_from_the_machine_it_was_begun_on(campaign):
    code, output = said("run", "--resume", "--out", str(campaign("quick", ended=False)))
    assert code == 1
    assert "begun on 'test-gpu, 16 cores' with processor 'Test CPU' then" in " ".join(output.split())
    assert "GPUs 'NVIDIA H100 80GB HBM3, driver 580.1' then" in " ".join(output.split())


def test_resume_refuses_a_campaign_of_an_older_suite_in_one_line_and_what_it_has_can_be_kept(
    cut, checkout, monkeypatch
):
    out, journal = cut(rounds=3)
    header, done = msgspec.structs.replace(journal.header(), version=0, most_rounds=10), journal.done()
    journal.path.unlink()
    journal.append(header, *done)
    at_home(header, monkeypatch)
    code, output = said("run", "--resume", "--out", str(out))
    assert code == 1
    assert output.splitlines() == [
        "Error: campaign '20260101-000000-test' was begun by another version of the suite, which planned rounds "
        "differently; start a new one without --resume, or publish the completed part with suite publish --incomplete "
        "20260101-000000-test"
    ]
    assert said("publish", "20260101-000000-test", "--out", str(out))[0] == 1
    assert said("publish", "--incomplete", "20260101-000000-test", "--out", str(out))[0] == 0
    assert len(list(store.paths([checkout / "site" / "records"]))) == 1


def test_resume_takes_the_newest_campaign_that_has_not_ended(campaign, monkeypatch):
    out = campaign("quick", ended=True)
    journal = Journal(out / "20251231-000000-test" / FILE_NAME)
    header = Journal(out / "20260101-000000-test" / FILE_NAME).header()
    journal.append(msgspec.structs.replace(header, campaign="20251231-000000-test"))
    os.utime(journal.path, (1, 1))
    at_home(journal.header(), monkeypatch)
    assert resuming.resumed(out).path == journal.path


def at_home(header, monkeypatch, backends=("cpu", "gpu"), without=""):
    """Have this machine be the one on which a campaign was begun, with these backends and without an implementation."""

    def offer(name):
        if name == without:
            raise RuntimeError(f"implementation '{name}' asked for, it is not here")
        return Offer(implementation=name, backends=dict.fromkeys(backends, ("a device",)))

    monkeypatch.setattr(resuming.machine, "machine", lambda: header.machine)
    monkeypatch.setattr(resuming.software, "commit", lambda: header.commit)
    monkeypatch.setattr(resuming.probing, "offer", offer)


def begun(out, **case):
    """Return the journal of a campaign in a folder that has one case more, which is of another kind."""
    journal = Journal(out / "20260101-000000-test" / FILE_NAME)
    header = journal.header()
    header = msgspec.structs.replace(header, cases=(*header.cases, msgspec.structs.replace(header.cases[0], **case)))
    journal.path.unlink()
    journal.append(header)
    return journal


def test_resume_refuses_where_an_implementation_that_is_due_cannot_run(campaign, monkeypatch):
    out = campaign("quick", ended=False)
    journal = begun(out, implementation="torch")
    at_home(journal.header(), monkeypatch, without="torch")
    with pytest.raises(RuntimeError, match="'torch' asked for, it is not here"):
        resuming.resumed(out)


def test_resume_refuses_where_a_backend_that_is_due_is_gone(campaign, monkeypatch):
    out = campaign("quick", ended=False)
    journal = begun(out, backend="gpu")
    at_home(journal.header(), monkeypatch, backends=("cpu",))
    with pytest.raises(RuntimeError, match="'jax' no longer sees backend 'gpu'"):
        resuming.resumed(out)


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [
        ("--xla_a", "--xla_b", "setting XLA_FLAGS '--xla_a' then, '--xla_b' now"),
        (None, "--xla_b", "setting XLA_FLAGS 'unset' then, '--xla_b' now"),
        ("--xla_a", None, "setting XLA_FLAGS '--xla_a' then, 'unset' now"),
        ("--xla_a", "--xla_a", ""),
        (None, None, ""),
    ],
)
def test_resume_refuses_other_settings_and_names_them(campaign, monkeypatch, then, now, words):
    def put(flags):
        monkeypatch.delenv("XLA_FLAGS", raising=False)
        if flags is not None:
            monkeypatch.setenv("XLA_FLAGS", flags)

    put(then)
    out = campaign("quick", ended=False)
    journal = Journal(out / "20260101-000000-test" / FILE_NAME)
    header = msgspec.structs.replace(journal.header(), settings=bench.campaign.settings())
    journal.path.unlink()
    journal.append(header)
    at_home(header, monkeypatch)
    put(now)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    if not words:
        assert resuming.resumed(out).path == journal.path
        return
    with pytest.raises(RuntimeError, match="cannot be resumed here") as refused:
        resuming.resumed(out)
    assert words in str(refused.value)


def test_resume_goes_on_with_a_campaign_from_before_its_settings_were_noted(campaign, monkeypatch):
    out = campaign("quick", ended=False)
    journal = Journal(out / "20260101-000000-test" / FILE_NAME)
    assert journal.header().settings is None
    at_home(journal.header(), monkeypatch)
    monkeypatch.setenv("XLA_FLAGS", "--xla_a")
    assert resuming.resumed(out).path == journal.path


def test_resume_of_a_campaign_over_several_hosts_asks_for_the_way_to_them(campaign, monkeypatch):
    out = campaign("quick", ended=False)
    journal = begun(out, devices=2, hosts=2)
    at_home(journal.header(), monkeypatch)
    with pytest.raises(RuntimeError, match="has 2 hosts, not 1; give --resume --hosts 2 --address HOST:PORT"):
        resuming.resumed(out)
    with pytest.raises(RuntimeError, match="has 2 hosts, not 3; give"):
        resuming.resumed(out, count=3)
    assert resuming.resumed(out, count=2).path == journal.path
    words = resuming.resume_words(out, hosts=resuming.hosts_of(journal.header()))
    assert words == f"{resuming.program('run')} --resume --hosts 2 --address HOST:PORT --out {out}"


def test_resume_on_several_hosts_of_a_campaign_of_one_is_refused(campaign, monkeypatch):
    out = campaign("quick", ended=False)
    at_home(begun(out).header(), monkeypatch)
    monkeypatch.setattr(hosts, "check_bindable", lambda _: None)
    monkeypatch.setenv(hosts.ADDRESS, "")  # the command sets it
    code, output = said("run", "--resume", "--out", str(out), "--hosts", "2", "--address", "127.0.0.1:9461")
    assert code == 1
    assert "has 1 host, not 2; leave --hosts and --address out" in output


def another(out, name, seconds, text=None, **changes):
    """Begin a campaign like the one in a folder under another name, written so long after it; with `text`, damaged."""
    first = Journal(out / "20260101-000000-test" / FILE_NAME)
    journal = Journal(out / name / FILE_NAME)
    if text is None:
        journal.append(msgspec.structs.replace(first.header(), campaign=name, **changes))
    else:
        journal.path.parent.mkdir()
        journal.path.write_text(text)
    os.utime(journal.path, (first.path.stat().st_mtime + seconds,) * 2)
    return journal


def test_resume_passes_over_what_cannot_go_on_and_says_why(campaign, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = campaign("quick", ended=False)
    good = Journal(out / "20260101-000000-test" / FILE_NAME)
    at_home(good.header(), monkeypatch)
    another(out, "damaged", 1, "no journal")
    another(out, "older", 2, commit="another")
    another(out, "measured", 3)
    with lock.measuring("measured"):
        assert resuming.resumed(out).path == good.path
    first, second, third, _ = capsys.readouterr().err.splitlines()
    assert first == "note: campaign 'measured' is being measured now by another process; wait for it"
    assert "commit 'another' then" in second
    assert "does not begin with a campaign's plan" in third
    assert resuming.resumed(out).path.parent.name == "measured"


def test_resume_says_which_campaign_goes_on_and_when_it_began(campaign, monkeypatch, capsys):
    out = campaign("quick", ended=False)
    at_home(Journal(out / "20260101-000000-test" / FILE_NAME).header(), monkeypatch)
    resuming.resumed(out)
    assert capsys.readouterr().err == "campaign '20260101-000000-test', begun 2026-01-01 00:00 UTC, resumes\n"


def test_resume_of_what_cannot_go_on_anywhere_fails_with_the_newest_and_says_the_others(campaign, monkeypatch, capsys):
    out = campaign("quick", ended=False)
    at_home(Journal(out / "20260101-000000-test" / FILE_NAME).header(), monkeypatch)
    monkeypatch.setattr(resuming.software, "commit", lambda: "another")
    another(out, "damaged", 1, "no journal")
    with pytest.raises(RuntimeError, match="does not begin with a campaign's plan"):
        resuming.resumed(out)
    assert "commit 'abc' then, 'another' now" in capsys.readouterr().err


def test_resume_goes_on_with_a_campaign_that_is_named(campaign, monkeypatch):
    out = campaign("quick", ended=False)
    older = Journal(out / "20260101-000000-test" / FILE_NAME)
    at_home(older.header(), monkeypatch)
    another(out, "newer", 1)
    assert resuming.resumed(out).path.parent.name == "newer"
    assert resuming.resumed(out, older.path.parent.name).path == older.path
    with pytest.raises(LookupError, match=r"--campaign nosuch asked for, .* there are: newer, 20260101-000000-test"):
        resuming.resumed(out, "nosuch")


def test_a_named_campaign_that_has_ended_is_not_gone_on_with(campaign):
    code, output = said("run", "--resume", "--campaign", "20260101-000000-test", "--out", str(campaign("quick", True)))
    assert code == 1
    assert "campaign '20260101-000000-test' in" in " ".join(output.split())
    assert "has ended; start one without --resume" in " ".join(output.split())


@pytest.mark.parametrize("others", [[], ["--resume", "--cluster", "local"]])
def test_a_campaign_is_named_of_resume_on_this_machine_alone(tmp_path, others):
    code, output = said("run", "--campaign", "any", *others, "--out", str(tmp_path))
    assert code == 1
    assert "--campaign asked for, it needs --resume and excludes --cluster" in " ".join(output.split())


@pytest.mark.parametrize(("profile", "kept"), [("quick", True), ("smoke", False)])
def test_what_cannot_be_completed_says_how_to_keep_it(campaign, monkeypatch, profile, kept):
    out = campaign(profile, ended=False)
    at_home(Journal(out / "20260101-000000-test" / FILE_NAME).header(), monkeypatch)
    monkeypatch.setattr(resuming.software, "commit", lambda: "another")
    with pytest.raises(RuntimeError, match="start a new one without --resume") as refused:
        resuming.resumed(out)
    assert ("suite publish --incomplete 20260101-000000-test" in str(refused.value)) is kept


@pytest.mark.parametrize(
    ("state", "mentioned"), [("left", True), ("damaged", False), ("older", False), ("measured", False)]
)
def test_a_new_run_mentions_a_campaign_that_has_not_ended_if_it_can_go_on(
    campaign, monkeypatch, tmp_path, capsys, state, mentioned
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = campaign("quick", ended=False)
    header = Journal(out / "20260101-000000-test" / FILE_NAME).header()
    at_home(header, monkeypatch)
    monkeypatch.setattr(resuming.machine, "machine", lambda *_: header.machine)
    answer = CampaignPlan(cases=header.cases, descriptions=header.descriptions, remarks=(), seconds=1.0)
    monkeypatch.setattr(bench.plan, "make_plan", lambda *_: answer)
    monkeypatch.setattr(bench.lock, "check_nothing_measures", lambda: None)
    another(out, "next", 1, "no journal" if state == "damaged" else None, **{"commit": "x"} if state == "older" else {})
    with lock.measuring("next") if state == "measured" else nullcontext():
        bench.planned(Request(), out)
    words = f"campaign 'next' has not ended; resume it with {resuming.resume_words(out)}"
    assert (words in capsys.readouterr().err) is mentioned


@pytest.mark.parametrize(
    ("started", "argument", "program"),
    [
        ("", "/somewhere/bin/suite", "suite run"),
        ("", "/somewhere/suite/__main__.py", f"{Path(sys.executable).name} -m suite run"),
        ("nox -s bench --", "/somewhere/bin/suite", "nox -s bench --"),
    ],
)
def test_a_command_to_resume_is_the_one_that_was_given_and_names_no_default_folder(
    monkeypatch, started, argument, program
):
    monkeypatch.setenv(resuming.COMMAND, started)
    monkeypatch.setattr(resuming.sys, "argv", [argument])
    assert resuming.resume_words(Path("records")) == f"{program} --resume"
    assert resuming.resume_words(Path("my records")) == f"{program} --resume --out 'my records'"


def test_a_campaign_whose_folder_was_renamed_does_not_go_on_under_two_names(campaign, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = campaign("quick", ended=False)
    (out / "20260101-000000-test").rename(out / "mine")
    at_home(Journal(out / "mine" / FILE_NAME).header(), monkeypatch)
    with pytest.raises(RuntimeError, match="mine' holds campaign '20260101-000000-test'; give the folder that name"):
        resuming.resumed(out)


def test_a_journal_that_cannot_be_read_is_passed_over(campaign, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = campaign("quick", ended=False)
    at_home(Journal(out / "20260101-000000-test" / FILE_NAME).header(), monkeypatch)
    (out / "lost").mkdir()
    (out / "lost" / FILE_NAME).symlink_to(tmp_path / "nothing")
    (out / "odd" / FILE_NAME).mkdir(parents=True)
    locked = another(out, "locked", 1)
    read = Path.read_bytes

    def refusing(path):
        if path == locked.path:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refusing)
    assert resuming.resumed(out).path.parent.name == "20260101-000000-test"
    assert f"cannot read '{locked.path}': Permission denied" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("run", "--experiment", ""), "--experiment asked for without a name"),
        (("run", "--budget", "nan"), "not a finite number"),
        (("compare", "a", "b", "--band", "nan"), "not a finite number"),
        (("join", "localhost:1", "--patience", "inf"), "not a finite number"),
    ],
)
def test_what_is_no_name_and_no_number_is_refused(asked, words):
    code, output = said(*asked)
    assert code > 0
    assert words in " ".join(output.split())


def test_an_option_that_is_given_again_adds_to_what_it_asks_for(monkeypatch, tmp_path):
    asked = []

    def planned(request, *_, **__):
        asked.append(request)
        raise RuntimeError("enough")

    monkeypatch.setattr(bench, "planned", planned)
    for words in (("--scope", "step,cold", "--workers", "1,2"), ("--scope", "step", "--workers", "1", "--scope",
                  "cold,step", "--workers", "2"), ()):  # fmt: skip
        assert said("run", *words, "--out", str(tmp_path))[1].strip() == "Error: enough"
    assert [(request.scopes, request.workers) for request in asked] == [(("step", "cold"), (1, 2))] * 2 + [((), ())]
    assert asked[0].precisions == ("float32-highest",)


def test_what_is_settled_by_a_stored_plan_is_said_to_be_ignored_and_nothing_else(tmp_path):
    kept = ("--budget", "5", "--within", "5", "--compile-cache", str(tmp_path / "cache"), "--json")
    assert "ignores" not in said("run", "--resume", *kept, "--out", str(tmp_path))[1]
    settled = ("mnist_mlp", "--scope", "step", "--no-energy", "--machine", "box")
    output = " ".join(said("run", "--resume", *kept, *settled, "--out", str(tmp_path))[1].split())
    assert "--resume uses the stored plan and ignores WORKLOAD, --scope, --energy, --machine" in output


def test_every_command_is_told_in_one_line_of_eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "..." not in said("--help")[1].partition("Commands:")[2]


def test_the_options_of_a_run_fit_eighty_columns_and_name_every_scope_and_variant(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = said("run", "--help")[1]
    assert max(map(len, text.splitlines())) <= 80
    words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", re.sub(r"-\n +", "-", text)))
    assert set(get_args(Scope)) <= words
    assert {re.sub(r"-(jax|torch|tensorflow)$", "", name) for name in variants.NAMES} <= words


@pytest.mark.parametrize("name", ["Ann's PC", "../x", "<b>", "", "box\ntwo", "box\ttwo", 82 * "a"])
def test_a_machine_name_that_no_page_may_have_is_refused(name):
    code, output = said("run", "--machine", name, "--out", "/dev/null/x")
    assert code == 1
    assert "--machine asked for with" in output


@pytest.fixture
def campaign(tmp_path):
    """A function that makes a campaign as it lies after a run, and returns the folder it lies in."""

    def made(profile, ended):
        one = factory.record()
        header = Header(
            campaign="20260101-000000-test",
            created=one.created,
            profile=profile,
            rounds=1,
            seed=0,
            machine=one.machine,
            commit=one.commit,
            cases=(one.case,),
            descriptions=(factory.description(),),
            version=PLAN_VERSION,
        )
        Journal(tmp_path / "records" / header.campaign / FILE_NAME).append(header)
        if ended:
            store.add(msgspec.structs.replace(one, campaign=header.campaign), tmp_path / "records")
        return tmp_path / "records"

    return made


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The folder in which the command line stands, with a place for published records."""
    (tmp_path / "site" / "records").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_campaign_is_published_as_it_is_and_once(campaign, checkout):
    out = campaign("quick", ended=True)
    for _ in range(2):
        assert said("publish", "20260101-000000-test", "--out", str(out))[0] == 0
    (mine,), (theirs,) = (list(store.paths([place])) for place in (out, checkout / "site" / "records"))
    assert store.content(theirs) == mine.read_bytes()


def test_another_record_under_a_published_ones_name_is_refused(campaign, checkout):
    out = campaign("quick", ended=True)
    assert said("publish", "20260101-000000-test", "--out", str(out))[0] == 0
    (path,) = out.glob("*/*.json")
    record = store.read(path)
    path.unlink()
    store.add(msgspec.structs.replace(record, commit="another"), out)
    code, output = said("publish", "20260101-000000-test", "--out", str(out))
    assert code == 1
    assert "exists and differs" in " ".join(output.split())


@pytest.mark.parametrize("place", ["records", "site/records"])
def test_a_campaign_is_not_published_among_records_of_a_namesake(campaign, checkout, place):
    out, name = campaign("quick", ended=True), "20260101-000000-test"
    other = factory.record(campaign=name, batch=64)
    store.add(other, checkout / place)
    if place == "site/records":
        store.pack(checkout / place / name)
    code, output = said("publish", name, "--out", str(out))
    assert code == 1
    assert f"{other.name}.json' is of another campaign '{name}', begun in the same second" in " ".join(output.split())
    there = list(store.paths([checkout / "site" / "records"]))
    assert len(there) == (place == "site/records"), "nothing was added"


def test_partial_results_are_no_campaign_of_their_own(campaign, checkout):
    out = campaign("quick", ended=True)
    (out / "20260101-000000-test").rename(out / "partial-20260101-000000-test")
    code, output = said("publish", "partial-20260101-000000-test", "--out", str(out))
    assert code == 1
    assert "has partial results; name the campaign" in " ".join(output.split())


@pytest.mark.parametrize(
    ("name", "profile", "ended", "words"),
    [
        ("nosuch", "quick", True, "no campaign 'nosuch'"),
        ("nosuch", "quick", True, "there are: 20260101-000000-test"),
        ("20260101-000000-test", "quick", False, "has not measured every case once; resume it with"),
        ("20260101-000000-test", "smoke", True, "profile 'smoke', which is not published"),
    ],
)
def test_a_campaign_that_cannot_be_published_is_refused(campaign, name, profile, ended, words):
    code, output = said("publish", name, "--out", str(campaign(profile, ended)))
    assert code == 1
    assert words in " ".join(output.split())


@pytest.mark.parametrize(("profile", "code"), [("smoke", 1), ("quick", 0)])
def test_what_is_published_goes_by_the_campaigns_profile_and_not_by_the_command_line(
    campaign, checkout, monkeypatch, profile, code
):
    out, other = campaign(profile, ended=True), {"smoke": "quick", "quick": "smoke"}[profile]
    monkeypatch.setattr(resuming, "resumed", lambda out, *_: Journal(out / "20260101-000000-test" / FILE_NAME))
    monkeypatch.setattr(bench, "measure", lambda *_, **__: "whole")
    monkeypatch.setattr(
        Journal, "done", lambda _: [CompletedRun(case=one.case, software=one.software, run=one.runs[0])]
    )
    one = factory.record()
    found, output = said("run", "--resume", "--publish", "--profile", other, "--out", str(out))
    assert found == code, output
    assert ("has profile 'smoke', which is not published" in " ".join(output.split())) == bool(code)
    assert len(list(store.paths([checkout / "site" / "records"]))) == 1 - code


@pytest.fixture
def cut(campaign, tmp_path, monkeypatch):
    """A function that makes a campaign of several rounds that was cut after some; it returns folder and journal."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where the machine's lock lies

    def made(rounds=2, ran=1):
        out = campaign("quick", ended=False)
        journal = Journal(out / "20260101-000000-test" / FILE_NAME)
        header = msgspec.structs.replace(journal.header(), rounds=rounds)
        journal.path.unlink()
        journal.append(header, Session(place="here"))
        one = factory.record()
        for number in range(ran):
            journal.append(CompletedRun(case=header.cases[0], software=one.software, run=factory.run(number, 0.01)))
        return out, journal

    return made


def test_what_a_lost_machine_completed_is_published_as_incomplete_and_has_ended(cut, checkout):
    out, journal = cut()
    compiled = journal.path.parent / "compile-cache" / "warm"
    compiled.mkdir(parents=True)
    for _ in range(2):
        assert said("publish", "20260101-000000-test", "--incomplete", "--out", str(out))[0] == 0
    assert not compiled.parent.exists()
    (found,), problems = store.load([checkout / "site" / "records"])
    assert not problems
    assert (summary(found).lacking, len(found.runs), found.rounds) == (True, 1, 2)
    assert sum(isinstance(entry, Closed) for entry in journal.entries()) == 1
    code, output = said("run", "--resume", "--out", str(out))
    assert code == 1
    assert "has ended" in output


def test_no_campaign_is_closed_while_something_is_measured(cut):
    out, journal = cut()
    with lock.measuring("another"):
        code, output = said("publish", "20260101-000000-test", "--incomplete", "--out", str(out))
    assert code == 1
    assert "another run is measuring" in " ".join(output.split())
    assert not journal.closed()


@pytest.mark.usefixtures("cut")
def test_beside_another_run_no_campaign_is_begun(tmp_path):
    with lock.measuring("another"):
        code, output = said("run", "mnist_mlp", "--profile", "smoke", "--out", str(tmp_path / "new"))
        assert code == 1
        assert "another run is measuring on this machine" in " ".join(output.split())
        assert not (tmp_path / "new").exists()


def test_a_close_that_was_killed_before_it_wrote_is_made_good(cut, checkout):
    out, journal = cut()
    journal.append(Closed())
    assert said("publish", "20260101-000000-test", "--out", str(out))[0] == 0
    assert store.load([checkout / "site" / "records"])[0]


def test_of_a_campaign_without_a_process_nothing_is_published(cut):
    out, journal = cut(ran=0)
    code, output = said("publish", "20260101-000000-test", "--incomplete", "--out", str(out))
    assert code == 1
    assert "has completed no process" in " ".join(output.split())
    assert not journal.closed()


def test_a_record_that_was_changed_is_not_published(campaign, checkout):
    out = campaign("quick", ended=True)
    (path,) = out.glob("*/*.json")
    path.write_bytes(path.read_bytes().replace(b'"rounds": 3', b'"rounds": 4'))
    code, output = said("publish", "20260101-000000-test", "--out", str(out))
    assert code == 1
    assert "it was changed after it was written" in " ".join(output.split())
    assert not list((checkout / "site" / "records").iterdir())


@pytest.fixture
def sent(checkout):
    """A function that makes a folder of records as somebody sends it: without a journal."""
    assert Path.cwd() == checkout

    def made(**changes):
        one = msgspec.structs.replace(factory.record(campaign="20260101-000000-test"), **changes)
        return store.add(one, Path("merge"))

    return made


@pytest.mark.parametrize(
    "words",
    [
        ("20260101-000000-test", "--out", "merge"),
        ("merge/20260101-000000-test/",),
        ("merge/../merge/20260101-000000-test",),
    ],
)
def test_records_that_were_sent_are_published_without_a_journal(sent, words):
    path = sent()
    code, output = said("publish", *words)
    assert code == 0, output
    assert store.content(PACK / path.name) == path.read_bytes()


def test_a_campaign_is_published_by_its_path(campaign, checkout):
    out = campaign("quick", ended=True)
    code, output = said("publish", f"{out.name}/20260101-000000-test/")
    assert code == 0, output
    assert len(store.of(checkout / PACK)) == 1


def test_a_campaign_that_is_cut_is_ended_by_its_path(cut, checkout):
    out, journal = cut()
    code, output = said("publish", "--incomplete", f"{out.name}/20260101-000000-test")
    assert code == 0, output
    assert journal.closed()
    assert len(store.of(checkout / PACK)) == 1


def test_records_that_lack_rounds_are_published_only_as_incomplete(sent):
    sent(rounds=4)
    code, output = said("publish", "merge/20260101-000000-test")
    assert code == 1
    assert "has 3 of 4 rounds, and without a journal it may still be running" in " ".join(output.split())
    assert said("publish", "--incomplete", "merge/20260101-000000-test")[0] == 0


def test_records_that_failed_are_published_as_they_are(sent):
    sent(rounds=4, reason="out of memory")
    assert said("publish", "merge/20260101-000000-test")[0] == 0


def test_records_that_only_show_that_it_runs_are_not_published(sent):
    sent(profile="smoke")
    code, output = said("publish", "merge/20260101-000000-test")
    assert code == 1
    assert "profile 'smoke', which is not published" in " ".join(output.split())


def test_records_in_another_folder_than_their_campaigns_say_where_they_belong(sent):
    sent().parent.rename("merge/another")
    code, output = said("publish", "another", "--out", "merge")
    assert code == 1
    assert "is the record '20260101-000000-test/mnist_mlp.cpu.step.json'; put it there" in " ".join(output.split())


@pytest.mark.usefixtures("checkout")
def test_a_journal_in_another_folder_than_its_campaigns_says_which_it_is(campaign):
    out = campaign("quick", ended=True)
    (out / "20260101-000000-test").rename(out / "another")
    code, output = said("publish", "another", "--out", str(out))
    assert code == 1
    assert "holds campaign '20260101-000000-test'; give the folder that name" in " ".join(output.split())


def test_a_record_that_was_sent_and_changed_is_not_published(sent):
    path = sent()
    path.write_bytes(path.read_bytes().replace(b'"rounds": 3', b'"rounds": 4'))
    code, output = said("publish", "merge/20260101-000000-test")
    assert code == 1
    assert "it was changed after it was written" in " ".join(output.split())
    assert not list(Path("site/records").iterdir())


def test_a_folder_without_records_is_no_campaign(sent):
    sent()
    code, output = said("publish", "merge")
    assert code == 1
    assert "'merge' holds no campaign; a campaign's folder has a journal, or a JSON file for each case" in " ".join(
        output.split()
    )
    assert "there are: 20260101-000000-test" in said("publish", "nosuch", "--out", "merge")[1]


def test_the_list_of_workloads_fits_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, output = said("list")
    assert len(output.splitlines()) <= len(models.names()) + 5


@pytest.mark.parametrize(
    "arguments",
    [
        ("cite", "--list"),
        ("cite", "a/b/gpu/step/speedup"),
        ("check-citations", "page.md"),
        ("publish", "20260101-000000-test", "--incomplete"),
        ("run", "mnist_mlp", "--publish"),
        ("data", "gallery"),
    ],
)
def test_outside_a_checkout_what_needs_the_published_records_is_refused(tmp_path, monkeypatch, cut, arguments):
    _, journal = cut()
    (tmp_path / "page.md").write_text("Text.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "planned", lambda *_, **__: pytest.fail("it went on to measure"))
    monkeypatch.setattr("suite.cli.gallery.draw", lambda _: pytest.fail("it went on to draw"))
    code, output = said(*arguments)
    assert code == 1
    assert f"no site/records in '{tmp_path}'; run this in the suite's checkout" in " ".join(output.split())
    assert not (tmp_path / "site").exists()
    assert not journal.closed()


@pytest.mark.usefixtures("checkout")
def test_a_checkout_without_a_number_to_be_quoted_is_said_to_have_none():
    code, output = said("cite", "--list")
    assert code == 1
    assert "no published record has a number that may be quoted; suite publish adds a campaign's" in output


@pytest.mark.parametrize("command", [("report", "--no-build"), ("run", "--report"), ("run",)], ids=" ".join)
def test_a_record_that_cannot_be_read_is_noted_once(cut, tmp_path, monkeypatch, command):
    out, journal = cut(rounds=1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkdocs.yml").touch()
    path = store.add(msgspec.structs.replace(factory.record(), campaign="20260101-000000-bad"), out)
    path.write_bytes(path.read_bytes().replace(b'"rounds": 3', b'"rounds": 4'))
    outcome = SimpleNamespace(problems=store.load([out])[1], missed=())
    monkeypatch.setattr("suite.report.site.pages.render", lambda *_: outcome)
    monkeypatch.setattr("suite.report.site.build.build", lambda _: None)
    monkeypatch.setattr(bench, "planned", lambda *_, **__: journal)
    monkeypatch.setattr(bench, "measure", lambda *_, **__: "whole")
    code, output = said(*command, "--out", str(out))
    assert code == 0, output
    assert output.count("it was changed after it was written") == 1


def test_a_report_outside_a_checkout_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = said("report")
    assert code == 1
    assert "no mkdocs.yml" in output


@pytest.mark.parametrize("command", [("report", "--no-build"), ("compare", "a", "b")])
def test_a_folder_of_records_that_is_named_has_to_be_there(monkeypatch, command):
    monkeypatch.setattr("suite.sessions.publishing.report", lambda *_: pytest.fail("it went on to render"))
    monkeypatch.setattr("suite.console.printing.compare", lambda *_: pytest.fail("it went on to compare"))
    code, output = said(*command, "--out", "recrods")
    assert code == 1
    assert "--out asked for with 'recrods', which is not a folder" in output


def test_the_folder_of_records_that_is_not_named_need_not_be_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("suite.console.printing.compare", lambda *_: None)
    assert said("compare", "a", "b") == (0, "")


def refuse_writing(monkeypatch):
    """Have every folder refuse a new file and every file new text."""

    def refused(*arguments, **options):
        place = options.get("dir") or arguments[0]
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr("tempfile.mkstemp", refused)
    monkeypatch.setattr(Path, "write_text", refused)
    monkeypatch.setattr(Path, "write_bytes", refused)


def test_a_run_that_is_to_report_outside_a_checkout_is_refused_before_it_measures(campaign, tmp_path, monkeypatch):
    out = campaign("quick", ended=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "planned", lambda *_, **__: pytest.fail("a campaign was begun"))
    code, output = said("run", "--report", "--out", str(out))
    assert code == 1
    assert "no mkdocs.yml" in output


@pytest.mark.parametrize("then", ["--report", "--publish"])
def test_a_run_has_said_its_results_before_what_comes_after_them_fails(campaign, checkout, monkeypatch, then):
    out = campaign("quick", ended=True)
    (checkout / "mkdocs.yml").touch()
    monkeypatch.setattr(bench, "planned", lambda *_, **__: Journal(out / "20260101-000000-test" / FILE_NAME))
    monkeypatch.setattr(bench, "measure", lambda *_, **__: "whole")
    refuse_writing(monkeypatch)
    code, output = said("run", then, "--out", str(out))
    assert code == 1
    assert output.index("One step in steady state") < output.index("Error: cannot write")


@pytest.mark.usefixtures("checkout")
def test_a_place_that_cannot_be_written_is_said_in_one_line_with_what_to_do(campaign, monkeypatch):
    out = campaign("quick", ended=True)
    refuse_writing(monkeypatch)
    code, output = said("publish", "20260101-000000-test", "--out", str(out))
    words = " ".join(output.split())
    assert code == 1
    assert words.startswith(f"Error: cannot write '{PACK}'")
    assert "make the folder writable" in words
    assert "--out" not in words


@pytest.mark.parametrize(
    "write",
    [
        lambda place: pages.write({"page.md": "text"}, place),
        lambda place: publishing.picture(place / "records"),
        lambda place: citing.renew(place / "page.md", ()),
        gallery.draw,
    ],
    ids=["page", "picture", "quotation", "gallery"],
)
def test_what_is_written_for_the_site_says_which_file_was_refused(tmp_path, monkeypatch, write):
    (tmp_path / "page.md").write_text("before", encoding="utf-8")
    monkeypatch.setattr("suite.report.pages.home.picture", lambda _: "<svg/>")
    monkeypatch.setattr("suite.results.cite.quotation.renewed", lambda *_: "after")
    monkeypatch.setattr(gallery, "sheets", lambda: [("mnist", (SHEET, np.zeros((1, 1, 4), np.uint8)))])
    monkeypatch.setattr(gallery, "collected", lambda _: SHEET)
    refuse_writing(monkeypatch)
    with pytest.raises(RuntimeError, match=re.escape(f"cannot write '{tmp_path}")):
        write(tmp_path)


@pytest.mark.parametrize("ran", [0, 1])
def test_a_run_that_is_interrupted_keeps_what_it_completed_and_says_how_to_resume(cut, monkeypatch, capsys, ran):
    out, journal = cut(rounds=2, ran=ran)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("suite.driver.runner.run", interrupted)
    monkeypatch.setattr(bench, "settle", lambda _: None)
    monkeypatch.setattr(bench, "prepare_data", lambda _: None)
    assert bench.measure(journal, out) == "interrupted"
    assert len(list(out.glob("partial-*/*.json"))) == ran
    resuming.say_how(journal, out, "interrupted")
    assert capsys.readouterr().err.endswith(f"interrupted; resume with: {resuming.resume_words(out)}\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/there"), "cannot use '/there': Permission denied"),
        (OSError(errno.ENOSPC, "No space left on device"), "cannot use the output folder: No space left"),
    ],
)
def test_a_place_that_cannot_be_used_is_said_in_a_line(monkeypatch, error, said):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(main.commands["doctor"], "callback", refuse)
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert f"Error: {said}" in result.output


def test_another_error_of_the_system_keeps_its_traceback(monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(main.commands["doctor"], "callback", refuse)
    assert isinstance(CliRunner().invoke(main, ["doctor"]).exception, OSError)

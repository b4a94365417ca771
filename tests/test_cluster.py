"""A campaign over many machines: a lost job costs its own cases only, and goes on with what it completed."""

import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from itertools import chain
from pathlib import Path

import factory
import msgspec
import psutil
import pytest
from click.testing import CliRunner

from suite import child_imports
from suite.cli import main
from suite.cluster import plan, planning, supervisor
from suite.cluster.supervisor import Outcome
from suite.driver import journal as journals
from suite.driver import plan as answering
from suite.driver import probing
from suite.driver.journal import Header, Journal
from suite.driver.request import Request
from suite.results.records import catalogue, store
from suite.sessions import resuming
from suite.system import software
from suite.worker_api.protocol import Offer

ROOT = Path(__file__).parent.parent
WORKLOADS = ("mnist_mlp", "dp_linear_mirrored", "cifar10_mlp", "mnist_cnn")


def made(tmp_path, workloads=WORKLOADS, jobs=None, cluster="local", **changes):
    place = plan.Place(tmp_path / plan.FOLDER / "20261122-080000")
    given = {"software": software.here(), "machine_name": None, "options": {}} | changes
    place.write(
        plan.Plan(cluster=cluster, request=Request(every_workload=True), parts=plan.partition(workloads, jobs), **given)
    )
    return place


class Job:
    """A job that is done at once."""

    def __init__(self, number, left):
        self.job_id, self._left = str(number), left

    def done(self):
        return True

    def result(self):
        if isinstance(self._left, Exception):
            raise self._left
        return self._left


class Jobs:
    """Submits jobs that leave what the script says of their part, one after another."""

    def __init__(self, script):
        self.script, self.submitted = script, []

    def submit(self, job):
        self.submitted.append(job.number)
        return Job(len(self.submitted), self.script[job.number][self.submitted.count(job.number) - 1])


@pytest.fixture
def errors(monkeypatch):
    from submitit.core import utils

    monkeypatch.setattr(supervisor, "_POLL_SECONDS", {"slurm": 0, "local": 0})
    return utils


def test_workloads_are_dealt_so_that_no_job_is_empty():
    assert plan.partition(WORKLOADS, None) == tuple((name,) for name in WORKLOADS)
    assert plan.partition(WORKLOADS, 3) == (("mnist_mlp", "mnist_cnn"), ("dp_linear_mirrored",), ("cifar10_mlp",))
    assert plan.partition(WORKLOADS, 9) == plan.partition(WORKLOADS, 4)


def test_a_job_is_asked_for_its_own_workloads(tmp_path):
    asked = made(tmp_path, jobs=2).read().of(1)
    assert asked == Request(every_workload=True, assigned_workloads=("dp_linear_mirrored", "mnist_cnn"))


KNOWN = catalogue.read(ROOT / "site" / "records")
CEILING = factory.description("ceiling_matmul", batch=8192, family="ceiling")


def offered(name):
    """Return what an implementation offers on the machine where jobs are planned, which has no GPU."""
    about = {"workloads": KNOWN, "of_experiments": (CEILING,)} if name == "jax" else {}
    names = tuple(each.name for each in KNOWN if each.family != "trees")
    return Offer(implementation=name, backends={"cpu": ("cpu",)}, names=names, **about)


@pytest.mark.parametrize(
    "asked",
    [
        Request(scopes=("step", "serve"), every_workload=True),
        Request(scopes=("serve",), every_workload=True),
        Request(scopes=("run",), every_workload=True),
        Request(scopes=("epoch",), every_workload=True),
        Request(variants=("plain", "scan"), every_workload=True),
        Request(implementations=("torch",), every_workload=True),
        Request(experiment="serving", workloads=("mnist_mlp", "serve_resnet50")),
    ],
    ids=["step and serve", "serve", "run", "epoch", "scan", "torch", "serving"],
)
def test_jobs_together_measure_just_what_was_asked_for_and_none_of_them_nothing(tmp_path, monkeypatch, asked):
    monkeypatch.setattr(probing, "offer", offered)
    made = planning.planned(asked, tmp_path, "local", None, {}, None).read()
    offers = {name: offered(name) for name in ("jax", *asked.implementations)}
    jobs = [answering.make_plan(made.of(part), factory.PLAIN, offers).cases for part in range(len(made.parts))]
    assert all(jobs)
    assert Counter(chain(*jobs)) == Counter(answering.make_plan(asked, factory.PLAIN, offers).cases)


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Commands that answer as Slurm's do."""
    for name in ("srun", "sbatch"):
        (tmp_path / name).write_text("#!/bin/sh\necho Submitted batch job 12\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("slurm")
def test_what_only_nodes_have_is_planned_without_it(tmp_path, monkeypatch):
    monkeypatch.setattr(probing, "offer", offered)
    asked = Request(backends=("gpu",), precisions=("tf32",), devices=8, workloads=("mnist_mlp",))
    assert planning.planned(asked, tmp_path, "slurm", None, {}, None).read().parts == (("mnist_mlp",),)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (Request(workloads=("ceiling_matmul",)), LookupError, "no workload 'ceiling_matmul'"),
        (Request(workloads=("mnist_mlp",), scopes=("run", "serve")), ValueError, "these are trained: mnist_mlp"),
        (Request(budget_minutes=5), ValueError, "--budget asked for with --cluster"),
        (Request(workloads=("mnist_mlp",), backends=("cpu",), devices=999), RuntimeError, "999 devices asked for"),
    ],
)
def test_what_no_job_could_measure_is_refused_before_there_is_a_plan(tmp_path, monkeypatch, asked, error, words):
    monkeypatch.setattr(probing, "offer", offered)
    with pytest.raises(error, match=words):
        planning.planned(asked, tmp_path, "local", None, {}, None)
    assert not (tmp_path / plan.FOLDER).exists()


def test_a_lost_job_is_sent_again_and_the_others_are_left_alone(tmp_path, errors):
    good = [Outcome(campaign=name, node="n") for name in WORKLOADS]
    jobs = Jobs([[good[0]], [errors.UncompletedJobError("gone"), good[1]], [good[2]], [good[3]]])
    place = made(tmp_path, cluster="slurm")
    assert supervisor.watched(place, tmp_path, lambda *_: jobs) == dict(enumerate(good))
    assert Counter(jobs.submitted) == {0: 1, 1: 2, 2: 1, 3: 1}
    assert place.read().ended


def test_a_job_that_ends_with_an_error_is_not_sent_again(tmp_path, errors):
    good = [Outcome(campaign=name, node="n") for name in WORKLOADS]
    trace = "Job failed with trace:\nTraceback\n  File\nRuntimeError: node 'b' has other software\n----\nYou can check"
    jobs = Jobs([[good[0]], [good[1]], [errors.FailedJobError(trace)], [errors.UncompletedJobError("gone")] * 3])
    place = made(tmp_path)
    found = supervisor.watched(place, tmp_path, lambda *_: jobs)
    assert found[2] == "RuntimeError: node 'b' has other software"
    assert found[3] == "was lost 3 times in a row"
    assert Counter(jobs.submitted) == {0: 1, 1: 1, 2: 1, 3: 3}
    assert not place.read().ended
    place.node(2).write_text("b")
    rows = supervisor.table(place, found)[2]
    assert [row[2] for row in rows] == ["1", "1", "1", "3"]
    assert [row[3:] for row in rows[1:]] == [("n", "dp_linear_mirrored"), ("b", "failed"), ("–", "failed")]


def test_a_reason_that_several_jobs_have_is_said_once(tmp_path, errors, capsys):
    failed = errors.FailedJobError("RuntimeError: no disk")
    jobs = Jobs([[failed], [failed], [errors.FailedJobError("ValueError: no")], [failed]])
    supervisor.watched(made(tmp_path), tmp_path, lambda *_: jobs)
    said = [line for line in capsys.readouterr().err.splitlines() if " is local job " not in line]
    assert said == [
        "job 1: RuntimeError: no disk", "job 2: failed as job 1 did", "job 3: ValueError: no",
        "job 4: failed as job 1 did",
    ]  # fmt: skip


def test_who_comes_back_sends_again_what_has_nothing(tmp_path, errors):
    """A job that is done is taken as it is, one that failed is sent anew."""
    place = made(tmp_path, jobs=2)
    place.write(
        msgspec.structs.replace(
            place.read(), sent=(plan.SubmittedJob(part=0, job="7"), plan.SubmittedJob(part=1, job="8"))
        )
    )
    good = [Outcome(campaign=name, node="n") for name in "ab"]
    jobs = Jobs([[], [good[1]]])
    before = {"7": good[0], "8": errors.FailedJobError("ValueError: no")}
    jobs.job_class = lambda folder, job_id: Job(job_id, before[job_id])
    assert supervisor.watched(place, tmp_path, lambda *_: jobs) == dict(enumerate(good))
    assert jobs.submitted == [1]


def test_to_go_on_with_one_job_alone_mentions_all(tmp_path):
    place = made(tmp_path)
    answered = CliRunner().invoke(main, ["run", "--resume", "--out", str(tmp_path)])
    words = resuming.resume_words(tmp_path, "run --cluster local")
    assert f"note: the jobs of one plan have not all ended; resume them with {words}" in answered.output
    place.write(msgspec.structs.replace(place.read(), ended=True))
    assert "jobs" not in CliRunner().invoke(main, ["run", "--resume", "--out", str(tmp_path)]).output
    (place.folder / "plan.json").write_text("{")
    assert "holds no campaign" in CliRunner().invoke(main, ["run", "--resume", "--out", str(tmp_path)]).output


def test_a_node_with_other_software_refuses_before_it_measures(tmp_path):
    place = made(tmp_path, software={**software.here(), "jax": "0.1", "commit": "abc"})
    remedy = f"install the same on all nodes, then {resuming.resume_words(tmp_path, 'run --cluster local')}"
    with pytest.raises(RuntimeError, match=rf"commit==abc there.*jax==0\.1 there.*{re.escape(remedy)}$"):
        supervisor.Part(folder=place.folder, out=tmp_path, number=0)()
    assert place.node(0).read_text() == platform.node()


def test_a_job_that_is_refused_before_its_first_process_leaves_nothing_and_may_be_sent_again(tmp_path, monkeypatch):
    one = factory.record()
    plan_here = {"created": one.created, "profile": "quick", "rounds": 3, "seed": 0, "commit": "abc"}
    begun = Journal(tmp_path / "begun" / journals.FILE_NAME)

    def planned(*_):
        cases, about = (one.case,), (one.description,)
        begun.append(Header(campaign="begun", machine=one.machine, cases=cases, descriptions=about, **plan_here))
        return begun

    def refused(*_):
        raise RuntimeError("another run is measuring on this machine")

    place = made(tmp_path)
    monkeypatch.setattr(supervisor.bench, "planned", planned)
    monkeypatch.setattr(supervisor.bench, "measure", refused)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="another run is measuring"):
            supervisor.Part(folder=place.folder, out=tmp_path, number=0)()
        assert not (tmp_path / "begun").exists()


def test_a_job_begun_anew_on_another_machine_leaves_nothing_compiled_behind(tmp_path, monkeypatch):
    there, begun = (Journal(tmp_path / name / journals.FILE_NAME) for name in ("there", "begun"))
    one = factory.record()
    plan_there = {"created": one.created, "profile": "quick", "rounds": 3, "seed": 0, "commit": "elsewhere"}
    there.append(
        Header(campaign="there", machine=one.machine, cases=(one.case,), descriptions=(one.description,), **plan_there)
    )
    (tmp_path / "there" / "compile-cache" / "warm").mkdir(parents=True)
    place = made(tmp_path)
    place.campaign(0).write_text("there")
    monkeypatch.setattr(supervisor.bench, "planned", lambda *_: begun)
    monkeypatch.setattr(supervisor.bench, "measure", lambda *_: True)
    assert supervisor.Part(folder=place.folder, out=tmp_path, number=0)().campaign == "begun"
    assert place.campaign(0).read_text() == "begun"
    assert [path.name for path in (tmp_path / "there").iterdir()] == [journals.FILE_NAME]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gpu"], "NAME=VALUE"),
        (["--partition=gpu"], "NAME=VALUE"),
        (["partition="], "NAME=VALUE"),
        (["time=2h"], "minutes"),
    ],
)
def test_job_options_that_are_none_are_refused(words, said):
    with pytest.raises(ValueError, match=said):
        planning.options(words, "slurm")
    assert planning.options(["partition=gpu", "gres=gpu:1"], "slurm") == {"partition": "gpu", "gres": "gpu:1"}


def test_without_a_scheduler_its_options_are_refused():
    with pytest.raises(ValueError, match="--job-option partition=gpu asked for with --cluster local, which has no sch"):
        planning.options(["partition=gpu"], "local")
    assert planning.options([], "local") == {}


def test_who_comes_back_finds_the_plan_of_the_same_cluster(tmp_path):
    made(tmp_path)
    assert plan.unfinished(tmp_path, "local").read().cluster == "local"
    with pytest.raises(RuntimeError, match="no unfinished jobs for 'slurm'"):
        plan.unfinished(tmp_path, "slurm")


def test_a_damaged_plan_is_not_called_one_of_another_version(tmp_path):
    place = made(tmp_path)
    (place.folder / "plan.json").write_text('{"cluster": "loc')
    with pytest.raises(RuntimeError, match="is damaged"):
        place.read()
    (place.folder / "plan.json").write_text('{"cluster": "moon"}')
    with pytest.raises(RuntimeError, match="another version"):
        place.read()


def test_a_folder_that_cannot_be_written_is_told_before_jobs_are_sent(tmp_path, monkeypatch):
    monkeypatch.setattr(probing, "offer", offered)
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match=r"cannot write '.*file"):
        planning.planned(Request(workloads=("mnist_mlp",)), tmp_path / "file" / "x", "local", None, {}, None)


def test_slurm_that_is_not_there_is_said_and_no_plan_stays_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(probing, "offer", offered)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="there is no Slurm here"):
        planning.planned(Request(workloads=("mnist_mlp",)), tmp_path, "slurm", None, {}, None)
    assert not (tmp_path / plan.FOLDER).exists()


@pytest.mark.usefixtures("slurm")
def test_what_slurm_is_told(tmp_path):
    """The sbatch file holds the options, a whole node, and the job's command."""
    jobs = supervisor.executor("slurm", tmp_path / "jobs", {"partition": "gpu", "time": "30", "gres": "gpu:1"})
    assert jobs.submit(supervisor.Part(folder=tmp_path, out=tmp_path, number=0)).job_id == "12"
    text = (tmp_path / "jobs" / "12_submission.sh").read_text()
    for line in ("--partition=gpu", "--time=30", "--exclusive", "--gres=gpu:1"):
        assert f"#SBATCH {line}" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "2"], "add --cluster slurm"),
        (
            ["--cluster", "local", "--hosts", "2", "--address", "here:1"],
            "whose jobs run on one node each",
        ),
    ],
)
def test_what_does_not_go_with_a_cluster_is_refused(words, said):
    command = [sys.executable, "-m", "suite", "run", "mnist_mlp", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert said in ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="submitit runs jobs on Linux")
@pytest.mark.parametrize(
    ("workloads", "scopes"),
    [(WORKLOADS, "step"), (WORKLOADS, "step,transfer,cold")],
    ids=["four cases", "twelve cases"],
)
@pytest.mark.slow
def test_every_case_has_its_record_though_a_job_is_killed(tmp_path, workloads, scopes):
    """Of two jobs the second is killed once it has completed half of its cases: they stay, each once."""
    cases = len(workloads) * len(scopes.split(","))
    command = [sys.executable, "-m", "suite", "run", *workloads, "--backend", "cpu", "--scope", scopes]
    command += ["--profile", "smoke", "--cluster", "local", "--jobs", "2", "--out", str(tmp_path)]
    env = {**os.environ, "TMPDIR": str(tmp_path)}  # where the lock lies that lets one run measure at a time
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=env, text=True, **pipes) as running:
        kept = killed(running, tmp_path, cases // 4)
        printed, said = running.communicate(timeout=400)
    assert running.returncode == 0, said
    assert "job 2 was lost; it is submitted again" in said
    assert all(name in printed for name in workloads), "the times are printed too"
    assert len(list(store.paths([tmp_path]))) == cases
    records, problems = store.load([tmp_path])
    assert not problems
    assert {record.workload for record in records} == set(workloads)
    assert all(len(record.runs) == 1 and not record.reason for record in records)
    (journal,) = [each for each in journals.journals(tmp_path) if each.path.parent.name.endswith("-2")]
    lines = [json.loads(line.split(b" ", 1)[1]) for line in journal.path.read_bytes().splitlines()]
    assert lines[: len(kept)] == kept
    together = len({"step", "transfer"}.intersection(scopes.split(",")))  # that a process completes at once
    assert cases // 4 <= sum(line["type"] == "run" for line in kept) < cases // 4 + together
    done = [json.dumps([line["case"], line["run"]["round"]]) for line in lines if line["type"] == "run"]
    assert len(done) == len(set(done)) == cases // 2


@pytest.fixture
def interruptible():
    """Processes begun here hear an interrupt, which a shell's background jobs are told to ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform != "linux", reason="submitit runs jobs on Linux")
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_the_jobs_of_this_machine_and_says_how_to_go_on(tmp_path):
    """As a terminal does it, the signal goes to the whole process group."""
    command = [sys.executable, "-m", "suite", "run", "mnist_mlp", "--backend", "cpu", "--scope", "step"]
    command += ["--profile", "smoke", "--cluster", "local", "--out", str(tmp_path)]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, env=env, text=True, stderr=subprocess.PIPE, start_new_session=True
    ) as running:
        below = begun(running, tmp_path)
        os.killpg(running.pid, signal.SIGINT)
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    how = f"{Path(sys.executable).name} -m suite run --cluster local --resume --out {tmp_path}"
    assert said.splitlines()[-1] == f"interrupted; its jobs are stopped: resume with {how}"
    assert "Traceback" not in said
    assert not psutil.wait_procs(below, timeout=10)[1]
    assert not plan.unfinished(tmp_path, "local").read().ended


def begun(running, out):
    """Wait until a job measures, and return all processes below."""
    end = time.monotonic() + 120
    while time.monotonic() < end and running.poll() is None:
        if list(out.glob(f"*/{journals.FILE_NAME}")):
            return psutil.Process(running.pid).children(recursive=True)
        time.sleep(0.05)
    raise AssertionError("no job ever began")


def test_jobs_of_this_machine_see_the_gpus_that_are_seen_here(tmp_path, monkeypatch):
    started = {}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setattr("suite.cluster.local.subprocess.Popen", lambda *_, **how: started.update(how) or JobProcess())
    supervisor.executor("local", tmp_path / "jobs", {}).submit(supervisor.Part(folder=tmp_path, out=tmp_path, number=0))
    assert started["env"]["CUDA_VISIBLE_DEVICES"] == "3"
    assert started["env"]["SUBMITIT_LOCAL_TIMEOUT_S"] == str(240 * 60)


@pytest.mark.usefixtures("slurm")
def test_jobs_import_the_suite_that_planned_them_wherever_they_start(tmp_path, monkeypatch):
    started, wanted = {}, child_imports.child_imports()
    monkeypatch.setattr("suite.cluster.local.subprocess.Popen", lambda *_, **how: started.update(how) or JobProcess())
    supervisor.executor("local", tmp_path / "jobs", {}).submit(supervisor.Part(folder=tmp_path, out=tmp_path, number=0))
    assert started["env"].items() >= wanted.items()
    text = supervisor.executor("slurm", tmp_path / "jobs", {})._make_submission_file_text("true", "1")
    for name, value in wanted.items():
        assert f"export {name}={shlex.quote(value)}\n" in text


class JobProcess:
    """A process that goes on."""

    pid = 4711

    def poll(self):
        return None


def killed(running, out, completed):
    """Kill the second job as soon as its journal holds so many completed cases, and return what that holds."""
    end = time.monotonic() + 300
    while time.monotonic() < end and running.poll() is None:
        for journal in out.glob(f"*-2/{journals.FILE_NAME}"):
            lines = journal.read_bytes().splitlines()
            if sum(b'"type":"run"' in line for line in lines) >= completed:
                for child in psutil.Process(running.pid).children(recursive=True):
                    with suppress(psutil.Error):  # one that has just ended has no command line
                        if "submitit" in " ".join(child.cmdline()):
                            child.kill()
                return [json.loads(line.split(b" ", 1)[1]) for line in journal.read_bytes().splitlines()]
        time.sleep(0.05)
    raise AssertionError("the second job never completed a process")

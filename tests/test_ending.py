"""How a command that measures ends: whole, at its budget, interrupted or terminated, and how it is resumed."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import factory
import pytest
from campaigns import Child, FakeClock, case, workers
from click.testing import CliRunner

from suite.cli import ending, main
from suite.driver import forecast, probing, runner
from suite.driver.journal import FILE_NAME, Journal
from suite.driver.plan import CampaignPlan
from suite.results.pooled import spreads
from suite.results.records import store
from suite.results.single import validity
from suite.sessions import bench, resuming
from suite.system import machine, software
from suite.worker_api.protocol import Offer

CASES = (case(), case(backend="gpu"), case("cifar10_mlp"), case("cifar10_mlp", backend="gpu"))
EIGHT_MINUTES = 480.0


@pytest.fixture(autouse=True)
def signals_as_usual():
    """Signals do what they do in a terminal, although nohup or a shell's `&` may have started the tests."""
    before = {number: signal.signal(number, usual(number)) for number in (signal.SIGHUP, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def invoked(words):
    found = CliRunner().invoke(main, words)
    return found.exit_code, found.output


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that runs the command line on a machine whose processes take half a minute by a clock of their own."""
    clock = FakeClock()
    timed = partial(forecast.Deadline, now=clock)
    about = tuple(map(factory.description, ("mnist_mlp", "cifar10_mlp")))
    answer = CampaignPlan(cases=CASES, descriptions=about, remarks=(), seconds=1.0)
    offer = Offer(implementation="jax", backends={"cpu": ("a",), "gpu": ("b",)}, workloads=about)
    (tmp_path / "site" / "records").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for place, name, value in (
        (machine, "machine", lambda *_: factory.HOST),
        (software, "commit", lambda: "abc"),
        (probing, "offer", lambda name: offer),
        (bench.plan, "make_plan", lambda *_: answer),
        (bench.lock, "check_nothing_measures", lambda: None),
        (bench.windows, "telemetry", lambda: nullcontext(None)),
        (bench, "prepare_data", lambda *_: None),
        (bench, "Deadline", timed),
        (forecast, "Deadline", timed),
        (runner, "wait_until_quiet", lambda *_: 0.0),
        (validity, "CHECKS", {}),
        (spreads, "nearest", lambda machine, wanted: 0.05),
    ):
        monkeypatch.setattr(place, name, value)

    def command(*words, signals=None, took=30.0, seconds=lambda number: 0.01 * (1 + number % 3), invoke=invoked):
        """Return exit code, output, duration and processes of a command; before some processes a signal comes."""
        here = []

        def make(unit):
            if signals and len(here) in signals:
                os.kill(os.getpid(), signals[len(here)])
            here.append(unit[0])
            return Child(clock, took, seconds(len(here)))

        monkeypatch.setattr(runner, "worker", lambda unit, **_: workers(make)(unit))
        began = clock.seconds = time.monotonic()
        return *invoke([*words, "--out", "records"]), clock.seconds - began, here

    return command


def journal():
    """Return that of the only campaign."""
    (path,) = Path("records").glob(f"*/{FILE_NAME}")
    return Journal(path)


def written(place="records"):
    """Return the folder names and the rounds of the records there."""
    records, problems = store.load([Path(place)])
    assert not problems
    folders = {path.parent.name.split("-")[0] == "partial" for path in store.paths([Path(place)])}
    return folders, sorted((record.case.workload, record.case.backend, len(record.runs)) for record in records)


def each(cpu, gpu=None):
    return sorted(
        (name, side, n) for name in ("cifar10_mlp", "mnist_mlp") for side, n in (("cpu", cpu), ("gpu", gpu or cpu))
    )


def test_a_campaign_that_is_certain_enough_ends_before_its_budget_with_its_records(run):
    code, output, took, begun = run("run", seconds=lambda number: 0.01)
    assert (code, len(begun)) == (0, 12)
    assert took == pytest.approx(360.0, abs=1)
    assert written() == ({False}, each(3))
    assert "--resume" not in output
    assert "2 workloads, ends within 8 min 00 s\neach measured once, then the widest interval again" in output
    assert run("run", "--resume")[:2] == (1, output_of_ended())


def output_of_ended():
    name = journal().header().campaign
    return (
        f"Error: --resume asked for, but every campaign in 'records' has ended, '{name}' last; start one without "
        "--resume\n"
    )


def test_a_spent_budget_leaves_partial_records_the_table_and_the_way_to_resume(run):
    code, output, took, begun = run("run", "--within", "1%")
    assert code == 0
    assert took == pytest.approx(EIGHT_MINUTES, abs=1)
    assert len(begun) == 16
    assert written()[0] == {True}
    assert output.index("mnist_mlp") < output.index("the budget is spent;")
    assert output.rstrip().endswith(f"with: {resuming.resume_words(Path('records'))}")


def test_what_is_resumed_goes_on_in_the_same_journal_with_a_budget_and_certainty_given_anew(run):
    first = run("run", "--within", "1%", "--budget", "4")[3]
    assert len(first) == 8
    before = journal().done()
    again = run("run", "--resume", "--within", "1%")
    assert (again[0], len(again[3])) == (0, 8), "four minutes again"
    third = run("run", "--resume", "--budget", "2")
    assert len(third[3]) == 4, "its own 1 % still holds"
    assert journal().done()[:8] == before
    last = run("run", "--resume", "--within", "99")
    assert (last[0], last[3]) == (0, []), "certain enough"
    assert written()[0] == {False}


@pytest.mark.parametrize(
    ("signal_", "code", "why"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "interrupted by SIGTERM"),
        *(
            pytest.param(signal_, code, f"interrupted by {signal_.name}", marks=pytest.mark.slow)
            for signal_, code in (
                (signal.SIGHUP, 129),
                (signal.SIGUSR1, 138),
                (signal.SIGUSR2, 140),
                (signal.SIGXCPU, 152),
                (signal.SIGALRM, 142),
            )
        ),
    ],
)
def test_an_interrupt_ends_with_the_table_and_the_way_to_resume(run, signal_, code, why):
    stopped, output, _, begun = run("run", signals={5: signal_})
    assert (stopped, len(begun)) == (code, 5)
    assert written() == ({True}, each(1)), "a further round that was cut does not count"
    assert output.index("mnist_mlp") < output.index(f"\n{why}; resume with: {resuming.resume_words(Path('records'))}\n")
    assert len(journal().done()) == 5
    before = journal().done()
    resumed, _, _, rest = run("run", "--resume")
    assert (resumed, signal.getsignal(signal_)) == (0, usual(signal_))
    assert journal().done()[:5] == before
    assert len(journal().done()) == 5 + len(rest)


def usual(number):
    """Return what a signal does before a command: Ctrl-C interrupts, the others end the process."""
    return signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL


def test_what_nohup_ignores_does_not_end_a_campaign(run):
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        code, output, _, begun = run("run", "--rounds", "1", signals={2: signal.SIGHUP})
    finally:
        signal.signal(signal.SIGHUP, ignored)
    assert (code, len(begun)) == (0, 4)
    assert "--resume" not in output


def closed_pipe():
    ours, theirs = os.pipe()
    os.close(ours)  # as when head has read enough
    return theirs


def closed_terminal():
    ours, theirs = os.openpty()
    os.close(ours)  # as when the window is closed
    return theirs


@pytest.mark.parametrize(
    ("closed", "code", "word"), [(closed_pipe, 141, ""), (closed_terminal, 1, "Input/output error")]
)
def test_a_run_whose_output_nobody_reads_goes_on_to_its_records(run, monkeypatch, closed, code, word):
    number = closed()

    def invoke(words):
        with os.fdopen(number, "w") as out, os.fdopen(os.dup(number), "w") as errors:
            monkeypatch.setattr("sys.stdout", out)
            monkeypatch.setattr("sys.stderr", errors)
            with pytest.raises(SystemExit) as left:
                main(words)
        return left.value.code, ""

    assert run("run", "--rounds", "1", invoke=invoke)[0] == code
    assert written() == ({False}, each(1))


def test_a_run_whose_results_nobody_reads_says_where_its_records_are(run, monkeypatch, capfd):
    def invoke(words):
        with os.fdopen(closed_pipe(), "w") as out:
            monkeypatch.setattr("sys.stdout", out)
            with pytest.raises(SystemExit) as left:
                main(words)
        return left.value.code, capfd.readouterr().err

    code, said, *_ = run("run", "--rounds", "1", invoke=invoke)
    words = "note: the output was closed before its end; the records are in 'records'"
    assert (code, said.splitlines()[-1]) == (141, words)


@pytest.mark.parametrize(
    ("words", "place", "code", "said"),
    [
        (["--help"], None, 141, ""),
        (["list", "--experiments"], None, 141, ""),
        (
            ["list", "--experiments"],
            "/dev/full",
            1,
            "Error: cannot write to standard output: No space left on device",
        ),
    ],
)
def test_a_command_whose_output_is_closed_ends_as_others_do_without_a_traceback(words, place, code, said):
    number = os.open(place, os.O_WRONLY) if place else closed_pipe()
    with os.fdopen(number, "w") as out:
        ended = subprocess.run(
            [sys.executable, "-m", "suite", *words], stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, ended.stderr.rstrip()) == (code, said)


def test_a_command_without_any_output_ends_well():
    words = f"{sys.executable} -m suite list --experiments >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", words], check=False).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_every_command_with_its_number_and_nothing_half_written(tmp_path, monkeypatch, number):
    def stopped(what, done, total):
        os.kill(os.getpid(), number)

    monkeypatch.setenv("SUITE_DATA", str(tmp_path))
    monkeypatch.setattr("suite.console.progress.DataProgress.__call__", lambda self, *seen: stopped(*seen))
    found = CliRunner().invoke(main, ["data", "prepare", "mnist", "--size", "small"])
    assert (found.exit_code, found.output) == (128 + number, f"interrupted by {number.name}\n")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not list(tmp_path.rglob(".writing-*"))


def test_what_ends_a_command_before_its_campaign_began_is_named_and_leaves_nothing(run, monkeypatch):
    monkeypatch.setattr(bench.probing, "offer", lambda name: os.kill(os.getpid(), signal.SIGHUP))
    code, output, _, begun = run("run")
    assert (code, begun, output) == (129, [], "interrupted by SIGHUP\n")
    assert not Path("records").exists()


def test_an_interrupted_campaign_is_not_published_and_can_be_resumed(run):
    Path("site/records").mkdir(parents=True, exist_ok=True)
    code, output, *_ = run("run", "--publish", signals={5: signal.SIGINT})
    assert (code, journal().closed(), list(Path("site/records").iterdir())) == (130, False, [])
    assert output.rstrip().endswith(f"interrupted; resume with: {resuming.resume_words(Path('records'))}")


def test_a_second_sigterm_such_as_nox_sends_does_nothing(run):
    assert run("run", signals={2: signal.SIGTERM})[0] == 143

    codes = []
    with pytest.raises(SystemExit) as left, ending.signals() as seen:  # noqa: PT012
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            codes.append(seen.code(interrupted=True, has_result=True))
    assert codes == [143], "what follows the first one is not disturbed"
    assert left.value.code == 143


def test_a_campaign_that_is_refused_before_its_first_process_leaves_nothing(run, monkeypatch):
    def refused(*_):
        raise RuntimeError("cannot write dataset 'mnist' to '/data': Read-only file system; set SUITE_DATA")

    monkeypatch.setattr(bench, "prepare_data", refused)
    code, output, _, begun = run("run")
    assert (code, begun) == (1, [])
    assert output.endswith("Error: cannot write dataset 'mnist' to '/data': Read-only file system; set SUITE_DATA\n")
    assert list(Path("records").iterdir()) == []


def test_a_campaign_that_is_refused_later_keeps_what_it_completed(run, monkeypatch):
    monkeypatch.setattr(bench, "prepare_data", lambda *_: None)
    run("run", signals={2: signal.SIGINT})

    def refused(*_):
        raise RuntimeError("no data")

    monkeypatch.setattr(bench, "prepare_data", refused)
    assert run("run", "--resume")[0] == 1
    assert len(journal().done()) == 2


@pytest.mark.parametrize(("interrupted", "whole", "code"), [(True, True, 130), (False, True, 0), (False, False, 1)])
def test_a_command_fails_without_a_result_and_not_at_its_budget(interrupted, whole, code):
    assert ending.Signals().code(interrupted, whole) == code


def test_nothing_is_kept_of_what_was_interrupted_before_its_first_process(run):
    code, output, _, begun = run("run", signals={0: signal.SIGINT})
    assert (code, begun) == (130, [])
    assert written() == (set(), [])
    assert "--resume" in output


def test_a_campaign_whose_first_pass_is_whole_is_published_and_closed_and_another_one_is_not(run):
    run("run", signals={3: signal.SIGINT})
    name = journal().header().campaign
    code, output, *_ = run("publish", name)
    assert code == 1
    assert f"campaign '{name}' has not measured every case once; resume it with" in output
    run("run", "--resume", signals={2: signal.SIGINT})
    assert not journal().closed()
    assert run("publish", name)[0] == 0
    assert journal().closed()
    assert written("site/records") == ({False}, each(1))
    assert run("run", "--resume")[0] == 1


def test_what_lacks_its_first_pass_is_published_as_incomplete(run):
    run("run", signals={3: signal.SIGINT})
    assert run("publish", "--incomplete", journal().header().campaign)[0] == 0
    assert [rounds for *_, rounds in written("site/records")[1]] == [1, 1, 1]


def test_exactly_one_round_may_be_asked_for(run):
    code, _, _, begun = run("run", "--rounds", "1")
    assert (code, sorted(begun, key=str)) == (0, sorted(CASES, key=str))
    assert written() == ({False}, each(1))
    assert journal().header().budget_seconds is None


@pytest.mark.parametrize("within", ["10", "10%", "10 %"])
def test_a_percentage_has_a_sign_or_none(run, within):
    run("run", "--within", within, signals={0: signal.SIGINT})
    assert journal().header().within == pytest.approx(0.1)


def test_how_certain_cannot_be_asked_of_a_campaign_with_planned_rounds(run):
    run("run", "--rounds", "2", signals={1: signal.SIGINT})
    code, output, *_ = run("run", "--resume", "--within", "5")
    assert code == 1
    assert "has planned rounds; leave it out" in output


def test_a_budget_that_no_process_fits_is_refused_and_the_one_that_is_named_works(run):
    code, output, _, begun = run("run", "--budget", "0.01")
    assert (code, begun) == (1, [])
    enough = re.search(r"take --budget (\d+) or more", output)[1]
    assert not Path("records").exists()
    code, _, _, begun = run("run", "--budget", enough, took=5.0)
    assert code == 0
    assert begun
    code, output, _, begun = run("run", "--resume", "--budget", "0.01")
    assert (code, begun) == (1, [])
    assert "--budget 0.01 asked for; the shortest process here" in output


@pytest.mark.parametrize(("profile", "said"), [("standard", 1), ("quick", 0)])
def test_profiles_of_older_versions_mean_the_default(run, profile, said):
    _, output, _, _ = run("run", "--profile", profile, signals={1: signal.SIGINT})
    assert journal().header().profile == "quick"
    words = "note: --profile standard is now the default; use --budget and --within for narrower intervals"
    assert output.splitlines().count(words) == said


def test_smoke_is_one_round_without_a_limit(run):
    code, output, _, begun = run("run", "--profile", "smoke", took=800.0)
    assert (code, len(begun)) == (0, 4)
    assert "ends within" not in output
    assert (journal().header().budget_seconds, journal().header().within) == (None, None)

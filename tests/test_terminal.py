"""In a terminal: tables of whole words, whatever its width, and what a time is one of."""

import io

import pytest
from campaigns import FakeClock, case, done, plan
from rich.console import Console

from suite.console import progress
from suite.console.progress import CampaignProgress, said
from suite.console.terminal import fitting, print_table
from suite.driver.forecast import Deadline
from suite.driver.schedule import Uncertain

COLUMNS = ("model", "baseline / JAX", "precision")
ROWS = [("cifar10_resnet63", "0.7x torch compile", "float32-highest"), ("mnist_mlp", "–", "tf32")]


@pytest.fixture
def printed(capsys, monkeypatch):
    def at(width):
        if width is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", str(width))
        print_table("How JAX stands", COLUMNS, ROWS, ["A note."])
        return capsys.readouterr().out

    return at


def test_a_file_gets_a_table_as_wide_as_it_is(printed):
    lines = printed(None).splitlines()
    assert lines[3].split("  ") == ["cifar10_resnet63", "0.7x torch compile", "float32-highest"]
    assert len(lines[3]) == 16 + 18 + 15 + 2 * 2


@pytest.mark.parametrize("width", [42, 45, 60, 120])
def test_a_terminal_gets_whole_words_in_lines_that_fit(printed, width):
    lines = printed(width).splitlines()
    assert max(map(len, lines)) <= width
    assert {"cifar10_resnet63", "compile", "float32-highest"} <= {word for line in lines for word in line.split()}


def test_where_a_table_cannot_fit_each_row_is_a_list(printed):
    said = printed(41)
    assert [line.split(maxsplit=1)[0] for line in said.splitlines() if "resnet63" in line] == ["model"]
    assert said.count("precision") == len(ROWS)
    assert said.rstrip().endswith("A note.")


def test_the_widest_column_gives_way_first_and_none_below_its_longest_word():
    assert fitting([("a", "bb"), ("one two three",)], 100) == [2, 13]
    assert fitting([("a", "bb"), ("one two three",)], 9) == [2, 7]
    assert fitting([("a", "bb"), ("one two three",)], 7) == [2, 5]
    assert fitting([("a", "bb"), ("one two three",)], 6) is None


def test_a_run_that_was_cut_short_is_not_called_the_whole_one():
    assert said("run", "smoke") == "for a run cut short to 200 examples"
    assert said("run", "quick") == "for the whole run"
    assert said("step", "smoke") == "a step"


def shown(monkeypatch, header, done=(), deadline=None, width=80):
    """Return the progress of a campaign on a terminal of some width."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    return CampaignProgress(header, done, deadline), console


def lines(made, console):
    """Return what the terminal shows now."""
    with console.capture() as taken:
        console.print(made._rendered())
    return taken.get().splitlines()


LONG = "serve_efficientnet_v2_small_of_a_long_name"


def test_without_a_terminal_each_process_is_one_line_and_so_is_what_goes_wrong(capsys):
    step, cold = case(), case(scope="cold")
    made = CampaignProgress(plan(step, cold), [], Deadline(480.0, now=FakeClock()))
    with made:
        for number, (each, seconds) in enumerate(((step, 0.5), (cold, 1.0))):
            made.begins(number, (each,))
            made.stage("samples")
            made.ends((each,), done(each, [seconds]))
        made.grows(plan(step, cold), Uncertain(question=("mnist_mlp", "step"), half_width=0.3, borrowed=True))
        made.begins(2, (step,))
        made.ends((step,), done(step, [0.5], samples=0, reason="killed"))
        made.grows(plan(step, cold), None)
        made.skips((cold,), 90.0)
    assert capsys.readouterr().err.splitlines() == [
        "mnist_mlp cpu jax step, round 1: 502 ms a step",
        "mnist_mlp cpu jax cold, round 2: 1.00 s for a cold start",
        "mnist_mlp cpu jax step, round 3: failed: killed",
        "an added round is incomplete; the rounds before it count",
        "skipped mnist_mlp (cold, cpu): takes about 90.0 s, the budget has 8 min 00 s left; raise --budget",
    ]


def test_a_terminal_shows_a_row_a_workload_what_runs_why_and_the_time_left(monkeypatch):
    cpu, gpu, other = case(), case(backend="gpu"), case("cifar10_mlp")
    header, clock = plan(cpu, gpu, other), FakeClock()
    made, console = shown(monkeypatch, header, deadline=Deadline(480.0, 60.0, now=clock))
    made._draw()
    before = lines(made, console)
    assert [line.split()[:4] for line in before if "mlp" in line] == [
        [name, "–", "–", "–"] for name in ("mnist_mlp", "cifar10_mlp")
    ]
    assert before[-1] == "0 of 3 processes; ends within 8 min 00 s, Ctrl-C ends it now"
    for number in range(2):
        for each, seconds in ((cpu, 0.010), (gpu, 0.001)):
            made.begins(number, (each,))
            made.ends((each,), [done(each, [seconds, 1.1 * seconds])[number]])
    made.grows(header.with_rounds((2, 2, 1)), Uncertain(question=("mnist_mlp", "step"), half_width=0.3, borrowed=True))
    made.begins(1, (cpu,))
    made.stage("samples")
    clock.seconds = 30.5
    row, *_ = [line.split() for line in lines(made, console) if "mnist_mlp" in line]
    assert (row[0], row[-1]) == ("mnist_mlp", "2")
    assert any(word.startswith("10") for word in row), "the speed-up"
    assert lines(made, console)[-3:] == [
        "mnist_mlp cpu jax step, round 2: samples",
        "least certain: mnist_mlp, ±30 % by the spread of published runs",
        "4 of 5 processes; ends within 7 min 30 s, Ctrl-C ends it now",
    ]


@pytest.mark.parametrize("sides", [("cpu",), ("cpu", "gpu")])
def test_every_line_on_a_terminal_fits_eighty_columns(monkeypatch, sides):
    cases = [case(name, side, batch=4096, workers=16) for name in (LONG, "cifar10_resnet63") for side in sides]
    header = plan(*cases)
    entries = [entry for each in cases for entry in done(each, [8.123, 17.98, 11.0])]
    made, console = shown(monkeypatch, header, entries, Deadline(48000.0, now=FakeClock()))
    made.begins(2, (cases[0],))
    made.stage("waiting for other load to end")
    made.grows(header, Uncertain(question=(LONG, "cold"), half_width=1.234, borrowed=True))
    made._draw()
    found = lines(made, console)
    assert max(map(len, found)) <= 80
    assert any("cifar10_resnet63" in line and line.rstrip().endswith("3") for line in found), "numbers stay whole"
    assert sum("…" in line for line in found) >= 1


def test_an_experiment_shows_no_table_and_without_a_budget_how_long_it_still_takes(monkeypatch):
    cpu, header = case(), plan(case(), within=None, experiment="size")
    made, console = shown(monkeypatch, header)
    monkeypatch.setattr(progress.time, "monotonic", lambda: 100.0)
    left = []
    for number in range(3):
        made.begins(number, (cpu,))
        made.ends((cpu,), [done(cpu, [0.5] * 3, took=60.0)[number]])
        left.append(lines(made, console)[-1])
    assert len(lines(made, console)) == 2
    assert left == [
        f"{n} of 3 processes; about {m} left" for n, m in ((1, "2 min 00 s"), (2, "1 min 00 s"), (3, "0 min 00 s"))
    ]

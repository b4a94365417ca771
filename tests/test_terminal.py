"""In a terminal: tables of whole words, whatever its width, and what a time is one of."""

import io
from datetime import UTC, datetime

import factory
import pytest
from rich.console import Console

from suite import progress
from suite.measure import campaign
from suite.progress import CampaignLine, CampaignProgress, said
from suite.results.journal import Done
from suite.terminal import fitting, print_table

COLUMNS = ("model", "best peer / JAX", "precision")
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


def test_each_process_says_its_time_and_each_further_round_what_it_is_of(capsys):
    made = {scope: factory.record(scope=scope) for scope in ("step", "cold")}
    cases, now = [record.case for record in made.values()], datetime(2026, 1, 1, tzinfo=UTC)
    header = campaign.planned(cases, [factory.description()], "quick", factory.HOST, now)
    progress = CampaignProgress(header, [])
    for number, (scope, rounds) in enumerate((("step", (4, 3)), ("cold", (3, 4)))):
        record = made[scope]
        progress.begins(number, (record.case,))
        run = factory.run(number, 0.5 * (number + 1))
        progress.ends((record.case,), [Done(case=record.case, software=record.software, run=run)])
        progress.grows(header)
        progress.grows(header.with_rounds(rounds))
    told = [line.rstrip() for line in capsys.readouterr().err.splitlines() if not line.startswith("a further")]
    assert told == [
        "round 1/3  mnist_mlp cpu jax: 502 ms a step",
        "one more round, intervals are still wide: mnist_mlp",
        "round 2/3  mnist_mlp cpu jax: 1.00 s for a cold start",
        "one more round, intervals are still wide: mnist_mlp (cold)",
    ]


def test_after_the_last_process_no_time_is_left_to_tell():
    record = factory.record()
    header = campaign.planned([record.case], [factory.description()], "quick", factory.HOST, datetime.now(UTC))
    progress = CampaignProgress(header, [])
    (task,) = progress._progress.tasks
    left = []
    for number in range(3):
        progress.begins(number, (record.case,))
        run = factory.run(number, 0.5)
        progress.ends((record.case,), [Done(case=record.case, software=record.software, run=run)])
        left.append(task.fields["left"])
    assert left[-1] is None
    assert left[-2] is not None


NAME = "round 1/1  dp_linear_mirrored cpu jax  warmup"


def line(width, left=10.6, since=0.0):
    """Return the line of a campaign on a terminal of some width, at 100 s of its clock."""
    console = Console(width=width, record=True, force_terminal=True, file=io.StringIO())
    shown = CampaignLine(console)
    shown.add_task(NAME, total=12, completed=7, left=left, since=since)
    console.print(shown)
    return console.export_text().rstrip("\n")


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(progress.time, "monotonic", lambda: 100.0)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("width", [50, 60, 80, 100, 200])
def test_count_clock_and_estimate_stay_whole_in_one_line_of_any_width(width):
    shown = line(width, since=100.0)
    assert "\n" not in shown
    assert len(shown) <= width
    assert shown.rstrip().endswith("about 11 s left")
    assert " 7/12 0:00:00 " in shown


@pytest.mark.usefixtures("clock")
def test_the_bar_gives_way_first_and_then_the_description_is_shortened():
    wide, less, narrow = (line(width, since=100.0) for width in (130, 90, 60))
    assert (wide.count("━") > less.count("━"), NAME in wide, NAME in less) == (True, True, True)
    assert ("━" in narrow, NAME in narrow, "round 1/1  dp_linear" in narrow) == (False, False, True)
    assert narrow.count("…") == 1


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("left", "since", "words"),
    [(10.6, 96.0, "about 7 s left"), (10.6, 80.0, "about 0 s left"), (130.0, 95.0, "about 2 min 05 s left")],
)
def test_the_estimate_goes_down_as_time_passes_and_not_below_zero(left, since, words):
    assert line(100, left, since).rstrip().endswith(words)


@pytest.mark.usefixtures("clock")
def test_before_there_is_an_estimate_none_is_shown():
    assert "left" not in line(100, None)

"""In a terminal: tables of whole words, whatever its width, and what a time is one of."""

import io

import pytest
from rich.console import Console

from suite import terminal
from suite.terminal import CampaignLine, fitting, print_table, said

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


NAME = "round 1/1  dp_linear_mirrored cpu jax  warmup"


def line(width, left=10.6, since=0.0):
    """Return the line of a campaign on a terminal of some width, at 100 s of its clock."""
    console = Console(width=width, record=True, force_terminal=True, file=io.StringIO())
    progress = CampaignLine(console)
    progress.add_task(NAME, total=12, completed=7, left=left, since=since)
    console.print(progress)
    return console.export_text().rstrip("\n")


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(terminal.time, "monotonic", lambda: 100.0)


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

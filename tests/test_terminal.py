"""In a terminal: tables of whole words, whatever its width, and what a time is one of."""

import pytest

from suite.terminal import fitting, print_table, said

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

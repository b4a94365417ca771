"""Numbers in the ladder's chart: none runs into another, and near ticks of an article share one label."""

from itertools import combinations

import pytest

from suite.report.charts.labels import LETTER
from suite.report.charts.ladder import ladder
from suite.report.charts.ladder_labels import Axis, Labels, Number
from suite.results.views.experiment_result import Point

AXIS = Axis(low=0.05, high=500, pixels=540)
DOWNS = (-11, 20)


def placed(ticks, marks=()):
    """Return the labels of ticks in one row beside these marks; each is a value with its text."""
    labels = Labels(AXIS, DOWNS)
    of_marks = list(labels.of_marks([Number(row="a", value=value, text=text) for value, text in marks]))
    return of_marks, list(labels.of_ticks([Number(row="a", value=value, text=text) for value, text in ticks]))


def apart(one, other):
    distance = abs(AXIS.pixel(one.value) - AXIS.pixel(other.value))
    return one.down != other.down or distance >= LETTER * (len(one.text) + len(other.text)) / 2


@pytest.mark.parametrize(
    ("ticks", "texts"),
    [
        ([(11.01, "11.01x"), (22.18, "22.18x")], ["11.01x and 22.18x"]),
        ([(11.01, "11.01x"), (14.43, "14.43x"), (22.18, "22.18x"), (23.19, "23.19x")], ["11.01x to 23.19x"]),
        ([(4.0, "4x"), (4.0, "4x")], ["4x"]),
        ([(1.5, "1.5x"), (159.42, "159.42x")], ["1.5x", "159.42x"]),
    ],
)
def test_ticks_nearer_than_their_labels_are_wide_share_one_with_the_article_s_digits(ticks, texts):
    assert [label.text for label in placed(ticks)[1]] == texts


def test_no_label_runs_into_another_wherever_marks_and_ticks_lie():
    for shift in (1.0, 1.1, 1.3, 1.7, 2.3, 4.0, 9.0):
        marks = [(3 * shift, "3x"), (4 * shift, "4x"), (20.0, "20x")]
        ticks = [(2 * shift, "2.01x"), (5 * shift, "5.02x"), (30.0, "30.03x")]
        both = [label for some in placed(ticks, marks) for label in some]
        assert all(apart(one, other) for one, other in combinations(both, 2)), shift


def test_a_label_whose_place_is_taken_stands_beside_its_ticks():
    marks, (label,) = placed([(10.0, "10.01x")], [(10.0, "10x"), (10.5, "11x")])
    assert len(marks) == len(DOWNS)
    assert label.value != pytest.approx(10.0)
    assert all(apart(label, mark) for mark in marks)


def test_a_label_that_would_stand_far_from_its_tick_is_left_out():
    marks = [(10.0, "a number of very many letters")] * len(DOWNS)
    assert placed([(10.0, "10.01x")], marks)[1] == []


def test_labels_are_no_rows_of_the_chart_s_table():
    claims = [Point(series="r", row="a", value=value, text=f"{value}x, training") for value in (11.01, 12.18)]
    points = [Point(series="a step", row="a", value=60.0, text="60x")]
    layers = ladder([Point(series="a step", value=60.0, text="60x")], points, claims)["vconcat"][-1]["layer"]
    texts = [layer for layer in layers if layer["mark"]["type"] == "text"]
    assert "11.01x and 12.18x" in [row["text"] for layer in texts for row in layer["data"]["values"]]
    assert {layer["mark"].get("aria") for layer in texts} == {False}

"""A chart can be read where it is narrow: labels apart, names in the picture, shares from 0."""

import re
from itertools import pairwise

import factory
import pytest

from suite.report.charts import plots, vega
from suite.results.pooled.speedup import pooled_speedups
from suite.results.views.experiment_result import Chart, Point

LABEL = re.compile(
    r'<text (?![^>]*opacity="0")[^>]*text-anchor="(?P<anchor>\w+)" '  # but those that are hidden
    r'transform="translate\((?P<x>[-\d.]+),(?P<y>[-\d.]+)\)"[^>]*>(?P<said>[^<]*)<'
)
LETTER = 9.0  # pixels, in a wide font


def labels(spec):
    return list(LABEL.finditer(vega.svg(spec, "light")))


def ends(label):
    """Return where a label begins and ends in a wide font."""
    width, x = LETTER * len(label["said"]), float(label["x"])
    begin = x - {"start": 0, "middle": width / 2, "end": width}[label["anchor"]]
    return begin, begin + width


def chart(*names, **changes):
    points = tuple(Point(series=name, at=at, value=at, text="1") for name in names for at in (1.0, 10.0, 700.0))
    return Chart(caption="", across="batch", up="rate", points=points, **changes)


@pytest.mark.parametrize("fastest", [40, 300, 700, 900])
def test_the_labels_of_the_headline_s_axis_stand_apart_in_a_wide_font(fastest):
    records = [factory.record(name, side, [seconds] * 3) for name, times in (("slow", 1.25), ("fast", fastest))
               for side, seconds in (("cpu", 1.0), ("gpu", 1 / times))]  # fmt: skip
    said = [label for label in labels(vega.speedups(pooled_speedups(records))) if re.fullmatch(r"\d+k?", label["said"])]
    places = sorted(map(ends, said))
    assert len(places) >= 6
    assert all(one[1] < other[0] for one, other in pairwise(places))


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (("serve_resnet50, CPU", "serve_resnet50, GPU"), 2),
        (("half of requests", "99 of 100"), 1),
        (("cpu", "gpu", "both"), 2),
    ],
)
def test_names_in_a_legend_stand_side_by_side_only_where_both_fit_in_a_wide_font(names, lines):
    svg = vega.svg(plots.plot(chart(*names)), "light")
    width, height = map(float, re.search(r'role-legend".*?M0,0h([\d.]+)v([\d.]+)', svg).groups())
    assert round(height / 15) == lines
    assert 1.15 * width < plots._WIDTH
    assert all(f">{name}<" in svg for name in names), "a name is cut short"


def test_an_axis_of_shares_goes_from_0_to_the_whole_and_no_further():
    points = tuple(Point(series="gpu", at=at, value=90.0) for at in (1.0, 10.0))
    spec = plots.plot(Chart(caption="", across="fits", up="GPU busy, %", points=points, whole=100.0))
    heights = [float(label["y"]) for label in labels(spec) if label["anchor"] == "end"]
    assert max(heights) - min(heights) == pytest.approx(spec["height"])


def test_no_number_above_a_small_share_crosses_the_axis():
    points = tuple(Point(series="gpu", row=name, value=0.0, text="0.12 %") for name in ("first", "second"))
    spec = plots.plot(Chart(caption="", across="GPU busy, %", points=points, whole=100.0))
    begins = [ends(label)[0] for label in labels(spec) if label["said"] == "0.12 %"]
    assert len(begins) == 2
    assert min(begins) >= 0

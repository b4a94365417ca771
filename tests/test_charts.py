"""Every chart is read without its table: a colour and a shape for each series, names beside lines, ticks in words."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import factory
import pytest

from suite.report.charts import axes, drawing, labels, look, plots, vega
from suite.report.charts.labels import Label
from suite.report.parts import experiment_figures, facts
from suite.results.records import store
from suite.results.views.experiment_result import Chart, HeatMap, Point, Square

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "records"
PHONE = 328  # pixels of a page's text on a screen of 360
SMALLEST = 9  # pixels of a letter


@pytest.fixture(scope="module")
def published():
    """The charts of all experiments from the published records."""
    known, _ = facts.read([ROOT / "site" / "records"], ROOT / "site", ())
    return [
        figure
        for name, answers in known.answers.items()
        for machine, result in answers
        for figure in experiment_figures.figures(name, machine.slug, result, known.titles)
    ]


@pytest.fixture(scope="module")
def golden():
    """The specifications of all charts of the stored records, by name."""
    records, _ = store.load([GOLDEN])
    files = factory.pages(records)
    return {name: json.loads(text) for name, text in files.items() if re.match(r"charts/.*\.json", name)}


def plots_of(spec):
    """Yield the single plots of a specification, each a list of its layers."""
    for part in spec.get("concat") or spec.get("vconcat") or [spec]:
        yield part.get("layer", [part])


def rows_of(spec, data):
    return spec["datasets"][data["name"]] if "name" in data else data["values"]


def shared_looks(spec):
    """Return how many pairs of series of one plot share a colour or a shape, and how many series it has."""
    pairs = series = 0
    for layers in plots_of(spec):
        looks = {}
        for encoding in (layer["encoding"] for layer in layers):
            if encoding.get("color", {}).get("field") != "series":
                continue
            domain = encoding["color"]["scale"]["domain"]
            for place, name in enumerate(domain):
                shapes = encoding["shape"]["scale"]["range"] if "shape" in encoding else look.SHAPES
                looks.setdefault(name, set()).add((place % vega.COLOURS, shapes[place % len(shapes)]))
        drawn = {row["series"] for layer in layers for row in rows_of(spec, layer["data"]) if "series" in row}
        named = {name for name in drawn if name in looks}
        assert all(len(looks[name]) == 1 for name in named), "a series has two looks"
        ways = [next(iter(looks[name])) for name in named]
        pairs += sum(one[0] == other[0] or one[1] == other[1] for one, other in combinations(ways, 2))
        series += len(named)
    return pairs, series


def chart(*names, **changes):
    points = tuple(Point(series=name, at=at, value=at + place, text="1") for place, name in enumerate(names)
                   for at in (1.0, 10.0, 700.0))  # fmt: skip
    return Chart(caption="", across="batch", up="rate", **{"points": points, **changes})


def test_rows_of_several_layers_stand_once_and_draw_and_download_the_same():
    rows, line = [{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 3.0}], [{"x": 1.0}]
    encoding = {axis: {"field": axis, "type": "quantitative", "axis": {"values": [1, 2]}} for axis in "xy"}
    layers = [{"data": {"values": each}, "mark": mark, "encoding": encoding}
              for each, mark in ((rows, "line"), (rows, "point"), (line, "rule"))]  # fmt: skip
    spec = {"vconcat": [{"layer": layers}]}
    once = vega.rows_once(spec)
    assert once["datasets"] == {"rows1": rows}
    assert [layer["data"] for layer in once["vconcat"][0]["layer"]] == [{"name": "rows1"}] * 2 + [{"values": line}]
    assert json.dumps(once).count('"y": 3.0') == 1
    assert drawing.csv_table(once) == drawing.csv_table(spec)
    assert vega.svg(once, "light") == vega.svg(spec, "light")
    assert vega.rows_once(layers[0]) == layers[0]


def test_no_two_series_of_a_published_chart_share_a_colour_or_a_shape(published):
    shared, series = map(sum, zip(*(shared_looks(figure.spec) for figure in published), strict=True))
    assert shared == 0
    assert len(published) > 50
    assert series > 100


def test_no_two_series_of_a_golden_chart_share_a_colour_or_a_shape(golden):
    shared, series = map(sum, zip(*map(shared_looks, golden.values()), strict=True))
    assert shared == 0
    assert len(golden) > 5
    assert series > 10


@pytest.mark.parametrize("count", [2, look.MOST, look.MOST + 1, 3 * look.MOST])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("in_rows", [False, True])
def test_however_many_series_none_shares_a_look(count, narrow, in_rows):
    one = chart(*(f"series {n}" for n in range(count)))
    if in_rows:
        points = (Point(series=f"series {n}", row=row, value=n + 1.0, text="1x") for n in range(count) for row in "ab")
        one = Chart(caption="", across="rate", points=tuple(points))
    spec = plots.plot(one, narrow)
    assert shared_looks(spec)[0] == 0
    assert "<svg" in vega.svg(spec, "dark")


def test_eight_series_are_drawn_in_eight_colours_and_eight_shapes():
    svg = vega.svg(plots.plot(chart(*"abcdefgh"), narrow=True), "light")
    symbols = re.search(r'role-legend".*', svg, re.DOTALL)[0]
    marks = set(re.findall(r'<path[^>]*? d="(M[^"]+)"[^>]*?(?:fill|stroke)="(#[0-9a-f]{6})"', symbols))
    assert len(marks) == len({shape for shape, _ in marks}) == len({colour for _, colour in marks}) == look.MOST


@pytest.mark.parametrize("names", [["CPU"], ["GPU"], ["CPU", "GPU"], ["CPU tf32", "GPU tf32", "GPU bfloat16"]])
def test_gpu_and_cpu_have_the_same_look_in_every_chart(names):
    domain = look.look(names)["color"].to_dict()["scale"]["domain"]
    assert [name.split(" ")[0] for name in domain[:2]] == ["GPU", "CPU"]
    assert set(names) <= set(domain)


def test_a_chart_of_models_and_sides_has_a_panel_for_each_model():
    points = tuple(Point(series=side, panel=model, at=at, value=at) for model in ("a", "b") for side in ("CPU", "GPU")
                   for at in (1.0, 8.0))  # fmt: skip
    for narrow, columns in ((False, 3), (True, 1)):
        spec = plots.plot(chart(points=points, joined=True), narrow)
        assert [part["title"]["text"] for part in spec["concat"]] == [["a"], ["b"]]
        assert spec["columns"] == columns


def test_no_letter_of_a_published_chart_is_too_small_on_a_telephone(published):
    for figure in (figure for figure in published if figure.form != "wide"):
        svg = vega.svg(figure.spec, "light")
        width = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
        letters = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)]
        assert min(letters) * min(1.0, PHONE / width) >= SMALLEST, figure.name


def test_no_letter_of_a_golden_chart_is_too_small_on_a_telephone(golden):
    kinds = Counter(name.split("/")[1].split(".")[0] for name in golden)
    assert {"samples", "watched", "ladder", "amortised"} <= kinds.keys()
    narrow = {name for name in golden if name.removesuffix(".json") + ".narrow.json" in golden}
    for name in golden.keys() - narrow:
        svg = vega.svg(golden[name], "light")
        width = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
        letters = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)]
        assert min(letters) * min(1.0, PHONE / width) >= SMALLEST, name


def test_what_may_not_be_quoted_is_hollow_and_the_picture_says_so():
    doubtful = Point(series="a", row="b", value=2.0, text="2x", solid=False)
    drawn = vega.svg(plots.plot(Chart(caption="", across="rate", points=(doubtful,))), "light")
    assert "Hollow: not to be quoted" in drawn
    sure = Point(series="a", row="b", value=2.0, text="2x")
    assert "Hollow" not in vega.svg(plots.plot(Chart(caption="", across="rate", points=(sure,))), "light")


def test_lines_are_named_at_their_ends_on_a_wide_screen_and_in_a_legend_on_a_telephone():
    one = chart("first", "second", joined=True)
    wide, narrow = (vega.svg(plots.plot(one, narrow), "light") for narrow in (False, True))
    assert "role-legend" not in wide
    assert "role-legend" in narrow
    for drawn in (wide, narrow):
        assert all(f">{name}<" in drawn for name in ("first", "second"))


def test_names_at_the_ends_of_lines_stand_apart_and_stay_in_the_chart():
    ends = [Label(text=name, x=100, y=y) for name, y in (("a", 3.0), ("b", 5.0), ("c", 4.0), ("d", 90.0))]
    placed = labels.at_ends(ends)
    assert not any(one.touches(other) for one, other in combinations(placed, 2))
    assert [label.text for label in placed] == ["d", "b", "c", "a"], "in the order of the lines"
    assert min(label.y + label.moved for label in placed) >= 0


def test_a_point_is_named_only_where_its_name_covers_no_mark():
    one, other = Label(text="first", x=0, y=50), Label(text="second", x=200, y=50)
    assert [label.text for label in labels.with_room([one, other], [(20, 50)], 400)] == ["second"]
    assert [label.text for label in labels.with_room([one, other], [], 210)] == ["first"]


@pytest.mark.parametrize(
    ("values", "most", "ticks"),
    [
        ([1, 2, 4, 16], 8, [1, 2, 4, 16]),
        ([3.0, 90.0], 8, [5, 10, 20, 50]),
        ([30.0, 400.0], 8, [50, 100, 200]),
        ([0.001, 900.0], 8, [0.001, 0.01, 0.1, 1, 10, 100]),
        ([1.1, 1.9], 8, [1.2, 1.5]),
        ([1.0, 1e12], 5, [1, 1000, 1e6, 1e9, 1e12]),
    ],
)
def test_ticks_stand_at_numbers_that_people_count_with(values, most, ticks):
    shown = [tick for tick in axes.ticks(values, most) if values[0] <= tick <= values[-1]]
    assert shown == ticks


def test_an_axis_of_seconds_has_units_and_none_that_reads_as_minutes():
    points = tuple(Point(series="a", row=f"{value}", value=value, text="t") for value in (2e-5, 0.004, 0.2, 3.0))
    drawn = vega.svg(plots.plot(Chart(caption="", across="latency", points=points, seconds=True)), "light")
    said = re.findall(r">([^<>]+)</text>", drawn)
    assert {"100 µs", "1 ms", "100 ms", "1 s"} <= set(said)
    assert not [text for text in said if re.fullmatch(r"\d+m", text)]


def test_ratios_have_an_x_and_a_label_at_a_hundred():
    points = tuple(Point(series="a", row=f"{value}", value=value, text="t") for value in (0.5, 300.0))
    drawn = vega.svg(plots.plot(Chart(caption="", across="ratio", points=points, level=1.0)), "light")
    assert {"1x", "10x", "100x"} <= set(re.findall(r">([^<>]+)</text>", drawn))


def titled(*points, **changes):
    one = Chart(caption="", across="batch, log scale", up="", points=points, **changes)
    return next(experiment_figures.drawn("one", one, "", {"mnist_mlp": "MNIST"})).title


def test_a_title_names_the_least_and_the_greatest_value_by_names_for_people():
    low, high = (Point(series="a", row=name, value=value, text=text)
                 for name, value, text in (("mnist_mlp", 2.0, "2x"), ("other", 9.0, "9x")))  # fmt: skip
    assert titled(low, high, finding="It is {span} as fast") == "It is 2x (MNIST) to 9x (other) as fast"
    assert titled(low, high, finding="Up to {most}") == "Up to 9x (other)"
    assert titled(low) == "2x (MNIST)"


def test_a_title_prefers_what_may_be_quoted_and_counts_it():
    sure = Point(series="a", row="sure", value=2.0, text="2x")
    doubtful = Point(series="a", row="doubtful", value=9.0, text="9x", solid=False)
    assert titled(sure, doubtful) == "2x (sure) to 9x (doubtful); 1 of 2 may be quoted"
    more = Point(series="a", row="more", value=3.0, text="3x")
    assert titled(sure, more, doubtful) == "2x (sure) to 3x (more), counting only the 2 of 3 that may be quoted"
    assert titled(doubtful) == "9x (doubtful); not to be quoted yet"


def test_a_title_of_sizes_says_them_in_words():
    points = [Point(series="mnist_mlp", at=at, value=at, text=f"{at:g}x") for at in (1.0, 32.0)]
    assert titled(*points, joined=True) == "1x (MNIST, batch 1) to 32x (MNIST, batch 32)"


def test_a_heat_map_is_titled_by_its_brightest_square():
    squares = [Square(panel="mnist_mlp, GPU", row=f"{n}", column="8", value=1.0 * n, text=f"{n}") for n in (1, 2, 4)]
    one = HeatMap(caption="", across="batch", up="workers", squares=tuple(squares))
    (figure,) = experiment_figures.drawn("one", one, "", {"mnist_mlp": "MNIST"})
    assert figure.title == "Fastest: 4 (MNIST, GPU, 4 workers, batch 8)"


def test_the_table_of_a_chart_has_each_number_once_and_no_label():
    text = vega.drawing.csv_table(plots.plot(chart("first", "second", joined=True)))
    assert len(text.splitlines()) == 1 + 2 * 3
    assert "moved" not in text


def test_no_interval_shines_through_a_hollow_mark_on_the_ground_of_either_palette():
    points = (Point(series="a", row="b", value=3.0, low=2.0, high=4.0, text="3x", solid=False),)
    css = (ROOT / "site" / "assets" / "css" / "embed.css").read_text(encoding="utf-8")
    light, dark, *_ = re.findall(r"--ground: (#[0-9a-f]{6})", css)
    for palette, ground in (("light", light), ("dark", dark)):
        picture = vega.svg(plots.plot(Chart(caption="", across="x", points=points)), palette)
        assert 0 < picture.index('opacity="0.7"') < picture.index(f'fill="{ground}"')  # the interval is drawn first


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(("rows", "sides"), [(3, []), (40, ["bottom", "top"])])
def test_a_tall_chart_has_its_axis_above_the_rows_too(rows, sides, narrow):
    points = tuple(Point(series="", row=f"model {i}", value=i + 1.0, text=f"{i}") for i in range(rows))
    spec = plots.plot(Chart(caption="", across="ratio", points=points, level=1.0), narrow)
    axes = [layer["encoding"]["x"].get("axis") for layer in spec["layer"] if "field" in layer["encoding"].get("x", {})]
    assert [axis["orient"] for axis in axes if axis and "orient" in axis] == sides
    assert any(axes)


def test_a_leader_to_a_name_has_no_series_colour():
    points = tuple(
        Point(series=name, at=at, value=value)
        for name, ends in {"short": (1.0, 10.0), "long": (1.0, 1e6)}.items()
        for at, value in zip(ends, (1.0, 2.0), strict=True)
    )
    chart = Chart(caption="", across="batch", up="speed", points=points, joined=True)
    (lead,) = [each for each in plots.plot(chart)["layer"] if each["mark"].get("strokeDash") == [1, 4]]
    assert "color" not in lead["encoding"]
    assert lead["mark"]["color"] == "#888888"

"""Pages are found by being there and show values safely; coverage is counted; a narrow chart can be read."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import factory
import msgspec
import pytest
from jinja2 import UndefinedError

from suite.report import pages
from suite.report.charts import ladder, plots, vega
from suite.report.pages import coverage
from suite.report.parts import ladder_figures, rungs, telemetry, templates
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.results.pooled import pools as pooled
from suite.results.pooled import speedup
from suite.results.pooled.speedup import pooled_speedups
from suite.results.views.experiment_result import Chart, ExperimentResult, Point
from suite.results.views.table import Cell, Table

PAGES = Path(pages.__file__).parent
TEMPLATES = PAGES.parent / "templates"
EVIL = "<script>alert(1)</script> {{ 7 * 7 }} [a](javascript:b) *c* \u202e"
NEW = """
def files(facts):
    return {"new.md": f"{len(facts.records)} records"}
"""


def counted(monkeypatch, module, name):
    calls, real = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: calls.append(given) or real(*given))
    return calls


def test_a_new_page_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "new_page.py").write_text(NEW)
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    assert "new_page" in pages.names()
    assert pages.files(Facts(records=[factory.record()]))["new.md"] == "1 records"


def test_two_pages_that_make_the_same_file_are_refused(tmp_path, monkeypatch):
    (tmp_path / "second_home.py").write_text(NEW.replace("new.md", "index.md"))
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    with pytest.raises(ValueError, match=r"page 'second_home' makes 'index\.md', as another page does"):
        pages.files(Facts(records=()))


def test_no_page_imports_another_and_the_site_names_none():
    for path in [*PAGES.glob("*.py"), *(PAGES.parent / "site").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("suite.report.pages"), path.name


def test_pools_and_speedups_are_computed_once_for_all_pages(monkeypatch):
    pooling, dividing = counted(monkeypatch, pooled, "pools"), counted(monkeypatch, speedup, "of_pools")
    pages.files(Facts(records=factory.campaign()))
    assert (len(pooling), len(dividing)) == (1, 1)


def test_numbers_are_of_what_is_published_alone():
    mine = factory.campaign()
    facts = Facts(records=mine, local=frozenset({mine[0].campaign}))
    assert facts.speedups
    assert facts.numbers.current == {}


def test_a_template_makes_a_value_safe_that_no_page_has_touched():
    cell = Cell(text=EVIL, remark=EVIL)
    table = Table(title=EVIL, columns=(EVIL, "b"), rows=((cell, cell), (cell, Cell(text="1"))), notes=(EVIL,))
    parts = templates.parts("a.md")
    for made in (parts.table(table, folded=EVIL), parts.heading(EVIL), parts.facts([(EVIL, EVIL)])):
        assert "&#60;script&#62;" in made
        assert not any(mark in made for mark in ("<script", "{{", "](", "*c", "\u202e"))


def test_html_takes_in_text_made_safe_and_html_as_it_is():
    made = Html("<b>{}</b>{}").format("<i>*", Html("<u>"))
    assert made == "<b>&#60;i&#62;&#42;</b><u>"
    assert isinstance(made, Html)


def test_a_value_that_a_page_forgot_is_an_error_and_no_gap():
    with pytest.raises(UndefinedError, match="title"):
        templates.render("a.md", template="page.md.j2", content="")


def test_no_template_calls_data_safe():
    there = {path.name: path.read_text() for path in TEMPLATES.glob("*.j2")}
    assert len(there) > 10
    assert [name for name, text in there.items() if "safe" in text or "autoescape" in text] == []


def test_peak_memory_of_host_and_gpu_is_the_most_of_the_processes():
    sizes = ((2**30, 2**20), (3 * 2**30, 2**21), (9 * 2**30, 2**29))
    runs = [
        msgspec.structs.replace(run, peak_memory_bytes=host, device_memory_bytes=gpu)
        for run, (host, gpu) in zip(factory.record().runs, sizes, strict=True)
    ]
    runs[2] = msgspec.structs.replace(runs[2], reason="it failed")
    record = msgspec.structs.replace(factory.record(backend="gpu"), runs=tuple(runs))
    (row,) = telemetry.memory_table([record, factory.record()]).rows
    assert [cell.text for cell in row[1:]] == ["step", "3.00 GiB", "2.00 MiB"]
    assert "<caption>Peak memory" in factory.pages([record])["workloads/mnist_mlp.md"]
    assert telemetry.memory_table([factory.record()]).rows == ()


ABOUT = factory.description()
ODD = msgspec.structs.replace(factory.PLAIN, name="odd, 2 cores", cores=2)


def cells(*records):
    """The numbers of each machine by column."""
    made = coverage.measured(records, [ABOUT, factory.description("cifar10_mlp")])
    return {row[0].text: {c: cell.text for c, cell in zip(made.columns[1:], row[1:], strict=True)} for row in made.rows}


def test_models_are_counted_by_machine_backend_scope_and_precision():
    found = cells(
        factory.record(machine=factory.HOST),
        factory.record(machine=factory.HOST, backend="gpu"),
        factory.record("cifar10_mlp", machine=factory.HOST, backend="gpu"),
        factory.record(machine=factory.HOST, backend="gpu", precision="tf32"),
        factory.record(machine=ODD, scope="epoch"),
        factory.record("ceiling_copy", machine=ODD),
    )
    assert found == {
        factory.HOST.name: {"CPU step": "1", "CPU epoch": "–", "GPU step": "2", "GPU step, TF32": "1"},
        ODD.name: {"CPU step": "–", "CPU epoch": "1", "GPU step": "–", "GPU step, TF32": "–"},
    }


def test_what_failed_and_what_is_none_of_the_headlines_is_not_counted():
    failed = msgspec.structs.replace(factory.record(backend="gpu"), runs=(), reason="out of memory")
    others = [
        factory.record(scope="cold", **changes)
        for changes in ({"batch": 64}, {"implementation": "torch"}, {"variant": "scan"})
    ]
    assert cells(factory.record(), failed, *others) == {factory.HOST.name: {"CPU step": "1"}}


def test_the_better_allocator_counts_once():
    assert cells(*(factory.record(allocator=each) for each in ("tuned-malloc", "default-malloc"))) == {
        factory.HOST.name: {"CPU step": "1"}
    }


def test_an_experiment_names_the_machines_that_answered():
    result = ExperimentResult(answers=("an answer",))
    made = coverage.answered({"size": [(factory.HOST, result), (ODD, result)], "threads": []})
    assert [row[2].text for row in made.rows] == [f"{factory.HOST.name}; odd, 2 cores", "–"]


def test_the_page_links_its_machines():
    page = coverage.files(Facts(records=[factory.record()], catalogue=[ABOUT]))["coverage.md"]
    assert f'href="machines/{factory.HOST.slug}.html"' in page
    assert "of 1<" in page


def test_the_coverage_pages_first_sentences_count_every_machine_once():
    records = [factory.record(), factory.record(implementation="torch", machine=ODD)]
    page = coverage.files(Facts(records=records, catalogue=[ABOUT]))["coverage.md"]
    assert "Models were timed on 1 machine; 1 of them timed all 1. 1 more has records" in page
    assert "more ha" not in coverage.files(Facts(records=records[:1], catalogue=[ABOUT]))["coverage.md"]


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
    amounts = ladder_figures.marks(rungs.rungs(pooled_speedups(records)))
    for narrow in (False, True):
        *_, panel = ladder.ladder(*amounts, narrow)["vconcat"]
        said = [label for label in labels(panel) if re.fullmatch(r"10*x", label["said"])]
        places = sorted(map(ends, said))
        assert len(places) >= 2
        assert all(one[1] < other[0] for one, other in pairwise(places))


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


def test_all_models_stand_on_one_page_with_both_names_and_what_a_step_of_each_gains():
    alone = factory.record("host", "cpu")
    page = factory.pages([*factory.on_hosts(factory.campaign(("mnist_mlp",))), alone])["models.md"]
    for name in ("mnist_mlp", "host"):
        shown = name.replace("_", "&#95;")
        assert f'<a href="workloads/{name}.html">Title of {shown}</a>' in page
        assert f'<a href="workloads/{name}.html">{shown}</a>' in page
    assert "a step on test-gpu, 16 cores</th>" in page
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    assert [len(re.findall(r"\d+\.\dx<", row)) for row in rows] == [0, 0, 1]

"""The site renders whatever records there are, and harms nobody who reads it."""

import csv
import hashlib
import html
import io
import json
import math
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import altair as alt
import factory
import msgspec
import pytest
import yaml
from altair.utils import schemapi
from altair.utils.schemapi import SchemaValidationError
from golden.__main__ import RECORDS, legible
from markdown import Markdown

from suite import ceilings, experiments, models, units
from suite.report.charts import drawing, ladder, plots, slim, timeline, vega
from suite.report.pages import home as home_page
from suite.report.parts import ladder_figures, one_campaign, overview, rungs, tables, templates
from suite.report.parts.facts import Facts
from suite.report.site import below, build, hook, page_html, pages
from suite.results.compare.reproducibility import GPU, Answer, Reproducibility
from suite.results.pooled.speedup import pooled_speedups
from suite.results.records import acceptance, store
from suite.results.records.machine import Software
from suite.results.records.run import Energy, GpuTelemetry, Moment, Telemetry
from suite.results.records.store import sealed
from suite.results.stats.shares import Share
from suite.results.views.experiment_result import Chart, Point
from suite.scopes import Scope
from suite.workload import WholeRun

ROOT = Path(__file__).parent.parent
HERE = factory.HOST.slug
HOSTILE = "<script>alert(1)</script>|[x](javascript:alert(1))`{{7*7}}`&"


def copied(folder):
    """Return the folder with the pages written by hand in it, and nothing rendered."""
    generated = shutil.ignore_patterns("records", *pages.GENERATED)
    shutil.copytree(ROOT / "site", folder / "site", ignore=generated)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("checkout"))


def rendered(folder, *records, local=()):
    shutil.rmtree(folder / "site" / "records", ignore_errors=True)
    shutil.rmtree(folder / "records", ignore_errors=True)
    for record in records:
        store.add(record, folder / "site" / "records")
    for record in local:
        store.add(record, folder / "records")
    return pages.render((folder / "site" / "records", folder / "records"), folder / "site")


def built(folder):
    build.build(folder)
    return (folder / "build" / "html" / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of one campaign, rendered and built once; nobody writes into it."""
    folder = copied(tmp_path_factory.mktemp("site"))
    rendered(folder, *factory.campaign())
    built(folder)
    return folder / "build" / "html"


def test_words_stand_on_the_left_and_numbers_with_their_intervals_on_the_right():
    columns = ("model", "machine", "step", "95 % interval", "remark")
    texts = (("a", "h", 3, "2 ms to 4 GFLOP/s", "16 cores of a processor"), ("b", "i", 4, "–", "3 epochs"))
    rows = tuple(
        (tables.Cell(text=name), tables.Cell(text=where), tables.Cell(text=f"about {time} ms", sort=time / 1000),
         tables.Cell(text=within), tables.Cell(text=said))
        for name, where, time, within, said in texts
    )  # fmt: skip
    text = templates.parts("t.md").table(tables.Table(title="t", columns=columns, rows=rows))
    heads = re.findall(r'<th scope="col"(?: class="(text)")?>', text)
    assert heads == ["", "text", "", "", "text"]
    assert '<td class="text short">h</td>' in text
    assert '<td class="text phrase">16 cores of a processor</td>' in text
    assert '<td data-sort="0.003">about 3 ms</td>\n<td>2 ms to 4 GFLOP/s</td>' in text


def test_shares_in_rows_stand_on_a_whole_scale_and_long_names_in_lines():
    points = tuple(Point(series="", row=f"{name}\n10 epochs\ndata", value=2.0, text="2 %") for name in "ab")
    drawn = plots.plot(Chart(caption="", across="busy, %", points=points, whole=100.0))
    encoding = drawn["layer"][0]["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0, 100]
    assert "type" not in encoding["x"]["scale"]
    assert drawn["height"] == 2 * (3 * 16 + 10)
    for line in ("10 epochs", "data"):
        assert vega.svg(drawn, "light").count(f">{line}<") == 2


def test_shares_over_a_scale_go_up_to_the_whole_evenly():
    points = tuple(Point(series="", at=at, value=60.0, text="60 %") for at in (1.0, 100.0))
    drawn = plots.plot(Chart(caption="", across="fits", up="busy, %", points=points, whole=100.0))
    encoding = drawn["layer"][0]["encoding"]
    assert encoding["y"]["scale"]["domain"] == [0, 100]
    assert "type" not in encoding["y"]["scale"]
    assert encoding["x"]["scale"]["type"] == "log"


def test_the_search_finds_what_articles_say_and_no_number(site):
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    texts = {one["location"]: one["text"] for one in found}
    assert "Training on MNIST takes all of the CPU" in texts["ledger.html#observations"]
    assert {place.partition("#")[0] for place in texts if place.startswith("numbers/")} == {"numbers/index.html"}
    assert not any("torch eager" in text for place, text in texts.items() if place.startswith(("workloads", "index")))


def test_no_title_has_an_entity_which_the_search_would_break():
    about = factory.description("net", title="It's a network")
    page = factory.pages(factory.campaign(("net",), about=about))["workloads/net.md"]
    assert 'title: "It’s a network"' in page
    assert "<h1>It’s a network</h1>" in page


def test_five_tabs_hold_every_page_that_is_one_of_a_kind_once(site):
    tabs = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert [name for tab in tabs for name in tab] == ["Answers", "Models", "Machines", "Method", "Cite"]
    pages = [page for tab in tabs for pages in tab.values() for page in pages]
    listed = [page if isinstance(page, str) else next(iter(page.values())) for page in pages]
    pages = [f"{path.stem}.md" for path in site.glob("*.html") if path.stem != "404"]
    assert sorted(listed) == sorted([*pages, "answers/index.md", "machines/index.md", "numbers/index.md"])
    folders = {"workloads": "Models", "machines": "Machines", "experiments": "Answers", "answers": "Answers"}
    for folder, tab in folders.items():
        for path in (each for each in (site / folder).glob("*.html") if each.stem != "index"):
            where = re.search(r'<nav class="where".*?</nav>', path.read_text(encoding="utf-8"))[0]
            assert re.sub("<[^>]*>", "", where) == tab


def test_every_model_has_a_name_for_people_of_its_own():
    titles = [models.load(name).description.title for name in models.names()]
    assert len(set(titles)) == len(titles)
    assert not [title for title in titles if "_" in title or " " not in title]


def test_of_a_model_s_several_data_sets_the_usual_one_counts_everywhere():
    data = ("embedded", "tfds")
    records = [factory.record(backend=side, step_seconds=[t] * 3, data=one)
               for one, ratio in zip(data, (4.0, 8.0), strict=True)
               for side, t in (("cpu", ratio), ("gpu", 1.0))]  # fmt: skip
    (step,) = rungs.rungs(pooled_speedups(records))
    assert (step.mean, step.by_workload["mnist_mlp"].case.data) == (pytest.approx(4.0), "embedded")


def test_sources_and_output_are_kept_apart():
    settings = (ROOT / "mkdocs.yml").read_text()
    assert re.search(r"^docs_dir: site$", settings, re.MULTILINE)
    assert re.search(r"^site_dir: build/html$", settings, re.MULTILINE)
    plugins = yaml.safe_load(settings)["plugins"]
    assert {name for each in plugins for name in ([each] if isinstance(each, str) else each)} == {"search", "offline"}


def test_vendored_scripts_are_what_the_manifest_says():
    folder = ROOT / "site" / "assets" / "js"
    for item in json.loads((folder / "vendored.json").read_text()):
        assert hashlib.sha256((folder / item["file"]).read_bytes()).hexdigest() == item["sha256"], item["file"]
        assert (folder / item["licence_file"]).is_file()


def test_the_built_home_answers_and_links_its_records(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    assert "the geometric mean of 2 models" in home
    assert "records.html?mnist_mlp.gpu.step#20260101-000000-test" in home


def test_terms_of_the_method_page_stand_apart_from_what_they_mean(site):
    page = (site / "method.html").read_text(encoding="utf-8")
    source = (ROOT / "site" / "method.md").read_text(encoding="utf-8")
    assert "<dt>host</dt>" in page
    assert len(re.findall("<dd>", page)) == len(re.findall(r"^:   ", source, re.MULTILINE))


def test_nothing_on_the_site_is_fetched_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe|source)[^>]+src="(https?:[^"]+)"', text)
        loaded += re.findall(r'<link[^>]+rel="(?:stylesheet|preconnect|icon)"[^>]+href="(https?:[^"]+)"', text)
        assert loaded == [], path


def test_no_record_at_all_still_gives_a_site(checkout):
    rendered(checkout)
    assert "nox -s bench" in built(checkout)


def test_a_machine_without_gpu_is_set_beside_others_as_a_different_host(checkout):
    lonely = factory.record(machine=factory.PLAIN, campaign="20260102-000000-mine")
    rendered(checkout, *factory.campaign(), local=[lonely])
    home = built(checkout)
    assert "Different host" in home
    assert "local/20260102-000000-mine/mnist_mlp.cpu.step.json" in home


def test_what_was_published_is_shown_as_published_though_it_lies_here_too(checkout):
    lonely = factory.record(machine=factory.PLAIN, campaign="20260102-000000-mine")
    rendered(checkout, *factory.campaign(), local=[*factory.campaign(), lonely])
    files = (checkout / "site" / "local").glob("*/*.json")
    assert [path.parent.name for path in files] == ["20260102-000000-mine"]


@pytest.mark.parametrize(
    ("cpu", "gpu", "said"),
    [
        ((1.05, 1.051, 1.049), (0.01, 0.01001, 0.00999), "105x"),
        ((0.97, 1.07, 1.18), (0.01, 0.01001, 0.00999), "107x"),
        ((1.05, 1.051, 1.049), (0.007, 0.01, 0.015), "100x"),
        ((1.05,), (0.007, 0.01, 0.015), "100x"),
        ((1.05,), (0.01,), "105x"),
    ],
)
def test_a_ratio_to_another_host_has_no_digit_that_the_two_times_do_not_allow(cpu, gpu, said):
    there = [factory.record(step_seconds=cpu, machine=factory.PLAIN), factory.record(backend="gpu", step_seconds=gpu)]
    (row,) = tables.elsewhere(there, factory.PLAIN.slug).rows
    assert row[3].text == said
    assert row[3].sort == pytest.approx(math.prod(cpu) ** (1 / len(cpu)) / math.prod(gpu) ** (1 / len(gpu)), rel=0.01)


@pytest.mark.parametrize("side", [0, 1])
def test_what_makes_no_sense_is_not_set_against_another_host(side):
    there = [factory.record(machine=factory.PLAIN), factory.record(backend="gpu")]
    assert tables.elsewhere(there, factory.PLAIN.slug).rows
    wrong = tuple(msgspec.structs.replace(run, compilations=1) for run in there[side].runs)
    there[side] = msgspec.structs.replace(there[side], runs=wrong)
    assert not tables.elsewhere(there, factory.PLAIN.slug).rows


@pytest.mark.parametrize("short", ["cpu", "gpu"])
def test_a_side_that_lacks_a_round_is_not_set_beside_another_machines(short):
    cpu, gpu = factory.record(machine=factory.PLAIN), factory.record(machine=factory.HOST, backend="gpu")
    assert len(tables.elsewhere([cpu, gpu], factory.PLAIN.slug).rows) == 1
    sides = [msgspec.structs.replace(side, rounds=99) if side.backend == short else side for side in (cpu, gpu)]
    assert not tables.elsewhere(sides, factory.PLAIN.slug).rows


def test_a_machine_without_gpu_that_has_timed_no_step_has_no_empty_table():
    about = factory.description(run=WholeRun(epochs=2, train=1000))
    home = factory.pages([factory.record(scope="run", machine=factory.PLAIN, about=about)])["index.md"]
    assert "<tbody></tbody>" not in home
    assert "machines/test-cpu-4-cores.html" in home


def test_the_page_of_a_machine_without_gpu_has_the_gpus_of_others():
    small = msgspec.structs.replace(factory.PLAIN, name="test-cpu, 2 cores", cores=2)
    steps = [
        factory.record("mnist_mlp", "cpu", [0.010] * 3, small),
        factory.record("mnist_mlp", "cpu", [0.008] * 3, small, allocator="default-malloc"),
        factory.record("mnist_mlp", "cpu", [0.004] * 3, factory.PLAIN),
        factory.record("cifar10_mlp", "cpu", [0.006] * 3, factory.PLAIN),
        factory.record("cifar10_mlp", "cpu", [0.001] * 3, factory.PLAIN, batch=4),
    ]
    made = factory.pages([*steps, *factory.campaign()])
    assert "Different host" not in made["index.md"]
    assert "Different host" in made["machines/test-cpu-2-cores.md"]
    (own, _) = tables.without_gpu([*steps, *factory.campaign()], small.slug)
    assert own.columns[:5] == ("model", "implementation", "batch", "time", "95 % interval")  # the system's allocator
    (own, _) = tables.without_gpu([*steps, *factory.campaign()], factory.PLAIN.slug)
    assert own.columns[:4] == ("model", "batch", "time", "95 % interval")
    assert own.title == f"One step of JAX on the CPU of {factory.PLAIN.name}"
    baselines = [
        msgspec.structs.replace(r, case=msgspec.structs.replace(r.case, implementation="torch")) for r in steps
    ]
    cold = [msgspec.structs.replace(r, case=msgspec.structs.replace(r.case, scope="cold")) for r in steps]
    (theirs, *_) = tables.without_gpu([*baselines, *cold], small.slug)
    assert theirs.columns[1] == "implementation"
    assert "JAX" not in theirs.title
    assert '<a href="../machines/test-gpu-16-cores.html">' in made["machines/test-cpu-2-cores.md"]
    assert "Different host" not in made["machines/test-gpu-16-cores.md"]


def test_of_several_machines_with_the_same_gpu_a_cpu_stands_beside_the_newest_step():
    pair = msgspec.structs.replace(factory.HOST, name="2x test-gpu, 32 cores", gpus=(factory.H100, factory.H100))
    other = msgspec.structs.replace(factory.HOST, name="other, 16 cores", gpus=(replaced_gpu("Other GPU"),))
    old = factory.record("mnist_mlp", "gpu", [0.002] * 3, created="2026-01-01T00:00:00Z")
    new = factory.record("mnist_mlp", "gpu", [0.001] * 3, pair, created="2026-01-02T00:00:00Z")
    apart = factory.record("mnist_mlp", "gpu", [0.004] * 3, other, created="2025-01-02T00:00:00Z")
    cpu = factory.record("mnist_mlp", "cpu", [0.010] * 3, factory.PLAIN)
    for order in ([old, new], [new, old]):
        rows = tables.elsewhere([cpu, *order, apart], factory.PLAIN.slug).rows
        assert {row[4].text: row[2].text for row in rows} == {pair.name: "1.00 ms", other.name: "4.02 ms"}


def replaced_gpu(name):
    return msgspec.structs.replace(factory.H100, name=name)


def test_a_machine_timed_on_its_gpus_alone_says_what_a_speed_up_needs_and_names_equal_gpus_once():
    pair = msgspec.structs.replace(factory.HOST, name="2x test-gpu, 32 cores", gpus=(factory.H100, factory.H100))
    alone = [item for item in factory.campaign(machine=pair) if item.backend == "gpu"]
    page = factory.pages(alone)["machines/2x-test-gpu-32-cores.md"]
    assert "No speed-up yet" in page
    assert "No machine with a GPU" not in page
    assert page.count("GPU memory") == 1
    assert f"2 x {factory.H100.name}" in page


def test_a_machine_without_gpu_lists_jax_once_a_way_with_its_better_allocator():
    times = {"tuned-malloc": 0.010, "default-malloc": 0.008}
    records = [
        factory.record("mnist_mlp", "cpu", [seconds] * 3, factory.PLAIN, allocator=allocator, **axes)
        for allocator, seconds in times.items()
        for axes in ({}, {"variant": "nnx-jit"}, {"implementation": "torch"})
    ]
    table = tables.steps_table("title", records)
    assert [row[1].text for row in table.rows] == ["cpu jax default-malloc", "cpu jax nnx-jit default-malloc"]
    alone = tables.steps_table("title", [r for r in records if r.case.implementation == "torch"])
    assert [row[1].text for row in alone.rows] == ["cpu torch default-malloc"]


def terminal(records):
    return tables.for_terminal(records, HERE, one_campaign.table(records))


def test_times_of_one_side_alone_are_listed_for_what_they_are():
    for backend in ("cpu", "gpu"):
        (table,) = terminal([factory.record(backend=backend)])
        assert "needs times of both" in table.title
        assert [row[1].text for row in table.rows] == [f"{backend} jax"]


def test_fits_at_once_have_their_batch_beside_a_fit_alone():
    about = models.load("mnist_grid_search").description
    alone = factory.record(about.name, "cpu", about=about, batch=32)
    stacked = factory.record(about.name, "cpu", about=about, batch=192, variant="stacked")
    columns = [terminal(group)[0].columns for group in ([stacked], [alone, stacked])]
    assert ["batch" in each for each in columns] == [False, True]


def test_a_batch_that_is_not_the_headlines_is_named_where_a_run_ends():
    usual, larger = factory.record(), factory.record(batch=4096)
    columns = [terminal(records)[0].columns for records in ([usual], [usual, larger])]
    assert ["batch" in each for each in columns] == [False, True]
    both = [factory.record(backend=side, batch=4096) for side in ("cpu", "gpu")]
    (table,) = terminal(both)
    assert table.rows[0][table.columns.index("batch")].text == "4,096"


@pytest.mark.parametrize("scope", ["transfer", "cold", "run", "calls"])
def test_a_run_ends_with_the_times_of_every_scope(scope):
    records = [factory.record(backend=backend) for backend in ("cpu", "gpu")]
    for main in (records[:1], records):
        found = terminal([*main, factory.record(scope=scope)])
        assert [len(table.rows) for table in found] == [1, 1]
        assert found[0].title != found[1].title
        assert found[1].rows[0][1].text == "cpu jax"
    (alone,) = terminal([factory.record(scope=scope)])
    assert "steady state" not in alone.title


def test_a_whole_run_that_smoke_cut_short_is_called_that_and_no_documented_one():
    cut = factory.record(scope="run", profile="smoke")
    whole = factory.record("cifar10_mlp", scope="run")
    found = {table.title: [row[0].text for row in table.rows] for table in terminal([cut, whole])}
    assert found["The documented whole runs"] == ["cifar10_mlp"]
    assert found["Whole runs that profile smoke cut short, none as documented"] == ["mnist_mlp"]
    assert "it only shows that it runs" in tables.case_table("title", [cut]).rows[0][-1].remark
    about = factory.description(run=WholeRun(epochs=2, train=1000))
    pair = [factory.record(scope="run", backend=side, profile="smoke", about=about) for side in ("cpu", "gpu")]
    assert "2 epochs of 1,000 examples" not in factory.pages(pair)["workloads/mnist_mlp.md"]


def test_a_run_of_several_precisions_ends_with_a_column_that_tells_them_apart():
    precisions = ("float32-highest", "tf32")
    records = [factory.record(backend="gpu", precision=precision) for precision in precisions]
    (table,) = terminal(records)
    assert sorted(row[table.columns.index("precision")].text for row in table.rows) == sorted(precisions)
    (table,) = terminal(records[:1])
    assert "precision" not in table.columns


def test_hostile_text_in_a_record_is_harmless(checkout):
    about = factory.description(
        title=HOSTILE,
        differs=(HOSTILE,),
        optimizer=HOSTILE,
        source=msgspec.structs.replace(factory.description().source, author=HOSTILE, address="javascript:alert(1)"),
    )
    host = msgspec.structs.replace(factory.HOST, cpu_model=HOSTILE)
    watched = Telemetry(seconds=1.0, readings=1, reason=HOSTILE, gpus=(GpuTelemetry(reasons=(HOSTILE,)),))
    runs = (factory.run(0, 0.01, telemetry=watched, energy=Energy(seconds=1.0, reason=HOSTILE)),)
    hostile = [factory.record(backend=side, about=about, machine=host, runs=runs) for side in ("cpu", "gpu")]
    assert rendered(checkout, *hostile).problems == ()
    built(checkout)
    assert (checkout / "build" / "html" / "workloads" / "mnist_mlp.html").is_file()
    for path in (checkout / "build" / "html").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<script>alert" not in text
        assert 'href="javascript:' not in text
        assert "{{7*7}}" not in text


def test_a_difference_from_the_source_names_scopes_as_code():
    about = factory.description(differs=("So does scope `run`, <b>not</b> `<i>`.", "One ` alone."))
    page = factory.pages([factory.record(about=about)])["workloads/mnist_mlp.md"]
    assert "<li>So does scope <code>run</code>, &#60;b&#62;not&#60;/b&#62; <code>&#60;i&#62;</code>.</li>" in page
    assert "<li>One &#96; alone.</li>" in page


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "<b>", "A B"])
def test_a_name_that_no_page_may_have_is_left_out_and_said(checkout, monkeypatch, name):
    bad = msgspec.structs.replace(factory.record(), workload=name, digest="")
    monkeypatch.setattr(store, "load", lambda _: ((bad,), ()))
    outcome = pages.render((checkout / "site" / "records",), checkout / "site")
    assert outcome.problems == (f"a record of campaign {bad.campaign!r} has a name that no page may have; not shown",)
    assert not list((checkout / "site" / "workloads").glob("*"))


def test_an_unreadable_record_is_said_and_the_rest_is_shown(checkout):
    rendered(checkout, *factory.campaign())
    (checkout / "site" / "records" / "20260101-000000-test" / "broken.json").write_text("{")
    outcome = pages.render((checkout / "site" / "records",), checkout / "site")
    assert len(outcome.problems) == 1
    assert "broken.json" in outcome.problems[0]


def test_pages_that_did_not_change_are_not_written_again(checkout):
    rendered(checkout, *factory.campaign())
    assert pages.render((checkout / "site" / "records",), checkout / "site").written == ()


def test_every_experiment_has_a_page_that_the_page_of_answers_links(checkout):
    rendered(checkout, *swept())
    built(checkout)
    listed = (checkout / "build" / "html" / "answers" / "index.html").read_text(encoding="utf-8")
    for name in experiments.names():
        page = (checkout / "build" / "html" / "experiments" / f"{name}.html").read_text(encoding="utf-8")
        assert f'href="../experiments/{name}.html"' in listed
        assert f"suite run --experiment {name}" in html.unescape(page)
    sweep = (checkout / "build" / "html" / "experiments" / "batch.html").read_text(encoding="utf-8")
    assert "the GPU wins is not separated from the noise, of the 4 batches that were timed" in sweep  # of one host
    assert "../records.html?mnist_mlp.gpu.step.batch-64#20260102-000000-sweep" in sweep
    assert "experiments.batch.test-gpu-16-cores.dark.svg" in sweep


def test_an_experiment_moves_nothing_on_the_home_page_but_the_questions_it_answers():
    before = factory.pages(factory.campaign())
    others = [record for record in swept() if record.case.batch != record.description.batch]
    after = factory.pages((*factory.campaign(), *others))
    questions = re.compile(r'<h2 id="questions">.*?</ul>', re.DOTALL)
    days = re.compile(r'"(temporalCoverage|dateModified)":"[^"]*"')  # of all records, for search engines
    now, then = (days.sub("", questions.sub("", legible(pages["index.md"]))) for pages in (after, before))
    assert now == then
    asked = ["what-does-the-batch-size-do.html" in questions.search(pages["index.md"])[0] for pages in (before, after)]
    assert asked == [False, True]
    assert after["experiments/batch.md"] != before["experiments/batch.md"]


def test_a_machine_without_ceilings_says_why_its_shares_are_empty():
    page = factory.pages(factory.campaign())["machines/test-gpu-16-cores.md"]
    assert "ceiling of float32-highest products and memory not measured on this GPU" in page
    assert "suite run --experiment roofline" in page


def test_a_ceiling_is_on_its_machines_page_and_has_none_of_its_own():
    about = ceilings.load("ceiling_matmul").description
    found = factory.pages((*factory.campaign(), factory.record("ceiling_matmul", "gpu", about=about)))
    assert "workloads/ceiling_matmul.md" not in found
    assert "Matrix products" in found["machines/test-gpu-16-cores.md"]
    assert "ceiling" not in found["index.md"]


def swept():
    """A sweep over the batch as the experiment leaves it, in which the GPU wins from 64 on; newer than all else."""
    when = {"campaign": "20260102-000000-sweep", "created": "2026-01-02T00:00:00Z"}
    made = [
        factory.record("mnist_mlp", side, [seconds, 1.01 * seconds, 0.99 * seconds], batch=batch, **when)
        for batch, ratio in ((16, 0.25), (64, 1.0), (128, 2.0), (256, 4.0))
        for side, seconds in (("cpu", 1e-3), ("gpu", 1e-3 / ratio))
    ]
    return tuple(sealed(msgspec.structs.replace(record, experiment="batch")) for record in made)


def _models(records):
    """Return the panel of the headline chart that has the models, of records of one machine."""
    amounts = rungs.rungs(pooled_speedups(records))
    return ladder.ladder(*ladder_figures.marks(amounts))["vconcat"][-1]


def test_a_speed_up_that_may_not_be_quoted_is_drawn_hollow():
    whole = factory.on_hosts(factory.campaign(("mnist_mlp",)))
    bare = [record for record in whole if record.case.implementation == "jax"]
    marks = [
        [layer["mark"]["filled"] for layer in _models(records)["layer"] if layer["mark"]["type"] == "point"]
        for records in (whole, bare)
    ]  # fmt: skip
    assert marks == [[True], [False]]


def test_the_interval_is_drawn_and_the_article_s_claim_beside_it():
    layers = _models(factory.on_hosts(factory.campaign(("mnist_mlp",))))["layer"]
    (bar,) = [layer for layer in layers if layer["mark"]["type"] == "rule" and "x2" in layer["encoding"]]
    (row,) = [row for row in bar["data"]["values"] if row["series"] == "a step"]
    assert row["low"] < row["value"] < row["high"]
    (tick,) = [layer for layer in layers if layer["mark"]["type"] == "tick"]
    assert [(each["row"], each["text"]) for each in tick["data"]["values"]] == [
        ("Title of mnist_mlp", "13.29x, whole run")
    ]


def test_each_series_of_the_ladder_has_a_colour_and_a_shape_of_its_own_in_both_palettes():
    series = [name for name, *_ in rungs._RUNGS]
    means = [Point(series=name, value=2.0, text="2.0x, 2 models") for name in series]
    points = [Point(series=name, row=row, value=3.0, text="3.0x") for row in "ab" for name in series]
    for narrow in (False, True):
        spec = ladder.ladder(means, points, [], narrow)
        for palette in ("light", "dark"):
            drawn = vega.svg(spec, palette)
            marks = re.findall(r'<path aria-label="[^"]*what: ([^;"]*)[^>]*aria-roledescription="point"[^>]*>', drawn)
            looks = {
                (name, re.search(r' d="([^"]*)"', mark)[1], re.search(r'fill="(#[^"]*)"', mark)[1])
                for name in series
                for mark in re.findall(rf'<path aria-label="[^"]*what: {name};[^>]*>', drawn)
            }
            assert set(marks) == set(series)
            assert [len({look[place] for look in looks}) for place in range(3)] == [len(series)] * 3


def test_the_legend_that_stays_in_sight_has_the_colours_of_the_marks_in_both_palettes():
    css = (ROOT / "site" / "assets" / "css" / "suite.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"(?<!\] )\.(mark-\d) { fill: (#\w+); }", css))
    dark = light | dict(re.findall(r'"slate"\] \.(mark-\d) { fill: (#\w+); }', css))
    for palette, shown in (("light", light), ("dark", dark)):
        colours = vega.config(palette)["range"]["category"]
        assert shown == {f"mark-{place}": colours[place] for place in range(len(ladder.SHAPES))}


def test_of_two_near_marks_each_has_its_number_and_an_article_s_tick_has_one_too():
    means = [Point(series=name, value=2.0, text="2.0x") for name in ("a step", "batch copied")]
    points = [
        Point(series="a step", row="a", value=30.0, text="30x"),
        Point(series="batch copied", row="a", value=33.0, text="33x"),
    ]
    claims = [Point(series="reported: x", row="a", value=159.0, text="159x, training")]
    for narrow in (False, True):
        drawn = vega.svg(ladder.ladder(means, points, claims, narrow), "light")
        assert all(f">{text}</text>" in drawn for text in ("30x", "33x", "159x"))


def test_the_home_page_s_chart_is_a_png_too_which_its_page_and_its_embedded_one_link(site):
    picture = (site / "charts" / "speedups.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5_000
    for page, address in (("index", "charts/speedups.png"), ("embed/charts/speedups", "../../charts/speedups.png")):
        assert f'href="{address}" download' in (site / f"{page}.html").read_text(encoding="utf-8")


@pytest.mark.browser
def test_no_name_beside_the_ladder_s_marks_is_cut_in_the_browser_s_own_font(tmp_path, browser):
    rows = [f"Cats and dogs, {count} convolutions and dropout, no augmentation" for count in ("two", "three")]
    means = [Point(series="a step", value=2.0, text="2.0x, 2 models")]
    points = [Point(series="a step", row=row, value=3.0, text="3.0x") for row in rows]
    (tmp_path / "drawn.svg").write_text(vega.svg(ladder.ladder(means, points, []), "light"), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "drawn.svg").as_uri())
    lefts = page.evaluate("[...document.querySelectorAll('text')].map(text => text.getBoundingClientRect().left)")
    page.close()
    assert len(lefts) > len(rows)
    assert min(lefts) >= 0


def test_published_records_are_whole():
    _, problems = store.load([ROOT / "site" / "records"])
    assert problems == ()


def test_the_picture_in_the_readme_is_what_the_records_come_to_today():
    def marks(drawn):
        found = re.finditer(
            r'<path aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="point"[^>]*>', drawn
        )
        return {mark[1]: ' fill="#ffffff"' in mark[0] for mark in found}

    now = home_page.picture(store.load([ROOT / "site" / "records"])[0])
    shown = (ROOT / "site" / "assets" / "speedups.svg").read_text(encoding="utf-8")
    assert set(marks(now).values()) == {True, False}
    assert marks(shown) == marks(now), "suite publish draws it anew"


def test_the_machine_with_most_speed_ups_is_shown_first_and_the_others_are_linked():
    small = msgspec.structs.replace(factory.HOST, name="aaa, 2 cores")
    records = [*factory.campaign(), *factory.campaign(("mnist_mlp",), small, campaign="20260102-000000-b",
                                                      created="2026-01-02T00:00:00Z")]  # fmt: skip
    assert overview.first(pooled_speedups(records)) == factory.HOST.slug
    files = factory.pages(records)
    home = files["index.md"]
    assert f'<a href="machines/{small.slug}.html">' in home
    assert f'<a href="machines/{factory.HOST.slug}.html" aria-current=true>' in home
    assert "aria-label=" in home
    assert f"charts/speedups.{small.slug}.json" in files
    assert f'class="lead">On {small.name}, one step of' in files[f"machines/{small.slug}.md"]


def test_a_model_s_page_begins_with_the_machine_of_the_home_page_though_another_has_more_hosts():
    other = msgspec.structs.replace(factory.KNOWN, name="many-hosts, 8 cores", cores=8, cpu_number=208)
    records = [*factory.campaign(), *factory.hosts(5, machine=other)]
    assert overview.first(pooled_speedups(records)) == factory.HOST.slug
    page = factory.pages(records)["workloads/mnist_mlp.md"]
    assert f'class="lead">On {factory.HOST.name}, a step' in page
    assert page.index(f"machines/{factory.HOST.slug}.html") < page.index(f"machines/{other.slug}.html")


def test_every_machine_is_listed_with_its_gpu_and_the_generation_of_its_processor():
    numbered = msgspec.structs.replace(factory.KNOWN, cpu_model="Intel(R) Xeon(R) Processor", cpu_number=207)
    without = msgspec.structs.replace(
        factory.HOST, name="a-cpu, 2 cores", gpus=(), cores=2, virtual=True, cpu_model="AMD EPYC, family 26 model 2"
    )
    table = factory.pages([*factory.hosts(3, machine=numbered), factory.record(machine=without)])["machines/index.md"]
    first, second = (
        re.sub(r"<[^>]*>|\n", "|", row) for row in re.findall(r"<tr>\n<th scope='row'>.*?</tr>", table, re.DOTALL)
    )
    assert "NVIDIA H100 80GB HBM3" in first
    assert "Intel Xeon (Emerald Rapids)" in first
    assert "|none|" in second
    assert "AMD EPYC (Turin)" in second
    assert "|2 virtual|" in second


def test_a_machine_s_mean_is_of_enough_models_and_in_brackets_if_it_may_not_be_quoted():
    def page(records):
        return factory.pages(records)["machines/index.md"]

    def mean(records):
        return re.findall(r"<td[^>]*>(?:<a[^>]*>)?([^<]*)", page(records))[:2]

    names = ("mnist_mlp", "cifar10_mlp", "mnist_cnn", "cifar10_tf_cnn", "imdb_bilstm")
    assert mean(factory.on_hosts(factory.campaign(names))) == ["130x", "5"]
    assert mean(factory.campaign(names)) == ["(130x)", "5"]
    few = page(factory.on_hosts(factory.campaign(names[1:])))
    assert "Without a value: speed-up of a step (a mean is of at least 5 models)." in few


def test_of_as_many_speed_ups_the_machine_with_more_to_quote_is_shown_first():
    sure = msgspec.structs.replace(factory.KNOWN, name="zzz, 16 cores")
    once = factory.campaign(("mnist_mlp",), created="2027-01-01T00:00:00Z")
    more = factory.campaign(("mnist_mlp",), precision="tf32")
    assert overview.first(pooled_speedups([*once, *more, *factory.hosts(machine=sure)])) == sure.slug
    wider = factory.campaign(("mnist_mlp", "mnist_cnn"))
    assert overview.first(pooled_speedups([*wider, *factory.hosts(machine=sure)])) == factory.HOST.slug


def test_every_row_of_the_first_table_says_what_it_can_be_filtered_by():
    table = overview.table(pooled_speedups(factory.campaign()))
    assert "GPU precision" not in table.columns
    assert table.title.endswith("float32-highest")
    both = overview.table(pooled_speedups([*factory.campaign(), *factory.campaign(precision="tf32")]))
    assert both.columns.index("GPU precision") == both.columns.index("batch") + 1
    assert [row[both.columns.index("batch")].text for row in both.rows] == ["128"] * len(both.rows)
    assert len(table.facets) == len(table.rows) > 0
    assert {tuple(facets) for facets in table.facets} == {("scope", "family", "precision", "batch")}
    page = factory.pages(factory.campaign())["index.md"]
    assert (
        'data-filters="scope family precision batch" data-first-scope="step" data-first-precision="float32-highest"'
        in page
    )
    assert page.count('<tr data-scope="step"') == len(table.rows)


def test_a_column_of_several_scopes_says_of_each_what_its_time_is_of():
    assert {scope: tables.scope_cell(scope).text for scope in get_args(Scope)} == {
        "step": "step", "transfer": "transfer, a step", "epoch": "epoch, a step", "input": "input, a batch",
        "cold": "cold, in total", "run": "run, in total", "calls": "calls, a call", "learning": "learning, in total",
        "serve": "serve, an answer", "kernels": "kernels, a step", "written": "written, a step",
    }  # fmt: skip
    records = [factory.record(backend=side, step_seconds=[t] * 3, scope=scope)
               for scope in ("step", "epoch", "cold") for side, t in (("cpu", 2.0), ("gpu", 1.0))]  # fmt: skip
    for table in (overview.table(pooled_speedups(records)), tables.case_table("all", records)):
        place = table.columns.index("scope")
        assert {row[place].text for row in table.rows} == {"step", "epoch, a step", "cold, in total"}
    assert {facets["scope"] for facets in overview.table(pooled_speedups(records)).facets} == {"step", "epoch", "cold"}


def fact(name, records):
    page = factory.pages(records)["machines/test-gpu-16-cores.md"]
    return re.search(rf"<dt>{name}</dt>\s*<dd>([^<]*)<", page)[1]


def test_a_package_that_had_several_versions_says_in_how_many_campaigns():
    later = {"campaign": "20260102-x", "created": "2026-01-02T00:00:00Z"}
    old, newer = (
        msgspec.structs.replace(factory.record(**when), software=Software(
            suite="0", python=python, packages={"jax": "0.12.0", "torch": torch}, settings={}))
        for python, torch, when in (("3.12.1", "2.13.0", {}), ("3.12.3", "2.14.0", later))
    )  # fmt: skip
    records = [old, *factory.campaign(), newer]
    assert fact("torch", records) == "2.13.0 in 1 campaign, 2.14.0 in 1 campaign"
    assert fact("Python", records[:-1]) == "3.12.1"
    assert fact("Python", records) == "3.12.1 in 1 campaign, 3.12.3 in 1 campaign"


def test_a_machine_whose_memory_was_not_always_the_same_says_in_how_many_campaigns():
    def memory(*records):
        return fact("memory", records)

    smaller = msgspec.structs.replace(factory.HOST, memory_bytes=2**36)
    others = [factory.record(backend=side, machine=smaller, campaign=f"2026010{n}-x", created=f"2026-01-0{n}T00:00:00Z")
              for n in (2, 3) for side in ("cpu", "gpu")]  # fmt: skip
    assert memory(*factory.campaign()) == "128 GiB"
    assert memory(*factory.campaign(), *others) == "64.0 GiB in 2 campaigns, 128 GiB in 1 campaign"


def test_cases_of_several_campaigns_say_of_which_each_is():
    old, new = factory.record(), factory.record(scope="cold", created="2026-01-02T00:00:00Z", campaign="20260102-x")
    table = tables.case_table("all", [old, new])
    place = table.columns.index("began, UTC")
    assert {row[place].text for row in table.rows} == {"2026-01-01 00:00", "2026-01-02 00:00"}
    assert all(row[place].text[:10] == row[table.columns.index("time")].record.created[:10] for row in table.rows)
    assert len(table.notes) == 2
    one = tables.case_table("all", [old, factory.record(scope="cold")])
    assert ("began, UTC" in one.columns, one.notes) == (False, table.notes[:1])


@pytest.mark.parametrize("side", ["cpu", "gpu"])
def test_the_fastest_baseline_stands_beside_a_speed_up_with_its_hosts(side):
    def cell(*baselines):
        records = [factory.record(), factory.record(backend="gpu"), *baselines]
        table = overview.table(pooled_speedups(factory.on_hosts(records)))
        return table.rows[0][table.columns.index(f"{side.upper()}: baseline / JAX")]

    ways = [
        factory.record(backend=side, step_seconds=[seconds] * 3, variant=variant, implementation="torch")
        for seconds, variant in ((0.015, "plain"), (0.012, "compile"))
    ]
    assert cell().text == units.DASH
    assert cell(*ways).text == "1.20x torch compile"
    assert "time of the fastest baseline over JAX's, of 3 hosts; 95 % interval" in cell(*ways).remark


def test_a_site_of_a_smoke_run_alone_says_that_it_times_nothing_and_shows_its_times():
    files = factory.pages(factory.campaign(profile="smoke"))
    for page in ("index.md", f"machines/{HERE}.md"):
        assert "Profile smoke times nothing: it only shows that it runs." in files[page]
        assert "<strong>" not in files[page].split("</p>")[0]
    assert "it only shows that it runs" in files["workloads/mnist_mlp.md"]
    assert vega.FOLDER + "/speedups.json" not in files


@pytest.mark.browser
def test_further_columns_come_by_a_switch_that_stands_in_the_address(checkout, browser):
    rendered(checkout, *factory.on_hosts(factory.campaign()))
    built(checkout)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((checkout / "build" / "html" / "index.html").as_uri())
    heads = page.locator("table.results[data-more] thead th:visible")
    assert heads.all_inner_texts() == ["model", "speed-up", "95\u00a0% interval", "status", "next host", "CPU", "GPU"]
    page.get_by_label("more columns").check()
    assert "columns=all" in page.url
    assert "best / best" in heads.all_inner_texts()
    page.reload()
    assert "best / best" in heads.all_inner_texts()
    page.get_by_label("more columns").uncheck()
    assert "columns" not in page.url
    page.close()
    bare = browser.new_page(java_script_enabled=False)
    bare.goto((checkout / "build" / "html" / "index.html").as_uri())
    assert "best / best" in bare.locator("table.results thead th:visible").all_inner_texts()
    bare.close()


@pytest.mark.browser
def test_a_narrow_screen_gets_a_chart_with_names_above_the_marks(checkout, browser):
    rendered(checkout, *factory.campaign())
    built(checkout)
    for width, shown in ((1280, "wide"), (360, "narrow")):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto((checkout / "build" / "html" / "index.html").as_uri())
        figures = [each for each in page.locator("figure.chart").all() if each.is_visible()]
        assert [each.get_attribute("class").split()[1] for each in figures] == [shown]
        page.close()


@pytest.mark.browser
def test_what_a_table_is_filtered_by_stands_in_the_address(checkout, browser):
    cold = [factory.record(name, backend, [t] * 3, scope="cold") for name in ("mnist_mlp", "cifar10_mlp")
            for backend, t in (("cpu", 2.0), ("gpu", 4.0))]  # fmt: skip
    rendered(checkout, *(r for r in factory.campaign() if r.case.scope == "step"), *cold)
    built(checkout)
    address = (checkout / "build" / "html" / "index.html").as_uri()
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    rows = page.locator("table.results[data-filters] tbody tr:visible")
    assert (rows.count(), page.locator("form.filters output").inner_text()) == (2, "2 of 4")
    page.get_by_role("combobox", name="scope").select_option("cold")
    assert {row.get_attribute("data-scope") for row in rows.all()} == {"cold"}
    assert "scope=cold" in page.url
    page.reload()
    assert {row.get_attribute("data-scope") for row in rows.all()} == {"cold"}
    page.goto(f"{address}?scope=all")
    assert rows.count() == 4
    page.goto(f"{address}?scope=nonsense&batch=<script>")
    assert rows.count() == 4
    off = browser.new_page(java_script_enabled=False)
    off.goto(address)
    assert off.locator("table.results[data-filters] tbody tr:visible").count() == 4


@pytest.mark.browser
@pytest.mark.parametrize("place", ["index.html", "experiments/batch.html", "answers/what-does-the-batch-size-do.html"])
def test_a_page_works_from_a_file_light_dark_and_narrow(checkout, browser, place):
    rendered(checkout, *factory.campaign(), *swept())
    built(checkout)
    address = (checkout / "build" / "html" / place).as_uri()
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 360)):
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        asked, errors = [], []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        page.on("console", lambda m, errors=errors: errors.append(m.text) if m.type == "error" else None)
        page.goto(address)
        picture = f"figure.chart:not(.wide) img[src$='only-{scheme}']"
        chart = page.locator("figure.chart .live svg" if width > 600 else picture).first
        chart.wait_for(state="visible", timeout=20_000)
        assert chart.bounding_box()["height"] > 60
        assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
        assert errors == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if width > 600:
            page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            head = page.locator("table.results thead th:visible").nth(4)
            head.click()
            assert head.get_attribute("aria-sort") in ("ascending", "descending")
        page.close()


def test_a_picture_is_drawn_again_only_when_its_chart_has_changed(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(drawing, "drawn", lambda specs: drawn.extend(specs) or ["<svg/>" for _ in specs])
    files = vega.Figure(name="one", spec={"mark": "point"}, caption="", alternative="").files
    made = ("charts/one.json", "charts/one.light.svg", "charts/one.dark.svg", "charts/one.csv")
    assert pages.write(files, tmp_path) == made
    assert pages.write(files, tmp_path) == ()
    assert len(drawn) == 1
    (tmp_path / "charts" / "one.dark.svg").unlink()
    assert pages.write(files, tmp_path) == made
    assert (
        pages.write(vega.Figure(name="one", spec={"mark": "rule"}, caption="", alternative="").files, tmp_path) == made
    )
    assert len(drawn) == 3
    pages.write({}, tmp_path)
    assert not list((tmp_path / "charts").iterdir())


def test_pictures_are_drawn_again_when_the_code_that_draws_has_changed(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(drawing, "drawn", lambda specs: drawn.extend(specs) or ["<svg/>" for _ in specs])

    def write() -> tuple[str, ...]:
        vega.drawn_by.cache_clear()
        return pages.write(
            vega.Figure(name="one", spec={"mark": "point"}, caption="", alternative="").files, tmp_path / "site"
        )

    assert len(write()) == 4
    assert write() == ()
    for module in (drawing, slim, vega):
        edited = tmp_path / Path(module.__file__).name
        edited.write_bytes(Path(module.__file__).read_bytes() + b"# edited")
        monkeypatch.setattr(module, "__file__", str(edited))
        assert "charts/one.light.svg" in write()
    assert len(drawn) == 4
    vega.drawn_by.cache_clear()


def test_tables_and_charts_never_pass_through_markdown_and_stand_where_they_stood():
    records, _ = store.load([RECORDS])
    texts = {name: text for name, text in factory.pages(records).items() if name.endswith(".md")}
    names = ("attr_list", "def_list", "md_in_html", "pymdownx.superfences", "tables", "toc")
    placed = 0
    for name, text in texts.items():
        unsearched = "  exclude: true" in text.partition("\n---\n")[0]
        page = SimpleNamespace(file=SimpleNamespace(src_uri=name), meta={"search": {"exclude": unsearched}})
        short = hook.on_page_markdown(text, page=page)
        placed += short.count("data-finished")
        html, whole = (Markdown(extensions=names).convert(each) for each in (short, text))
        assert "<table" not in short or "data-search-exclude>" not in short
        assert '<figure class="chart' not in short
        assert not unsearched or "<table" not in short
        assert hook.on_post_page(html, page=page) == whole
    assert placed > 20


def test_a_picture_in_dark_is_the_one_in_light_with_other_colours():
    records, _ = store.load([RECORDS])
    files = factory.pages(records)
    specs = [json.loads(text) for name, text in files.items() if name.startswith("charts/")]
    assert len(specs) > 5
    names = {"field": "name", "type": "nominal"}
    every = {"mark": "bar", "data": {"values": [{"name": name} for name in "abcdef"]}, "encoding": {"color": names}}
    for spec in (*specs, every):  # the last one has every colour
        assert vega.recoloured(vega.svg(spec, "light")) == vega.svg(spec, "dark")


def test_several_processes_draw_the_same_pictures_in_the_same_order(monkeypatch):
    specs = [json.dumps({"mark": "point", "width": 10 + place, "data": {"values": []}}) for place in range(41)]
    monkeypatch.setattr(drawing, "_cores", lambda: 1)
    alone = drawing.drawn(specs)
    monkeypatch.setattr(drawing, "_cores", lambda: 2)
    monkeypatch.setattr(drawing, "_drawn_here", lambda _: pytest.fail("drawn in this process"))
    assert drawing.drawn(specs) == alone
    with pytest.raises(RuntimeError, match=r"^20 charts were not drawn: .*[Ee]rror"):
        drawing.drawn(["no specification" for _ in range(40)])


def test_what_stands_beside_the_pages_is_copied_where_it_changed_and_goes_with_its_source(tmp_path):
    site, made, out = (tmp_path / name for name in ("site", "pages", "html"))
    texts = {
        site / "records" / "one" / "a.json": "a", site / "records" / "one" / ".writing-1": "draft",
        site / "charts" / "b.svg": "b", site / "numbers" / "c.md": "no page", site / "index.md": "no page",
        made / "index.html": "<head>3 ms", made / "numbers" / "c.html": "<head>",
    }  # fmt: skip
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def gathered():
        build._copy(build._beside(site), out)
        build._copy(below(made), out)
        build._remove_others(out, build._beside(site).keys() | {"index.html", "numbers/c.html"})

    gathered()
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert found == {"records/one/a.json", "charts/b.svg", "index.html", "numbers/c.html"}
    assert "Content-Security-Policy" in (out / "index.html").read_text()
    untouched = {path: path.stat().st_ctime_ns for path in out.rglob("*") if path.is_file()}
    (site / "charts" / "b.svg").unlink()
    (site / "records" / "one" / "a.json").write_text("z")  # as long as before
    os.utime(site / "records" / "one" / "a.json", (1, 1))
    gathered()
    touched = {path.name for path, at in untouched.items() if not path.exists() or path.stat().st_ctime_ns != at}
    assert touched == {"a.json", "b.svg"}
    assert (out / "records" / "one" / "a.json").read_text() == "z"
    assert not (out / "charts" / "b.svg").exists()


def test_charts_are_checked_in_tests_and_not_where_people_wait():
    chart = alt.Chart(alt.Data(values=[])).mark_point()
    chart.width = "nonsense"
    with pytest.raises(SchemaValidationError):
        vega.finished(chart)
    with schemapi.debug_mode(False):
        assert vega.finished(chart)["width"] == "nonsense"


def test_a_chart_can_be_taken_away_as_a_table():
    records = factory.on_hosts(factory.campaign())
    found = list(csv.DictReader(io.StringIO(drawing.csv_table(_models(records)))))
    measured = {row["row"]: row for row in found if row["series"] == "a step"}
    items = [item for item in pooled_speedups(records) if item.headline]
    assert set(measured) == {f"Title of {item.workload}" for item in items}
    assert float(measured[f"Title of {items[0].workload}"]["value"]) == items[0].ratio.value
    (row,) = [row for row in found if row["series"].startswith("reported") and row["row"] == "Title of mnist_mlp"]
    assert row["text"] == "13.29x, whole run"


def test_a_table_draws_each_row_once_and_gives_spreadsheets_nothing_to_compute():
    rows = [{"name": "=HYPERLINK(1)", "value": 1.5, "solid": True}, {"name": "b", "value": None, "solid": False}]
    layers = [{"data": {"values": rows}}, {"data": {"values": rows[:1]}}, {"data": {"values": [{"value": 1}]}}]
    expected = "name,value,solid\n'=HYPERLINK(1),1.5,yes\nb,,no\n"
    assert drawing.csv_table({"vconcat": [{"layer": layers}]}) == expected


def test_a_table_with_a_sign_that_is_not_ascii_says_to_spreadsheets_that_it_is_utf_8():
    def table(name):
        return drawing.csv_table({"data": {"values": [{"name": name, "value": 1}]}}).encode()

    assert table("GPU, W") == b'name,value\n"GPU, W",1\n'
    assert table("GPU, °C") == b'\xef\xbb\xbfname,value\n"GPU, \xc2\xb0C",1\n'
    assert table("GPU, °C").decode("utf-8-sig") == 'name,value\n"GPU, °C",1\n'


def test_what_the_machine_did_over_time_is_drawn_of_the_process_that_was_watched_longest():
    def watched(seconds, moments):
        course = tuple(Moment(seconds=float(i), cpu_utilisation=0.5, gpu_watts=300.0) for i in range(moments))
        return factory.run(0, 0.01, telemetry=Telemetry(seconds=seconds, readings=moments, course=course))

    records = [
        factory.record("mnist_mlp", "cpu", runs=(watched(5.0, 6),)),
        factory.record("mnist_mlp", "gpu", runs=(watched(9.0, 8),)),
        factory.record("mnist_mlp", "gpu", runs=(watched(99.0, 2),), scope="cold"),
    ]
    found = timeline.longest(records)
    assert found is not None
    assert (found[0].backend, found[1].telemetry.seconds) == ("gpu", 9.0)
    files = factory.pages(records)
    assert "watched.mnist_mlp.test-gpu-16-cores.light.svg" in files["workloads/mnist_mlp.md"]
    rows = list(csv.DictReader(io.StringIO(drawing.csv_table(timeline.chart(found[1])).removeprefix("\ufeff"))))
    assert {tuple(name for name, value in row.items() if value) for row in rows} == {
        ("seconds", "CPU, % of granted cores"),
        ("seconds", "GPU power, W"),
    }
    assert timeline.longest(factory.campaign()) is None


def test_an_idle_gpu_is_drawn_at_0_of_1_not_of_millionths():
    course = tuple(Moment(seconds=float(i), cpu_utilisation=0.5, gpu_utilisation=0.0) for i in range(3))
    run = factory.run(0, 0.01, telemetry=Telemetry(seconds=3.0, readings=3, course=course))
    cpu, gpu = (panel["encoding"]["y"] for panel in timeline.chart(run)["vconcat"])
    assert "scale" not in cpu
    assert gpu["scale"] == {"domain": [0, 1]}


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>from -59 % to 35 %)</p>", "<p>from -59\u00a0% to 35\u00a0%)</p>"),
        (
            "<p>in 5 min 09 s, 1.37 k of 80 GB at 2 GHz</p>",
            "<p>in 5\u00a0min 09\u00a0s, 1.37\u00a0k of 80\u00a0GB at 2\u00a0GHz</p>",
        ),
        ("<p>16 workers, 4 hosts, 3 k/s, 2 x</p>", "<p>16 workers, 4 hosts, 3 k/s, 2\u00a0x</p>"),
        ('<i title="5 %">a</i><code>sleep 5 s</code>', '<i title="5 %">a</i><code>sleep 5 s</code>'),
        ("<script>if (5 < 6 && 3 % 2) {}</script>", "<script>if (5 < 6 && 3 % 2) {}</script>"),
    ],
)
def test_a_number_stays_on_one_line_with_its_unit(html, shown):
    assert page_html.unbroken(html) == shown


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<ul>\n\n    <li>mnist&#95;mlp</li>\n  \n</ul>", "<ul>\n<li>mnist_mlp</li>\n</ul>"),
        ('<i title="a\n\n  b&#95;c">d  e</i>', '<i title="a\n\n  b_c">d  e</i>'),
        ("<pre>a\n\n  b</pre>", "<pre>a\n\n  b</pre>"),
        ('<script>"&#95;"\n\n;</script>\n\n', '<script>"&#95;"\n\n;</script>\n'),
        ("<textarea>\n\n a</textarea>", "<textarea>\n\n a</textarea>"),
    ],
)
def test_blank_lines_and_escaped_underscores_leave_a_page_but_not_what_is_verbatim(html, shown):
    assert page_html.compact(html) == shown


def test_the_home_page_says_how_its_machine_stands_among_others():
    elsewhere = msgspec.structs.replace(factory.HOST, name="small box, 2 cores", gpus=())
    small = factory.record(backend="cpu", step_seconds=[0.5] * 3, machine=elsewhere)
    made = factory.pages([*factory.campaign(), small])["index.md"]
    assert "as long on this CPU as on that of small box, 2 cores" in made
    assert "as long on this CPU" not in factory.pages(factory.campaign())["index.md"]


def test_the_home_page_says_how_often_numbers_hold_on_the_next_machine(monkeypatch):
    assert "trust.html" not in factory.pages(factory.campaign())["index.md"]
    inside = Share(value=0.75, low=0.2, high=1.0, trials=4)
    again = Reproducibility(answers=(Answer(side="CPU", hosts=2, inside=inside),))
    monkeypatch.setattr(Facts, "reproducibility", again)
    made = factory.pages(factory.campaign())["index.md"]
    words = again.words.removesuffix(".")
    assert f'<p class="note">{words}, over all machines. <a href="trust.html">' in made
    own = Answer(side=GPU, machine=factory.HOST.name, hosts=2, inside=Share(value=0.5, low=0, high=1, trials=4))
    monkeypatch.setattr(Facts, "reproducibility", Reproducibility(answers=(*again.answers, own)))
    assert ", over all machines; on this GPU 50 % of 4 times did." in factory.pages(factory.campaign())["index.md"]


def test_cases_stand_with_jax_first_plain_ones_before_variants_and_batches_by_their_number():
    given = [
        factory.record(implementation="torch"),
        factory.record(variant="nnx-jit", batch=1024),
        factory.record(variant="nnx-jit", batch=256),
        factory.record(precision="bfloat16"),
        factory.record(batch=1024),
        factory.record(batch=256),
    ]
    table = tables.case_table("all", given)
    cases = [row[table.columns.index("time")].record.case for row in table.rows]
    assert [(case.implementation, case.variant, case.batch, case.precision) for case in cases] == [
        ("jax", "plain", 256, "float32-highest"),
        ("jax", "plain", 1024, "float32-highest"),
        ("jax", "nnx-jit", 256, "float32-highest"),
        ("jax", "nnx-jit", 1024, "float32-highest"),
        ("jax", "plain", 128, "bfloat16"),
        ("torch", "plain", 128, "float32-highest"),
    ]


def test_a_message_that_ends_in_at_is_not_said_with_two():
    with pytest.raises(ValueError, match=r"not JSON: Unterminated string starting at line 1 column 2$"):
        acceptance.parsed(b'["a')

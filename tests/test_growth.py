"""What does not change is not made again: pages, pictures and ranks, counted by calls and not by the clock."""

import shutil
from itertools import pairwise

import factory
import msgspec
import pytest
from growth import __main__ as growth
from test_site import copied

from suite.report.parts import placing
from suite.report.site import below, build, pages, put, unchanged
from suite.results.pooled import grouping, pools
from suite.results.stats import variance_components
from suite.results.stats.variance_components import Components


def publish(records, folder):
    growth.publish(records, folder / "site" / "records")
    return pages.render([folder / "site" / "records"], folder / "site").written


def content(folder):
    return {name: path.read_bytes() for name, path in below(folder).items()}


def built(folder):
    """Build; return the pages that MkDocs built, without those of the navigation, which are built each time."""
    build.build(folder)
    pages = (name for name in below(folder / "build" / "pages") if name.endswith(".html") and "/" in name)
    return {name for name in pages if not name.endswith("/index.html")}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = copied(tmp_path_factory.mktemp("growth"))
    publish(growth.records(20), folder)
    build.build(folder)
    return folder


@pytest.fixture
def copy(checkout, tmp_path):
    return shutil.copytree(checkout, tmp_path / "copy")


def test_after_one_more_campaign_only_its_pages_are_built_and_the_site_is_as_from_nothing(copy):
    publish(growth.records(10, first=2), copy)
    new = built(copy)
    assert {name for name in new if name.startswith("machines/")} == {"machines/machine-0002-16-cores.html"}
    assert "workloads/mnist_mlp.html" in new
    assert not any("step" in name for name in new)
    before = content(copy / "build" / "html")
    shutil.rmtree(copy / "build")
    assert len(built(copy)) > len(new)
    assert content(copy / "build" / "html") == before


@pytest.mark.slow
def test_a_page_is_built_again_when_what_builds_it_or_what_was_built_is_another(copy, monkeypatch):
    assert built(copy) == set()
    (copy / "build" / "html" / "machines" / "machine-0000-16-cores.md").unlink()
    assert built(copy) == {"machines/machine-0000-16-cores.html"}
    (copy / "site" / "cards" / "mnist_mlp.png").unlink()
    assert "numbers/mnist_mlp.html" in built(copy)
    monkeypatch.setenv("SITE_URL", "https://example.org/")
    every = built(copy)
    assert len(every) > 20
    monkeypatch.delenv("SITE_URL")
    with (copy / "mkdocs.yml").open("a") as file:
        file.write("copyright: me\n")
    assert built(copy) == every
    monkeypatch.setattr(unchanged, "_code", lambda: "another")
    assert built(copy) == every


def test_another_meaning_in_the_glossary_builds_every_page_again(tmp_path):
    glossary = tmp_path / "glossary.md"
    glossary.write_text("# Glossary\n\nhost\n: One machine.\n")
    before = unchanged.builder(tmp_path)
    assert unchanged.builder(tmp_path) == before
    glossary.write_text("# Glossary\n\nhost\n: A machine at one time.\n")
    assert unchanged.builder(tmp_path) != before


def test_nothing_is_kept_of_a_build_that_failed(copy):
    (copy / "site" / "reading.md").write_text("# A page\n\n[elsewhere](nowhere.md)\n")
    with pytest.raises(RuntimeError, match=r"nowhere\.md"):
        build.build(copy)
    shutil.copy(growth.ROOT / "site" / "reading.md", copy / "site" / "reading.md")
    assert len(built(copy)) > 20


def test_after_one_more_campaign_only_its_pictures_are_drawn(copy, monkeypatch):
    drawn = []
    one_by_one = pages.vega.made
    monkeypatch.setattr(pages.vega, "made", lambda specs: drawn.extend(specs) or one_by_one(specs))
    written = publish(growth.records(10, first=2), copy)
    machines = [name for name in written if name.startswith("charts/") and "machine-" in name]
    assert machines
    assert all("machine-0002" in name for name in machines)
    assert len(drawn) == sum(name.endswith(".json") and name.startswith("charts/") for name in written)
    assert publish([], copy) == ()
    assert len(drawn) == sum(name.endswith(".json") and name.startswith("charts/") for name in written)


def test_a_picture_of_the_built_site_is_a_link_until_the_sources_have_another(checkout, copy):
    name = next(name for name in content(checkout / "build" / "html") if name.endswith(".light.svg"))
    picture, shown = copy / "site" / name, copy / "build" / "html" / name
    assert (checkout / "site" / name).samefile(checkout / "build" / "html" / name)
    shutil.rmtree(copy / "build" / "html" / "charts")
    build.build(copy)
    before = shown.read_bytes()
    put(picture, "<svg>another</svg>")
    assert shown.read_bytes() == before
    build.build(copy)
    assert shown.read_text() == "<svg>another</svg>"


def test_pictures_are_copied_on_a_file_system_without_links(copy, monkeypatch):
    def refuse(*paths):
        raise OSError("no links")

    monkeypatch.setattr(build.os, "link", refuse)
    before = content(copy / "build" / "html")
    shutil.rmtree(copy / "build" / "html" / "charts")
    build.build(copy)
    assert content(copy / "build" / "html") == before


def test_the_seconds_of_a_process_are_computed_once_for_all_pools(monkeypatch):
    calls = []
    seconds = grouping.step_seconds
    monkeypatch.setattr(grouping, "step_seconds", lambda run, method: calls.append(1) or seconds(run, method))
    records = growth.records(20)
    for _ in range(2):
        for pool in pools.pools(records):
            assert pool.by_host
    assert len(calls) == sum(len(record.runs) for record in records)


def test_a_kind_with_enough_hosts_asks_no_other_kind():
    own = Components(tau2=0.01, sigma2=0.01, degrees=100.0, cells=100)
    assert own.enough
    assert variance_components.borrowed(own, (pytest.fail("asked") for _ in range(1)), 0.0) is own


def test_a_machine_is_ranked_with_as_many_calls_whether_ten_or_forty_others_are_alike(monkeypatch):
    calls = []
    times = placing._times
    monkeypatch.setattr(placing, "_times", lambda *sides: calls.append(1) or times(*sides))

    def ranked(machines):
        calls.clear()
        steps = placing.headlines(factory.current(growth.records(10 * machines)))
        places = {name: placing.place(steps, name) for name in steps["gpu"].of}
        return places, len(calls) / machines

    (_, few), (places, many) = ranked(10), ranked(40)
    assert many == few
    assert "machine-0000, 16 cores" in places["machine-0003-16-cores"].sentences[0]
    assert "machine-0005, 16 cores" in places["machine-0000-16-cores"].sentences[0]  # as fast; not itself


def test_the_rank_is_that_against_all_machines(monkeypatch):
    records = []
    for number, workloads in enumerate((("a",), ("a", "b"), ("b", "c", "d"), ("a", "b", "c", "d"), ("a", "b"), ("d",))):
        host = msgspec.structs.replace(factory.HOST, name=f"machine-{number}", cores=2 ** (number % 3))
        records += factory.campaign(workloads, host, cpu=0.01 * (1 + number * 5 % 4), gpu=0.001 * (1 + number * 3 % 5))
    steps = placing.headlines(factory.current(records))
    near = {name: placing.place(steps, name) for name in steps["gpu"].of}
    monkeypatch.setattr(
        placing.Steps, "rivals", lambda self, slug: {name: own for name, own in self.of.items() if name != slug}
    )
    assert near == {name: placing.place(steps, name) for name in near}
    assert any(one != other for one, other in pairwise(near.values()))

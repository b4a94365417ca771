"""The page that compares: its scripts compute what the suite computes, and a reader's own file is checked first."""

import json
import math
import random
from pathlib import Path

import factory
import msgspec
import pytest
from hostile_packs import archive
from test_site import built, copied
from test_site_places import served

from suite import units
from suite.report.pages import compare
from suite.report.parts.templates import embedded
from suite.report.site import pages
from suite.results.compare import cells
from suite.results.compare.reproducibility import holds
from suite.results.pooled import pools
from suite.results.pooled.grouping import case_of, kind_of
from suite.results.pooled.speedup import of_pools
from suite.results.records import store
from suite.results.records.record import to_json
from suite.results.records.store import sealed
from suite.results.stats.statistics import t_quantile
from suite.variants import way_of

ROOT = Path(__file__).parents[1]
SCRIPTS = ("tablesort.min", "units", "records", "pooled", "compare", "own-record")
OTHER = msgspec.structs.replace(
    factory.HOST, name="other-gpu, 8 cores", cores=8, gpus=(msgspec.structs.replace(factory.H100, name="NVIDIA X"),)
)


def _published(records):
    listed = pools.pools(records)
    current = pools.current(listed)
    return cells.cells(listed, current), current


def _page(folder, listed):
    """Write a page with the cells and the scripts alone; return its address."""
    data = embedded(compare.document(listed, {}))
    scripts = "".join(f'<script src="{(ROOT / "site/assets/js" / name).as_uri()}.js"></script>' for name in SCRIPTS)
    path = folder / "page.html"
    body = f'<div id="compare"></div><div id="own"></div><script type="application/json" id="cells">{data}</script>'
    path.write_text(f"<!doctype html><meta charset='utf-8'><body>{body}{scripts}", encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def real():
    return store.load([ROOT / "site" / "records"])[0]


@pytest.fixture
def opened(tmp_path, browser):
    """Return a function that opens the page of some cells; nothing may be asked of a network, nor any dialog open."""

    def page_of(listed, query="", **context):
        page = browser.new_page(viewport={"width": 1280, "height": 900}, **context)
        page.add_init_script("window.hurt = 0; window.alert = () => { window.hurt += 1; };")
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "blob:")) or pytest.fail(request.url))
        page.goto(_page(tmp_path, listed) + query)
        return page

    return page_of


def _parts(cell, sign=1):
    names = ("centre", "error2", "tau2", "sigma2", "degrees")
    return [{"sign": sign, **dict(zip(names, cell.plain()[8:13], strict=True))}]


def _close(one, other):
    return one is other or math.isclose(one, other, rel_tol=1e-6)


@pytest.mark.browser
def test_the_scripts_quantiles_are_those_of_scipy(opened):
    page = opened(_published(factory.hosts())[0])
    for degrees in (1.0, 1.5, 2.0, 2.7, 3.0, 5.5, 12.0, 40.0, 1000.0, 1e5):
        value = page.evaluate("degrees => suitePooled.tQuantile(degrees)", degrees)
        assert math.isclose(value, t_quantile(degrees), rel_tol=1e-8), degrees


@pytest.mark.browser
def test_the_scripts_round_as_the_pages_do(opened):
    page, noise = opened(_published(factory.hosts())[0]), random.Random(1)
    values = [*(10 ** noise.uniform(-8, 5) for _ in range(1000)), 0.0, 1.0, 0.9996, 0.09996, 99.95, 119.5, 3599.6, 4e4]
    ends = [(value / share, value * share) for value in values for share in (1.0, 1 + 10 ** noise.uniform(-4, 0))]
    script = """([values, ends]) => [
        [...values.map(value => suiteUnits.seconds(value)), ...ends.map(([a, b]) => suiteUnits.seconds(a, a, b))],
        values.map(value => suiteUnits.ratio(value)),
        ends.map(([low, high]) => suiteUnits.ratio(low, low, high)), ends.map(pair => suiteUnits.interval(...pair))]"""
    seconds, plain, ratios, intervals = page.evaluate(script, [values, ends])
    wide = [units.seconds(low, units.half_width(low, high)) for low, high in ends]
    assert [text.replace("\u00a0", " ") for text in seconds] == [*map(units.seconds, values), *wide]
    assert plain == [units.ratio(value) for value in values]
    assert ratios == [units.ratio(low, low, high) for low, high in ends]
    assert intervals == [units.interval(low, high) for low, high in ends]


@pytest.mark.browser
def test_the_scripts_compute_the_suites_ratios_ranges_and_verdicts(opened, real):
    listed, current = _published(real)
    page = opened(listed)
    shown = [c for c in listed if c.current and c.case.scope in ("step", "cold") and c.way == "jax" and not c.setting]
    pairs = [
        (one, other) for one in shown for other in shown
        if one.machine < other.machine and (one.case == other.case)
    ][::3]  # fmt: skip
    assert len(pairs) > 60
    script = """pairs => pairs.map(([first, second]) => ({ ratio: suitePooled.ratio(first, second),
        range: suitePooled.range(first), least: suitePooled.smallestChange(first, second),
        verdict: suitePooled.verdict(first, second) }))"""
    answers = page.evaluate(script, [[_parts(one), _parts(other)] for one, other in pairs])
    verdicts = set()
    for (one, other), answer in zip(pairs, answers, strict=True):
        over, pooled = cells.ratio(one.pool, other.pool), one.pool.pooled
        assert _close(answer["ratio"]["value"], over.value)
        assert _close(answer["ratio"]["low"], over.low)
        assert _close(answer["ratio"]["high"], over.high)
        assert _close(answer["range"]["low"], pooled.range_low)
        assert _close(answer["range"]["high"], pooled.range_high)
        assert answer["verdict"] == cells.verdict(one.pool, other.pool)
        verdicts.add(answer["verdict"])
    assert len(verdicts) == 4
    ratios = [item for item in of_pools(current) if item.headline]
    sides = {(c.machine, c.case): c for c in listed if c.current}
    for item in ratios:
        cpu, gpu = (sides.get((item.machine, side.case)) for side in (item.cpu, item.gpu))
        if cpu is None or gpu is None or cpu.pool is not item.cpu or gpu.pool is not item.gpu:
            continue
        value = page.evaluate("side => suitePooled.estimate(side)", _parts(cpu) + _parts(gpu, -1))
        assert _close(value["value"], item.ratio.value)
        assert _close(value["low"], item.ratio.low)


@pytest.mark.browser
@pytest.mark.parametrize("share", [0.7, 0.97, 1.0, 1.03, 1.5])
def test_a_campaign_is_judged_as_a_left_out_host_is(opened, share):
    listed, _ = _published(factory.hosts(count=4, spread=0.02))
    cell = next(c for c in listed if c.case.backend == "gpu")
    own = [share * 0.001 * noise for noise in (1.0, 1.01, 0.99)]
    script = """([published, seconds]) =>
        suitePooled.ofCampaign(published, suitePooled.campaign(published[0], seconds))"""
    word = opened(listed).evaluate(script, [_parts(cell), own])
    inside = holds((own, cell.pool.cell, cell.pool.among))
    expected = "inside the range of the next host" if inside else "faster" if share < 1 else "slower"
    assert word == expected


@pytest.mark.browser
def test_the_scripts_name_a_records_case_and_kind_as_the_suite_does(opened, real):
    listed, _ = _published(real)
    page = opened(listed)
    records = [r for r in real[::7] if r.description.documented]
    kinds = {}
    for record in records:
        found = {"record": json.loads(to_json(record)), "digest": ""}
        answer = page.evaluate("found => suiteOwn.described(found)", found)
        kind = cells.kind_text(record.machine, record.case.backend)
        case = case_of(record)
        expected = (record.workload, case.backend, case.scope, way_of(case), cells.setting_of(record, case), kind)
        assert tuple(answer[name] for name in ("workload", "side", "scope", "way", "setting", "kind")) == expected
        kinds[kind] = kind_of(record.machine, record.case.backend)
    assert len(set(kinds.values())) == len(kinds) > 5


def _two_kinds():
    others = factory.on_hosts(factory.campaign(machine=OTHER, gpu=0.0004))
    renamed = [msgspec.structs.replace(r, campaign=r.campaign.replace("host", "other"), digest="") for r in others]
    return [*factory.on_hosts(factory.campaign()), *map(sealed, renamed)]


def _two_methods():
    """The other kind's records are of an earlier method."""
    return [msgspec.structs.replace(r, method=r.method - (r.machine.name == OTHER.name)) for r in _two_kinds()]


@pytest.mark.parametrize(("records", "words"), [(_two_kinds(), {"faster"}), (_two_methods(), {cells.ANOTHER_METHOD})])
def test_without_scripts_too_machines_of_two_methods_get_no_verdict(records, words):
    listed, _ = _published(records)
    table = compare.static(listed, {})
    place = table.columns.index("the second is")
    assert {row[place].text for row in table.rows} == words


@pytest.mark.browser
def test_machines_of_two_methods_and_a_record_of_another_get_no_verdict(opened, tmp_path):
    listed, _ = _published(_two_methods())
    page = opened(listed)
    verdicts = page.locator("#compare tbody tr td:nth-child(6)").all_inner_texts()
    assert verdicts == [cells.ANOTHER_METHOD] * 2
    assert page.locator("#compare .said").inner_text() == (
        "Of 2 results in common the second is timed by another method in 2."
    )
    pack = _file(tmp_path, archive([(f"{r.name}.json", to_json(r)) for r in OWN]), "own.zip")
    assert "is inside the range of the next host in 12, of 12" in _dropped(page, pack)
    page.locator("select[name=beside]").select_option(label="other-gpu, 8 cores")
    assert f"is {cells.ANOTHER_METHOD} in 12, of 12" in page.locator("#own .said").inner_text()


@pytest.mark.browser
def test_what_is_compared_stands_in_the_address(opened):
    listed, _ = _published(_two_kinds())
    page = opened(listed)
    assert page.locator("#compare tbody tr").count() == 2
    page.get_by_label("time of").select_option("cpu")
    assert "side=cpu" in page.url
    page.get_by_label("first").select_option(label="other-gpu, 8 cores")
    page.reload()
    assert page.get_by_label("time of").input_value() == "cpu"
    assert page.get_by_label("first").input_value() == "other-gpu-8-cores"
    assert page.locator("#compare caption").inner_text() == "other-gpu, 8 cores and test-gpu, 16 cores"
    page.get_by_label("compare").select_option("way")
    assert page.locator("#compare caption").inner_text().startswith("jax and torch")
    page.close()
    odd = opened(listed, "?by=<img src=x onerror=alert(1)>&side=none&a=b")
    assert odd.locator("#compare tbody tr").count() == 2
    assert odd.evaluate("hurt") == 0


@pytest.mark.browser
def test_a_gpu_that_takes_twice_as_long_is_called_slower_by_half(opened):
    page = opened(_published(_two_kinds())[0], "?side=gpu&a=test-gpu-16-cores&b=other-gpu-8-cores")
    row = page.locator("#compare tbody tr").first.locator("th, td").all_inner_texts()
    assert row[3:6] == ["0.500x", "0.490 to 0.511", "slower"]


def _dropped(page, *files):
    page.set_input_files("#own-file", list(files))
    page.wait_for_selector("#own .refused, #own .said")
    return page.locator("#own .refused, #own .said").inner_text()


def _file(folder, content, name="record.json"):
    path = folder / name
    path.write_bytes(content)
    return path


OWN = factory.on_hosts(factory.campaign(), shares=(1.0,))


@pytest.mark.browser
def test_a_pack_of_ones_own_is_laid_over_the_published_kind(opened, tmp_path):
    page = opened(_published(_two_kinds())[0])
    pack = _file(tmp_path, archive([(f"{r.name}.json", to_json(r)) for r in OWN]), "own.zip")
    said = _dropped(page, pack)
    assert said.startswith("Beside test-gpu, 16 cores, yours is inside the range of the next host in 12, of 12")
    assert said.endswith("Every digest matches.")
    assert page.locator("#own .overlay .yours").count() == 2  # speed-ups
    page.locator("select[name=beside]").select_option(label="other-gpu, 8 cores")
    assert "larger in 2" in page.locator("#own .said").inner_text()


@pytest.mark.browser
def test_a_record_that_takes_twice_as_long_is_called_slower(opened, tmp_path):
    slow = next(r for r in factory.on_hosts(factory.campaign(), shares=(2.0,)) if r.backend == "gpu")
    page = opened(_published(_two_kinds())[0])
    assert "yours is slower in 1, of 1 results" in _dropped(page, _file(tmp_path, to_json(slow)))
    assert page.locator("#own tbody td").all_inner_texts()[3] == "0.500x"


@pytest.mark.browser
def test_without_the_means_to_check_a_digest_the_page_says_so(opened, tmp_path, browser):
    page = browser.new_page()
    page.add_init_script("Object.defineProperty(window, 'crypto', { value: {} })")
    page.goto(_page(tmp_path, _published(_two_kinds())[0]))
    assert "This browser cannot check digests here" in _dropped(page, _file(tmp_path, to_json(OWN[0])))


def _changed(**changes):
    return to_json(sealed(msgspec.structs.replace(OWN[0], digest="", **changes)))


def _reworded(old, new):
    return to_json(OWN[0]).replace(old, new)


GOOD = to_json(OWN[0])
NESTED = b'{"schema": "result/2", "x": ' + b"[" * 400 + b"]" * 400 + b"}"
HOSTILE = {
    "empty": (b"", "The file is empty."),
    "a picture": (b"\x89PNG\r\n\x1a\n\xff\xfe", "'a picture.json': The file is neither text nor a ZIP archive"),
    "a broken.zip": (b"\x00\xff" * 40, "'a broken.zip.json': The file is neither text nor a ZIP archive"),
    "no JSON": (b"<html>", "The file is not JSON, or it is truncated, so it is no record."),
    "truncated": (GOOD[:-300], "The file is not JSON, or it is truncated, so it is no record."),
    "not a number": (_reworded(b'"rounds": 3', b'"rounds": NaN'), "The file is not JSON, or it is truncated"),
    "an infinite number": (_reworded(b'"seed": 0', b'"seed": 1e999'), "The number at $.runs.0.seed is too large."),
    "a list": (b"[]", "The file is JSON, but no record."),
    "no schema": (b"{}", "it names no format. This page reads records of the formats result/0, result/1, result/2"),
    "another schema": (
        b'{"schema": "<b>x</b>"}',
        "or one of another version of the suite: its format is '<b>x</b>'. This page reads",
    ),
    "deep": (NESTED, "The file is nested deeper than 16 levels."),
    "without runs": (_reworded(b'"runs"', b'"races"'), "The record has no valid field 'runs'."),
    "edited": (_reworded(b'"campaign": "2', b'"campaign": "3'), "changed after it was written: its digest"),
    "HTML in a name": (
        _changed(workload="<img src=x onerror=alert(1)>"),
        "The record has a name that no file may have: '<img src=x onerror=alert(1)>'.",
    ),
    "smoke": (_changed(profile="smoke"), "The record is of profile smoke, which only shows that the suite runs"),
    "failed": (_changed(runs=(), reason="out of <memory>"), "No process of the record succeeded: out of <memory>."),
    "of no published case": (
        to_json(sealed(msgspec.structs.replace(
            OWN[0], digest="", case=msgspec.structs.replace(OWN[0].case, batch=77)))),
        "Nothing published has the same case: mnist_mlp, cpu, step, jax, batch 77.",
    ),
    "a damaged pack": (archive([("x.json", GOOD)])[:-9], "The ZIP archive is incomplete"),
    "another archive": (archive([("evil.html", b"x")]), "holds 'evil.html', which is no record"),
    "a bomb": (archive([("x.json", bytes(2**22 + 1))]), "A record has at most 4 MiB; 'x.json' has more."),
    "an empty pack": (archive([]), "The pack holds no record."),
}  # fmt: skip


@pytest.mark.browser
def test_each_file_that_is_no_record_gets_one_sentence_on_why(opened, tmp_path):
    page = opened(_published(_two_kinds())[0])
    for name, (content, words) in HOSTILE.items():
        page.evaluate("document.querySelector('#own .refused')?.remove()")
        assert words in _dropped(page, _file(tmp_path, content, f"{name}.json")), name
        assert page.locator("#own .refused").count() == 1, name
        assert page.locator("#own table").count() == 0, name
    assert page.locator("#own img").count() == page.evaluate("hurt") == 0


@pytest.mark.browser
def test_a_member_that_unpacks_to_more_than_its_pack_says_is_refused(opened, tmp_path):
    lying = bytearray(archive([("x.json", bytes(2**20))]))
    at = lying.index(b"PK\x01\x02") + 24
    lying[at : at + 4] = (10).to_bytes(4, "little")
    page = opened(_published(_two_kinds())[0])
    assert _dropped(page, _file(tmp_path, bytes(lying))).endswith("in the pack is larger than the pack says.")


@pytest.mark.browser
def test_a_huge_file_is_refused_unread(opened, tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(2**31)
    page = opened(_published(_two_kinds())[0])
    assert _dropped(page, path) == "'huge.json': A pack has at most 64 MiB; this file has 2048."


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A built site of two kinds of machine, its records in packs."""
    folder = copied(tmp_path_factory.mktemp("compared"))
    for record in _two_kinds():
        store.add(record, folder / "site" / "records")
    for campaign in (folder / "site" / "records").iterdir():
        store.pack(campaign)
    pages.render((folder / "site" / "records",), folder / "site")
    built(folder)
    return folder / "build" / "html"


@pytest.mark.browser
@pytest.mark.parametrize("name", ["compare", "coverage", "records"])
def test_the_pages_work_light_dark_narrow_from_a_file_and_without_scripts(site, browser, name):
    from visits.page import troubles  # with axe, which only the session of the browser has

    assert list(troubles(browser, site / f"{name}.html", site)) == []


@pytest.mark.browser
def test_without_scripts_the_table_of_the_two_best_known_kinds_is_there(site, browser):
    page = browser.new_page(java_script_enabled=False)
    page.goto((site / "compare.html").as_uri())
    assert page.locator("#compare tbody tr").count() == 2
    assert page.locator("noscript p").first.is_visible()


@pytest.mark.browser
def test_with_scripts_a_model_leads_to_its_page(site, browser):
    page = browser.new_page()
    page.goto((site / "compare.html").as_uri())
    places = page.locator("#compare tbody th a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    page.close()
    assert places
    assert all((site / place).is_file() for place in places)


@pytest.mark.browser
def test_the_policy_of_the_built_page_lets_a_file_be_read_and_nothing_leave(site, tmp_path, browser):
    page = browser.new_page()
    page.goto((site / "compare.html").as_uri())
    assert "Every digest matches." in _dropped(page, _file(tmp_path, to_json(OWN[0])))
    for address in ("https://example.org/", "http://127.0.0.1:9/"):
        assert page.evaluate("a => fetch(a).then(() => 'sent', () => 'refused')", address) == "refused"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_was_dropped_is_shown_to_everybody_and_on_narrow_screens(site, tmp_path, browser, scheme):
    from visits.page import SERIOUS

    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = browser.new_page(color_scheme=scheme, viewport={"width": 360, "height": 800})
    page.goto((site / "compare.html").as_uri())
    _dropped(page, _file(tmp_path, archive([(f"{r.name}.json", to_json(r)) for r in OWN]), "own.zip"))
    wrong = axe.run(page, options={"preload": False}).response["violations"]
    assert [each["id"] for each in wrong if each["impact"] in SERIOUS] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.emulate_media(media="print")
    assert page.locator("#own tbody tr").first.is_visible()


RECORD = "records.html?mnist_mlp.gpu.step#20260101-000000-host"


@pytest.mark.browser
def test_a_served_page_shows_the_record_that_a_link_names(site, browser):
    with served(site) as address:
        page = browser.new_page()
        page.goto(f"{address}/{RECORD}")
        page.wait_for_selector("#record table")
        shown = page.locator("#record").inner_text()
        record = json.loads(page.locator("#record pre").text_content())
        page.goto(f"{address}/records.html?nothing#20260101-000000-host")
        page.wait_for_selector("#record .note")
        missing = page.locator("#record .note").inner_text()
        page.goto(f"{address}/records.html?<img src=x onerror=alert(1)>#<b>")
        assert not page.locator("#record").is_visible()
    assert "test-gpu, 16 cores" in shown
    assert "matches" in shown
    assert (record["workload"], record["backend"]) == ("mnist_mlp", "gpu")
    assert missing.startswith("That pack has no such record.")


@pytest.mark.browser
def test_a_page_opened_from_a_file_takes_the_pack_that_it_names(site, browser):
    page = browser.new_page()
    page.goto((site / "records.html").as_uri() + RECORD.removeprefix("records.html"))
    pack = page.locator("#record a").first.get_attribute("href")
    page.set_input_files("#record input", site / pack)
    page.wait_for_selector("#record table")
    assert page.locator("#record tbody tr").count() == 3

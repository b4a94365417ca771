"""What other sites and programs take from the built site: embeds, previews, index, feed, twins and structured data."""

import csv
import io
import json
import re
import shutil
import struct
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import factory
import jsonschema
import msgspec
import pytest
from markdown import Markdown

from suite.report.charts import previews as cards
from suite.report.pages import feed, number_index, previews
from suite.report.parts.dataset import dataset
from suite.report.parts.facts import Facts
from suite.report.site import build, page_html, page_markdown, page_tables, pages, quoting
from suite.results.cite import citation, stored_pools
from suite.results.views import documents

ROOT = Path(__file__).parent.parent
ADDRESS = "https://example.org/speed/"
HOSTILE = (
    "<script>window.ran=1</script>\"'><img src=x onerror=window.ran=1>[a](javascript:x)`{{7*7}}`&|</article>]]>\x00"
)
ATOM = "{http://www.w3.org/2005/Atom}"


def hostile():
    about = msgspec.structs.replace(factory.description(), title=HOSTILE)
    return [factory.record(r.workload, r.backend, [0.01] * 3, about=about) for r in factory.campaign(("mnist_mlp",))]


def twice_stored(change):
    """Facts whose speed-up was stored twice; the older line is changed."""
    facts = Facts(records=factory.hosts())
    number = next(n for n in facts.numbers.current.values() if n.key.metric == "speedup")
    line = stored_pools.line_of(number)
    older = msgspec.structs.replace(line, digest="0" * 64, **change)
    return older, line


def read(text):
    return ElementTree.fromstring(text)


def test_the_index_holds_every_current_number_and_fits_its_schema():
    facts = Facts(records=factory.hosts(), site=ADDRESS)
    index = json.loads(number_index.files(facts)[number_index.JSON])
    jsonschema.validate(index, documents.schemas()["numbers"])
    assert [each["key"] for each in index["numbers"]] == list(facts.numbers.current)
    for each in index["numbers"]:
        number = facts.numbers.resolve(each["key"])
        assert each["value"] == pytest.approx(number.value.value, rel=1e-8)
        assert (each["status"], each["machine"]) == (number.state, number.record.machine.slug)
        cited = citation.Citation(number=facts.numbers.pinned(number), site=ADDRESS)
        where = {"workload": each["workload"], "key": each["key"].replace("/", ".")}
        assert index["url"].format(**where) == cited.permalink


def test_an_index_of_nothing_is_still_an_index():
    files = number_index.files(Facts(records=[]))
    jsonschema.validate(json.loads(files[number_index.JSON]), documents.schemas()["numbers"])
    assert read(feed.files(Facts(records=[]))[feed.PATH]).tag == f"{ATOM}feed"
    assert previews.files(Facts(records=[])) == {}


def test_the_table_has_the_rows_of_the_index():
    files = number_index.files(Facts(records=factory.hosts()))
    rows = list(csv.DictReader(io.StringIO(files[number_index.CSV])))
    index = json.loads(files[number_index.JSON])["numbers"]
    assert [{k: "" if v is None else str(v) for k, v in each.items()} for each in index] == rows


def test_the_feed_tells_a_changed_number_with_both_values_at_the_date_of_its_records():
    older, line = twice_stored({"value": 5.0})
    facts = Facts(records=factory.hosts(), stored=[older, line], site=ADDRESS)
    (change,) = feed.changes(facts)
    root = read(feed.files(facts)[feed.PATH])
    (entry,) = root.findall(f"{ATOM}entry")
    for part in (root, entry):
        assert part.findtext(f"{ATOM}id").startswith("urn:uuid:")
        assert part.findtext(f"{ATOM}updated") == line.measured
        assert part.findtext(f"{ATOM}title")
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    assert change.before.value in entry.findtext(f"{ATOM}title")
    assert change.after.value in entry.findtext(f"{ATOM}title")
    links = [link.get("href") for link in root.iter(f"{ATOM}link")]
    assert all(link.startswith(ADDRESS) for link in links)
    assert feed.files(facts) == feed.files(Facts(records=factory.hosts(), stored=[older, line], site=ADDRESS))


@pytest.mark.parametrize(("change", "entries"), [({}, 0), ({"high": 10.9}, 0), ({"state": "open"}, 1)])
def test_the_feed_tells_a_changed_state_and_no_other_end_of_an_interval(change, entries):
    older, line = twice_stored(change)
    assert len(list(feed.changes(Facts(records=factory.hosts(), stored=[older, line])))) == entries


def test_a_stored_number_without_its_records_is_left_out_of_the_feed():
    older, line = twice_stored({"members": ("f" * 16,), "value": 5.0})
    assert list(feed.changes(Facts(records=factory.hosts(), stored=[older, line]))) == []


def test_a_card_is_a_picture_of_the_size_that_previews_have_and_names_the_number():
    drawings = previews.files(Facts(records=factory.hosts()))
    assert set(drawings) == {"cards/index.svg", "cards/mnist_mlp.svg"}
    assert ">10.0x</text>" in drawings["cards/mnist_mlp.svg"]
    picture = cards.png(drawings["cards/mnist_mlp.svg"])
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == (cards.WIDTH, cards.HEIGHT)
    assert cards.packed(picture) == picture


def test_a_hostile_name_stays_text_on_a_card():
    for drawing in previews.files(Facts(records=hostile())).values():
        assert {element.tag.rpartition("}")[2] for element in read(drawing).iter()} == {"svg", "rect", "g", "text"}


def test_an_unchanged_card_is_not_drawn_again(tmp_path, monkeypatch):
    files = factory.pages(factory.hosts())
    assert "cards/mnist_mlp.png" in pages.write(files, tmp_path)
    monkeypatch.setattr(cards, "png", None)
    assert pages.write(files, tmp_path) == ()
    assert (tmp_path / "cards" / "mnist_mlp.png").is_file()
    pages.write({}, tmp_path)
    assert not list((tmp_path / "cards").iterdir())


def test_every_chart_that_a_page_shows_has_a_page_of_its_own_that_leads_back():
    files = factory.pages(factory.hosts())
    text = "".join(text for name, text in files.items() if name.endswith(".md"))
    linked = {unescape(each) for each in re.findall(r'href="[./]*(embed/charts/[^"]*)"', text)}
    made = {name for name in files if name.startswith("embed/charts/")}
    assert linked == made != set()
    for name in made:
        source = re.search(r'<a href="([^"]*)" target="_top">', files[name])
        target = (Path("/") / name).parent / unescape(source[1])
        assert str(target.resolve()).removeprefix("/").replace(".html", ".md") in files
        for picture in re.findall(r'(?:src|srcset)="([^"#]*\.svg)', files[name]):
            specification = re.sub(
                r"\.(?:light|dark)\.svg$", ".json", str(((Path("/") / name).parent / unescape(picture)).resolve())
            )
            assert specification.removeprefix("/") in files


def test_a_headline_number_has_a_page_that_says_why_it_may_not_be_quoted():
    files = factory.pages(factory.hosts(2))
    (page,) = (text for name, text in files.items() if name.startswith("embed/numbers/"))
    assert "2 hosts of 3" in page
    assert "Not to be quoted" in page


def test_a_hostile_name_stays_text_on_an_embedded_page():
    files = factory.pages(hostile())
    embedded = [text for name, text in files.items() if name.startswith("embed/")]
    assert embedded
    for text in embedded:
        assert re.findall(r"<script[^>]*>", text) == [
            '<script src="' + re.search(r'src="([^"]*embed.js)"', text)[1] + '">'
        ]
        assert "<img src=x" not in text
        assert "'sha256-" not in page_html.protected(text)
        assert page_html.protected(text) != text


def test_the_headline_of_the_best_evidenced_machine_comes_first_on_a_page_of_numbers():
    other = msgspec.structs.replace(factory.KNOWN, name="a-gpu, 8 cores", cores=8, cpu_number=208)
    few, many = factory.hosts(2, day=5, machine=other, gpu=0.0001), factory.hosts(4)
    for records in ((*few, *many), (*many, *few)):
        facts = Facts(records=records)
        assert [c.number.key.machine for c in facts.headlines["mnist_mlp"]] == ["test-gpu-16-cores", "a-gpu-8-cores"]
        page = factory.pages(records)["numbers/mnist_mlp.md"]
        assert page.index("<strong>10.0x</strong>") < page.index("Each number has") < page.index("<table")
        first, *_ = re.findall(r'<tr id="([^"]*)"', page)
        assert unescape(first).startswith("test-gpu-16-cores.mnist_mlp")
        assert unescape(first).endswith((".speedup", ".best-over-best"))


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_the_headline_of_a_page_of_numbers_has_a_citation_in_text_and_bibtex_ready_to_copy(address):
    facts = Facts(records=factory.hosts(), site=address)
    (cited,) = facts.headlines["mnist_mlp"]
    page = pages.files(facts)["numbers/mnist_mlp.md"]
    block = re.search(r'<details class="cite">.*?</details>', page, re.DOTALL)[0]
    plain, entry = (
        unescape(part) for part in re.search(r"<p>(.*?)</p>\s*<pre><code>(.*?)</code>", block, re.DOTALL).groups()
    )
    addressed = replace(cited, site=address)
    assert (plain, entry) == (citation.text(addressed), citation.bibtex(addressed))
    assert cited.key in plain
    assert (f"url = {{{address}numbers/mnist_mlp.html#" in entry) == bool(address)
    assert page.count("@misc") == 1


def test_a_hostile_name_stays_text_in_a_citation():
    page = factory.pages(hostile())["numbers/mnist_mlp.md"]
    assert '<details class="cite">' in page
    assert "<img src=x" not in page
    assert "<script>" not in page


@pytest.fixture(scope="module", params=["", ADDRESS], ids=["relative", "absolute"])
def site(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    generated = shutil.ignore_patterns("records", *pages.GENERATED)
    shutil.copytree(ROOT / "site", folder / "site", ignore=generated)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITE_URL", request.param.rstrip("/"))
        facts = Facts(records=factory.hosts(), catalogue=[factory.description()], site=request.param)
        pages.write(pages.files(facts), folder / "site")
        build.build(folder)
    return request.param, folder / "build" / "html"


def test_a_page_has_a_preview_with_its_picture_and_an_absolute_address_if_it_is_known(site):
    address, folder = site
    for name, card in (("index.html", "index"), ("numbers/mnist_mlp.html", "mnist_mlp"), ("method.html", "index")):
        html = (folder / name).read_text(encoding="utf-8")
        (image,) = re.findall(r'<meta property="og:image" content="([^"]*)">', html)
        assert image == f"{address or '../' * name.count('/')}cards/{card}.png"
        assert re.findall(r'<meta property="og:url" content="([^"]*)">', html) == (
            [f"{address}{name}"] if address else []
        )
    assert (folder / "cards" / "mnist_mlp.png").is_file()


def test_every_page_has_its_twins_and_llms_txt_lists_it(site):
    address, folder = site
    listed = (folder / "llms.txt").read_text(encoding="utf-8")
    names = [path.relative_to(folder) for path in folder.rglob("*.html") if "embed" not in path.parts]
    for path in names:
        if path.name == "404.html":
            continue
        text = (folder / path.with_suffix(".md")).read_text(encoding="utf-8")
        assert f"]({address}{path.with_suffix('.md')})" in listed
        assert not re.search(r"(?<!\\)<[a-z/]", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL))
        html = (folder / path).read_text(encoding="utf-8")
        data = folder / "data" / path.with_suffix(".json")
        assert data.is_file() == ("<table" in html)
        if data.is_file():
            document = json.loads(data.read_text(encoding="utf-8"))
            assert len(document["tables"]) == html.count("<table")
            assert sum(len(table["rows"]) for table in document["tables"]) == html.count("<tr") - html.count("<thead")
            for table in document["tables"]:
                assert {len(row) for row in table["rows"]} <= {len(table["columns"])}


def test_the_home_page_describes_the_data_for_search_engines(site):
    address, folder = site
    html = (folder / "index.html").read_text(encoding="utf-8")
    (text,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html)
    described = json.loads(text)
    assert described == dataset(Facts(records=factory.hosts(), site=address))
    assert described["@type"] == "Dataset"
    for each in described["distribution"]:
        assert each["contentUrl"].startswith(address)
        assert (folder / each["contentUrl"].removeprefix(address)).is_file()


def test_the_described_data_reach_from_the_first_day_to_the_last():
    described = dataset(Facts(records=[*factory.hosts(), *factory.hosts(day=5)]))
    assert (described["temporalCoverage"], described["dateModified"]) == ("2026-01-01/2026-01-05", "2026-01-05")
    assert dataset(Facts(records=[])) is None


def test_a_hostile_name_ends_no_structured_data():
    page = factory.pages(hostile())["index.md"]
    (text,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    assert HOSTILE in json.loads(text)["description"]


def test_the_policy_of_a_page_is_the_same_with_what_programs_read(site):
    _, folder = site
    html = (folder / "index.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert "default-src 'none'" in policy
    assert policy.count("sha256-") <= 4
    (embedded,) = (folder / "embed" / "numbers").rglob("speedup.html")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', embedded.read_text(encoding="utf-8"))
    assert "sha256-" not in policy


def test_a_hostile_cell_stays_text_in_both_twins():
    shown = factory.pages(hostile())["models.md"]
    (table,) = page_tables.tables(shown)
    assert any("<script>window.ran=1</script>" in cell for row in table["rows"] for cell in row)
    html = Markdown(extensions=["tables"]).convert(page_markdown.markdown(f"<h1>a</h1>{shown}", [table]))
    assert "<script" not in html
    assert "<img" not in html


def test_a_table_has_its_texts_the_numbers_behind_them_and_the_remarks_on_its_cells():
    html = (
        '<table><caption>Times <a href="g.html">what the words mean</a>'
        '<span class="same">Throughout: jax.</span></caption>'
        "<thead><tr><th>model</th><th>time</th></tr></thead><tbody>"
        '<tr><th>a &#60;b&#62;</th><td data-sort="0.00123456789">1.23\u00a0ms</td></tr>'
        '<tr class="aside"><th>c<br>d</th><td title="not measured">–<button>copy</button></td></tr></tbody></table>'
    )
    (table,) = page_tables.tables(html)
    assert table == {
        "title": "Times",
        "throughout": "Throughout: jax.",
        "columns": ["model", "time"],
        "rows": [["a <b>", "1.23 ms"], ["c; d", "–"]],
        "numbers": {1: [0.00123457, None]},
        "remarks": {"not measured": [(1, 1)]},
    }
    assert page_tables.as_shown(html, table)["rows"] == [["a <b>", "1.23 ms"]]


def test_markdown_keeps_headings_lists_code_links_and_the_beginning_of_a_long_table():
    rows = "".join(f"<tr><th>{n}</th><td data-sort='{n}'>{n} ms</td></tr>" for n in range(50))
    html = (
        '<h1>A*b</h1><p>See <a href="../method.html#x">how &lt;b&gt;</a>, <code>a_b</code>'
        " and <strong>this</strong>.</p><ul><li>one</li><li>two</li></ul><pre><code>x = 1\ny = 2\n</code></pre>"
        f"<table><caption>Times</caption><thead><tr><th>n</th><th>time</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    text = page_markdown.markdown(html, page_tables.tables(html))
    assert text.startswith("# A\\*b\n\nSee ")
    assert "[how \\<b\\>](../method.md#x), `a_b` and **this**." in text
    assert "- one\n- two" in text
    assert "```\nx = 1\ny = 2\n```" in text
    assert "| 39 | 39 ms |" in text
    assert "10 more rows" in text


def test_markdown_has_the_title_and_the_caption_of_a_chart_without_its_data():
    page = factory.pages(factory.hosts())["machines/test-gpu-16-cores.md"]
    charts = re.findall(r'<figure class="chart(?! narrow).*?</figure>', page, re.DOTALL)
    assert any('class="legend"' in chart for chart in charts)
    for chart in charts:
        text = page_markdown.markdown(chart, [])
        read = re.findall(r'<p class="finding">(.*?)</p>|<figcaption>([^<]*)', chart, re.DOTALL)
        parts = [page_markdown.escaped(" ".join(unescape(title or caption).split())) for title, caption in read]
        assert [line[: len(part)] for line, part in zip(text.strip().split("\n\n"), parts, strict=True)] == parts
        assert "hollow: not to be quoted" not in text
    assert page_markdown.markdown('<p><img src="a.png" alt="A photograph"></p>', []) == "A photograph\n"


def test_the_page_for_missing_addresses_stays_as_it_is():
    site = quoting.Site(address="", files=frozenset())
    assert quoting.dressed("<head></head><article></article>", "404.html", site) == "<head></head><article></article>"


@pytest.mark.browser
def test_an_embedded_page_is_light_or_dark_as_asked_else_as_the_reader_s_system(site, browser):
    _, folder = site
    chart = next((folder / "embed" / "charts").glob("*.html")).as_uri()
    number = next((folder / "embed" / "numbers").rglob("speedup.html")).as_uri()
    for address in (chart, number):
        for scheme, asked, dark in (
            ("light", "", False), ("dark", "", True), ("light", "?theme=dark", True), ("dark", "?theme=light", False),
            ("dark", "?theme=other", True),
        ):  # fmt: skip
            for scripts in (True, False):
                page, said = (
                    browser.new_page(
                        color_scheme=scheme, java_script_enabled=scripts, viewport={"width": 360, "height": 600}
                    ),
                    [],
                )
                page.on("console", lambda message, said=said: said.append(message.text))
                page.goto(f"{address}{asked}")
                expected = dark if scripts else scheme == "dark"
                assert (
                    page.locator("body").evaluate("b => getComputedStyle(b).backgroundColor") == "rgb(30, 33, 41)"
                ) == expected
                for palette in ("light", "dark"):
                    pictures = page.locator(f"picture.{palette} img").all()
                    assert all(picture.is_visible() == (expected == (palette == "dark")) for picture in pictures)
                assert page.evaluate("document.documentElement.scrollWidth") <= 360
                assert said == []
                page.close()


@pytest.mark.browser
def test_the_copied_frames_hold_their_page_whole_on_any_screen(site, browser):
    _, folder = site
    for name in ("index.html", "numbers/mnist_mlp.html"):
        page = browser.new_page()
        page.goto((folder / name).as_uri())
        embedded, frame = page.evaluate(
            "() => { const a = document.querySelector('a[data-embed]');"
            " return [a.href, a.nextElementSibling.dataset.copy]; }"
        )
        frame = re.sub(r' loading="lazy"', "", re.sub(r'src="[^"]*"', f'src="{embedded}"', frame))
        (folder / "host.html").write_text(f"<!doctype html><body style='margin:0'>{frame}", encoding="utf-8")
        for width in (360, 700, 1000, 1400):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto((folder / "host.html").as_uri())
            height = page.locator("iframe").bounding_box()["height"]
            needed = page.frames[1].evaluate("document.querySelector('main').getBoundingClientRect().height")
            assert needed <= height <= needed + 320, (name, width)
            widths = page.frames[1].evaluate(
                "[...document.images].filter(i => i.offsetWidth).map(i => [i.offsetWidth, i.naturalWidth])"
            )
            assert all(shown <= natural for shown, natural in widths)  # no picture is enlarged
        page.close()
        (folder / "host.html").unlink()


@pytest.mark.parametrize("asked", ["159x", "52x", "23x", "4x", "13.76x", "13.3x", "804 %"])
def test_the_search_finds_an_article_s_number_in_the_ledger(site, asked):
    _, folder = site
    index = json.loads((folder / "search" / "search_index.json").read_text(encoding="utf-8"))
    ledger = " ".join(one["text"] for one in index["docs"] if one["location"].startswith("ledger.html"))
    words = set(re.split(index["config"]["separator"], re.sub(r"<[^>]*>", " ", ledger)))
    terms = [term for term in re.split(index["config"]["separator"], asked) if term]
    assert all(any(word.startswith(term) for word in words) for term in terms)


@pytest.mark.browser
def test_the_button_of_a_citation_copies_its_bibtex_and_that_of_the_key_the_key(site, browser):
    _, folder = site
    page = browser.new_page()
    page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard',"
        " { value: { writeText: t => { window.copied = t; return Promise.resolve(); } } })"
    )
    page.goto((folder / "numbers" / "mnist_mlp.html").as_uri())
    page.locator("details.cite summary").click()
    page.get_by_role("button", name="copy BibTeX").click()
    lines = page.evaluate("window.copied").splitlines()
    assert (lines[0].startswith("@misc{gpu-speedup-suite-"), lines[-1]) == (True, "}")
    page.get_by_role("button", name="copy text").click()
    assert page.evaluate("window.copied").endswith("Key test-gpu-16-cores/mnist_mlp/gpu/step/speedup" + ".")
    page.get_by_role("button", name="copy key").first.click()
    assert page.evaluate("window.copied").startswith("test-gpu-16-cores/mnist_mlp/gpu/step/speedup")
    page.close()

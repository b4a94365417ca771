"""Numbers are quoted with all that proves them, and a quotation that does not say what its record says is found."""

import dataclasses
import html
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import factory
import pytest
from click.testing import CliRunner

from suite import citing, cli
from suite.report import badges, numbers
from suite.results import quotation, store
from suite.results.citation import Citation, bibtex, citation_file, csl, markdown, text
from suite.results.keys import numbers as all_numbers
from suite.results.statistics import Estimate

ROOT = Path(__file__).parents[1]
SITE = "https://example.org/gpu/"


def both(**changes):
    """Records of a steady speed-up that a peer certifies."""
    sides = [("cpu", "jax", 0.0100), ("cpu", "torch", 0.0101), ("gpu", "jax", 0.0010)]
    return [
        factory.record(
            backend=backend,
            implementation=name,
            step_seconds=[t, t * 1.001, t * 0.999],
            **changes,
        )
        for backend, name, t in sides
    ]


@pytest.fixture
def there():
    return all_numbers(both())


@pytest.fixture
def speedup(there):
    (found,) = [number for number in there if number.key.metric == "speedup"]
    assert found.citable
    return Citation(number=found, site=SITE)


def test_a_sentence_has_number_interval_case_machine_date_version_record_and_digest(speedup):
    said = text(speedup)
    assert said.startswith(
        f"{speedup.value} (95 % interval {speedup.interval}, quick): CPU time over GPU time of one step"
    )
    record = speedup.number.record
    for part in (record.workload, f"batch {record.case.batch}", "float32-highest", record.machine.name, "jax 0.",
                 record.created[:10], f"{SITE}records/{record.campaign}/", record.digest, speedup.key):  # fmt: skip
        assert part in said
    assert "@" in speedup.key


@pytest.mark.parametrize("metric", ["seconds", "examples-per-second", "flop-per-second", "speedup"])
def test_each_metric_has_its_unit(there, metric):
    cited = Citation(number=next(number for number in there if number.key.metric == metric))
    unit = {"seconds": r"[mµn]?s", "examples-per-second": "examples/s", "flop-per-second": ".?FLOP/s", "speedup": "x"}
    assert re.fullmatch(rf"[\d.,]+ ?{unit[metric]}", cited.value)
    assert " to " in cited.interval


def test_a_step_on_random_data_is_told_from_the_same_on_stand_ins():
    ways = [Citation(number=all_numbers([factory.record(data=data)])[0]).way for data in ("embedded", "random", "tfds")]
    assert ways == ["batch 128, jax, float32-highest", "batch 128, jax, random data, float32-highest",
                    "batch 128, jax, real data, float32-highest"]  # fmt: skip


def test_a_number_that_may_not_be_quoted_says_so_in_every_form():
    (number, *_) = all_numbers([factory.record(profile="smoke")])
    cited = Citation(number=number)
    assert "status smoke" in cited.reservation
    for form in (text, bibtex, csl):
        assert "ot to be quoted: status smoke" in form(cited)


@pytest.mark.parametrize("form", ["text", "markdown", "bibtex", "csl", "badge"])
def test_the_command_line_says_that_a_number_may_not_be_quoted_whatever_the_form(published, tmp_path, form):
    store.add(factory.record("cifar10_mlp", profile="smoke"), tmp_path / "records")
    number = next(n for n in citing.published(tmp_path / "records")[0] if "/cifar10_mlp/" in n.key.text())
    answer = CliRunner().invoke(cli.main, ["cite", number.key.text(), "--format", form])
    assert answer.exit_code == 0
    assert answer.stderr.startswith("note: not to be quoted: status smoke")
    sound = citing.listed(citing.published(tmp_path / "records")[0])[0][0]
    assert CliRunner().invoke(cli.main, ["cite", sound, "--format", form]).stderr == ""


def test_a_pinned_quotation_that_may_not_be_quoted_is_right_with_a_remark():
    there = all_numbers([factory.record(profile="smoke")])
    (remark,) = quotation.remarks(markdown(Citation(number=there[0])), there)
    assert not remark.wrong
    assert remark.words == f"{there[0].key.text()} is not to be quoted: status smoke, result/2"


def test_one_remark_says_of_a_pinned_quotation_that_it_may_not_be_quoted_and_what_is_newer():
    tried = factory.record(profile="smoke", campaign="20250101-000000-old", created="2025-01-01T00:00:00Z")
    there = all_numbers([tried, factory.record()])
    number = next(number for number in there if number.record.profile == "smoke")
    (remark,) = quotation.remarks(markdown(Citation(number=number)), there)
    assert not remark.wrong
    assert "is not to be quoted: status smoke, result/2; it has a newer record, " in remark.words


def test_csl_and_bibtex_are_what_programs_read(speedup):
    (item,) = json.loads(csl(speedup))
    assert item["issued"]["date-parts"] == [[2026, 1, 1]]
    assert item["URL"] == speedup.permalink
    entry = bibtex(speedup)
    assert entry.count("{") == entry.count("}")
    assert re.search(r"(?<!\\)[%&_#]", entry.replace(speedup.permalink, "")) is None


def test_a_badge_is_a_picture_that_names_its_key(speedup):
    root = ET.fromstring(badges.badge(speedup))
    assert root.tag.endswith("svg")
    assert speedup.key in root.attrib["aria-label"]
    assert speedup.value in "".join(root.itertext())


def test_the_citation_file_says_what_every_citation_says():
    assert (ROOT / "CITATION.cff").read_text() == citation_file()


def test_what_cite_gives_passes_the_check(there):
    for number in there:
        for site in ("", SITE):
            quoted = f"Some text: {markdown(Citation(number=number, site=site))}, and more."
            assert [r for r in quotation.remarks(quoted, there) if r.wrong] == []


def test_a_changed_digit_is_found_with_its_line_and_what_the_record_says(speedup, there):
    for place in (speedup.value, speedup.interval):
        changed = place.replace(place[0], "7" if place[0] != "7" else "8", 1)
        words = f"{speedup.value} ({speedup.interval}, quick)"
        quoted = "# Title\n\n" + markdown(speedup).replace(words, words.replace(place, changed, 1))
        (remark,) = quotation.remarks(quoted, there)
        assert (remark.line, remark.wrong) == (3, True)
        assert f"whose record says '{words}'" in remark.words


def quoting(cited, words, there):
    return quotation.remarks(f"<!-- cite {cited.key} -->{words}<!-- /cite -->", there)


@pytest.mark.parametrize("said", ["**{v}**", "about {v} as fast", "[{v}](a.html)", "`{v}` ({i})", "{v}\n({i})"])
def test_words_and_markup_around_the_number_are_free(speedup, there, said):
    assert quoting(speedup, said.format(v=speedup.value, i=speedup.interval), there) == ()


@pytest.fixture
def step(there):
    """A step of 149 µs (143 µs to 156 µs)."""
    found = next(number for number in there if "/gpu/" in number.key.text() and number.key.metric == "seconds")
    value = Estimate(value=149.2e-6, low=143.4e-6, high=155.3e-6, processes=3)
    return Citation(number=dataclasses.replace(found, value=value))


@pytest.mark.parametrize(
    "said", ["{v}, between 143 and 156", "{v}, 143 to 156 µs, as measured", "{v} [143 µs, 156 µs]"]
)
def test_an_interval_is_in_words_of_its_own(step, said):
    assert (step.value, step.interval) == ("149 µs", "143 µs to 156 µs")
    assert quoting(step, said.format(v=step.value), [step.number]) == ()


@pytest.mark.parametrize(
    "said",
    [
        "150 µs (143 µs to 156 µs)",
        "150 µs ({v} to 156 µs)",
        "143 µs (149 µs to 156 µs)",
        "150 µs",
        "{v} (143 µs to 149 µs)",
        "{v} (156 µs to 143 µs)",
        "{v} (143 µs)",
        "{v} ({v})",
        "{v} (143 µs to 156 µs to 156 µs)",
        "149 ms (143 µs to 156 µs)",
        "{v} (143 ms to 156 ms)",
        "{v} (143 µs to 156ms)",
    ],
)
def test_numbers_other_than_the_value_and_then_its_interval_are_wrong(step, said):
    (remark,) = quoting(step, said.format(v=step.value), [step.number])
    assert remark.wrong


@pytest.mark.parametrize("said", ["{v}, between {l} and {h}", "{v}, between {l}x and {h}x."])
def test_ends_without_unit_may_have_that_of_the_value(speedup, there, said):
    low, high = speedup.interval.split(" to ")
    assert quoting(speedup, said.format(v=speedup.value, l=low, h=high), there) == ()


@pytest.mark.parametrize("said", ["", "fast", "1{v}", "{v}y", "{v} on 3 machines", "0.{v}"])
def test_other_numbers_or_none_are_wrong(speedup, there, said):
    (remark,) = quoting(speedup, said.format(v=speedup.value), there)
    assert remark.wrong


def test_marks_that_show_the_form_are_no_quotation(there):
    assert (
        quotation.remarks("<!-- cite KEY@digest -->number<!-- /cite --> `<!-- cite KEY -->9<!-- /cite -->`", there)
        == ()
    )


@pytest.mark.parametrize("lone", ["<!-- cite {key} -->9x", "9x<!-- /cite -->", "<!-- cite -->9x<!-- /cite -->"])
def test_a_mark_without_partner_or_key_is_wrong(speedup, there, lone):
    assert all(remark.wrong for remark in quotation.remarks(lone.format(key=speedup.key), there))
    assert quotation.remarks(lone.format(key=speedup.key), there)


@pytest.mark.parametrize("opening", ["{key}", "KEY@digest"])
def test_a_quotation_whose_end_is_missing_does_not_reach_into_the_next(speedup, there, opening):
    lost = f"<!-- cite {opening.format(key=speedup.key)} -->"
    (remark,) = quotation.remarks(f"# Title\n\n{lost}3x\n\n## Next\n\nText, {markdown(speedup)}.", there)
    assert (remark.line, remark.wrong) == (3, True)
    assert remark.words.startswith(f"'{lost}' has no partner")


def test_an_unknown_key_is_wrong_and_the_nearest_is_named(speedup, there):
    key = speedup.key.replace("mnist", "minst")
    (remark,) = quotation.remarks(f"<!-- cite {key} -->9x<!-- /cite -->", there)
    assert remark.wrong
    assert "nearest" in remark.words


@pytest.mark.parametrize("form", [text, markdown, bibtex, csl, badges.badge])
def test_every_form_carries_the_word_of_its_status(speedup, form):
    again = dataclasses.replace(speedup, number=dataclasses.replace(speedup.number, status="repeated"))
    assert form(again) == form(speedup).replace("quick", "repeated") != form(speedup)


def test_a_quotation_with_another_status_than_its_number_has_hears_of_it(speedup, there):
    assert quotation.remarks(markdown(speedup), there) == ()
    (remark,) = quotation.remarks(markdown(speedup).replace(", quick)", ", repeated)"), there)
    assert (remark.words, remark.wrong) == (f"{speedup.key} is quoted as repeated, its status is quick", False)
    prose = markdown(speedup).replace(", quick)", "), which is standard fare")
    assert quotation.remarks(prose, there) == ()


def test_a_quotation_brought_up_to_date_has_the_status_of_what_it_says_now(speedup, there):
    unpinned = markdown(speedup).replace(f"@{speedup.key.partition('@')[2]}", "")
    stale = unpinned.replace(speedup.value, "3.1x").replace(", quick)", ", repeated)")
    assert quotation.renewed(stale, there) == unpinned


def halved(**changes):
    half = factory.record(backend="gpu", step_seconds=[0.0005, 0.0005005, 0.0004995], **changes)
    return [*both(**changes)[:2], half]


def test_a_pinned_quotation_hears_that_a_newer_record_is_clearly_another_before_that_may_be_quoted(speedup):
    there = all_numbers([*both(), *halved(campaign="20270101-000000-new", created="2027-01-01T00:00:00Z")])
    (remark,) = quotation.remarks(markdown(speedup), there)
    assert not remark.wrong
    assert "clearly another in a newer record" in remark.words
    assert remark.words.endswith(", unstable")


def test_a_pinned_quotation_stays_right_and_hears_of_a_newer_record(speedup):
    first = halved(campaign="20270101-000000-new", created="2027-01-01T00:00:00Z")
    confirmed = halved(campaign="20270102-000000-new", created="2027-01-02T00:00:00Z")
    there = all_numbers([*both(), *first, *confirmed])
    (remark,) = quotation.remarks(markdown(speedup), there)
    assert not remark.wrong
    assert "has a newer record" in remark.words
    unpinned = markdown(speedup).replace(f"@{speedup.key.partition('@')[2]}", "")
    assert quotation.remarks(unpinned, there)[0].wrong
    now = quotation.renewed(f"It is {unpinned}.", there)
    assert quotation.remarks(now, there) == ()
    assert "20x" in now or "20.0x" in now
    assert now.startswith("It is <!-- cite ")
    assert "](https://" in now
    assert quotation.renewed(now, there) == now
    assert quotation.renewed(markdown(speedup), there) == markdown(speedup)


@pytest.mark.parametrize(
    "words",
    [
        "about **{v}**",
        "{v}, between {l} and {h}",
        "[{v} here](https://example.org/9x/2026), that is `{l}` to {h}",
        "{v} ({l} to {h}),\nno more",
    ],
)
def test_a_stale_number_is_renewed_within_its_words(speedup, there, words):
    low, high = speedup.interval.split(" to ")
    stale = f"<!-- cite {speedup.key.partition('@')[0]} -->{words.format(v='3x', l='2', h='4')}<!-- /cite -->"
    now = quotation.renewed(stale, there)
    assert now.partition("-->")[2] == f"{words.format(v=speedup.value, l=low, h=high)}<!-- /cite -->"
    assert quotation.remarks(now, there) == ()


def test_words_about_other_numbers_go_with_the_stale_one(speedup, there):
    key = speedup.key.partition("@")[0]
    now = quotation.renewed(f"<!-- cite {key} -->3x on 2 machines of 4 cores and 5 GPUs<!-- /cite -->", there)
    assert now == f"<!-- cite {key} -->{speedup.value}<!-- /cite -->"


@pytest.fixture
def published(tmp_path, monkeypatch):
    for record in both():
        store.add(record, tmp_path / "records")
    monkeypatch.setattr("suite.cli.types.PUBLISHED", tmp_path / "records")
    return tmp_path


def test_the_command_line_cites_lists_and_checks(published, tmp_path):
    run = CliRunner().invoke
    listed = run(cli.main, ["cite", "--list"]).output.splitlines()
    key = next(line.split("  ")[0] for line in listed if "/speedup" in line)
    assert run(cli.main, ["cite", key]).output.startswith("10")
    assert all("speedup" in line for line in run(cli.main, ["cite", "--list", "/speedup"]).output.splitlines())
    page = tmp_path / "page.md"
    page.write_text(run(cli.main, ["cite", key, "--format", "markdown"]).output)
    good = run(cli.main, ["check-docs", str(page)])
    assert (good.exit_code, good.output) == (0, "1 quotation in 1 file\n")
    page.write_text(page.read_text().replace("-->1", "-->2"))
    bad = run(cli.main, ["check-docs", str(page)])
    assert bad.exit_code == 1
    assert f"{page}:1: '2" in bad.output
    picture = run(cli.main, ["cite", key, "--format", "badge"]).output
    assert ET.fromstring(picture).tag.endswith("svg")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["cite"], "name a KEY, or give --list"),
        (["cite", "nonsense"], "it needs machine/workload/backend/scope/metric"),
        (["cite", "a/b/gpu/step/speedup"], "nothing has key 'a/b/gpu/step/speedup'"),
        (["cite", "a/b/gpu/step/speedup", "--site", "ftp://x"], "give the address that begins with https://"),
        (["check-docs", "nowhere.md"], "does not exist"),
        (["check-docs"], "Missing argument"),
    ],
)
def test_what_is_asked_wrongly_is_answered_in_a_line(published, asked, said):
    answer = CliRunner().invoke(cli.main, asked)
    assert answer.exit_code != 0
    assert said in answer.output + str(answer.exception)


@pytest.mark.parametrize("write", [False, True])
def test_a_file_that_is_no_text_is_wrong_and_the_others_are_checked(published, tmp_path, write):
    files = [tmp_path / "picture", tmp_path / "page.md"]
    files[0].write_bytes(b"\xff\xfe\x00")
    files[1].write_text("<!-- cite nothing -->3x<!-- /cite -->\n")
    said = list(citing.checked(files, tmp_path / "records", write))
    assert said[0] == (f"'{files[0]}' cannot be checked: it is not UTF-8 text", True)
    assert said[1][0].startswith(f"{files[1]}:1: ")
    assert said[-1] == ("1 quotation in 2 files", False)


def test_a_files_line_ends_stay_as_they_are(published, tmp_path):
    key = citing.listed(citing.published(tmp_path / "records")[0], "/speedup")[0][0]
    page = tmp_path / "page.md"
    page.write_bytes(f"one\r\n<!-- cite {key} -->3x<!-- /cite -->\r\nthree\n".encode())
    said = list(citing.checked([page], tmp_path / "records", write=True))
    assert said[0] == (f"{page}: brought up to date", False)
    assert page.read_bytes().startswith(b"one\r\n")
    assert page.read_bytes().endswith(b"<!-- /cite -->\r\nthree\n")


def test_a_quoted_record_that_was_edited_is_said_to_be_changed(published, tmp_path):
    run = CliRunner().invoke
    key = citing.listed(citing.published(tmp_path / "records")[0], "/speedup")[0][0]
    page = tmp_path / "page.md"
    page.write_text(run(cli.main, ["cite", key, "--format", "markdown"]).output)
    for path in (tmp_path / "records").glob("*/*.gpu.*.json"):
        path.write_bytes(path.read_bytes().replace(b'"rounds": 3', b'"rounds": 4'))
    for command in (["check-docs", str(page)], ["cite", key], ["cite", "--list", key]):
        answer = run(cli.main, command)
        assert answer.exit_code == 1
        assert "it was changed after it was written" in " ".join(answer.output.split())


def test_write_brings_what_is_not_pinned_up_to_date(published, tmp_path):
    key = citing.listed(citing.published(tmp_path / "records")[0], "/speedup")[0][0]
    page = tmp_path / "page.md"
    page.write_text(f"<!-- cite {key} -->3x<!-- /cite -->\n")
    said = list(citing.checked([page], tmp_path / "records", write=True))
    assert said[0] == (f"{page}: brought up to date", False)
    assert not any(wrong for _, wrong in said)


def test_a_file_with_a_mark_that_has_no_partner_is_not_written(published, tmp_path):
    key = citing.listed(citing.published(tmp_path / "records")[0], "/speedup")[0][0]
    page, whole = tmp_path / "page.md", f"<!-- cite {key} -->3x<!-- /cite -->"
    page.write_text(content := f"{whole}\n<!-- cite {key} -->3x\n\n## Heading\n\n{whole}\n")
    answer = CliRunner().invoke(cli.main, ["check-docs", "--write", str(page)])
    assert answer.exit_code == 1
    assert f"{page}: left as it is, since a mark has no partner" in answer.output
    assert f"{page}:2: '<!-- cite {key} -->' has no partner" in answer.output
    assert page.read_text() == content


def test_keys_are_completed(published):
    param = cli.cite.params[0]
    found = param.type.shell_complete(None, param, "gpu")
    assert all(item.value.startswith("gpu") for item in found)


def test_every_published_key_has_a_row_a_document_and_a_badge(speedup):
    files = numbers.files(both())
    path = next(name for name in files if name.endswith("/speedup.json"))
    document = json.loads(files[path])
    assert document["pinned"] == speedup.key
    assert document["text"] == speedup.value
    assert path.replace(".json", ".svg") in files
    page = files[f"numbers/{speedup.number.record.workload}.md"]
    assert f'id="{speedup.permalink.partition("#")[2]}"' in html.unescape(page)
    assert "data-copy" in page


def test_a_number_that_is_older_than_one_that_may_not_be_quoted_says_so():
    old = factory.record(backend="gpu", step_seconds=(0.001, 0.00101, 0.00099))
    newer = {"campaign": "20270101-000000-new", "created": "2027-01-01T00:00:00Z"}
    shaky = factory.record(backend="gpu", step_seconds=(0.001, 0.0012, 0.0008), **newer)
    name = f"numbers/{old.workload}.md"
    assert "the newest" not in numbers.files([old])[name]
    page = numbers.files([old, shaky])[name]
    (number,) = [n for n in all_numbers([shaky]) if n.key.metric == "seconds"]
    value = html.escape(Citation(number=number).value)
    assert f"<td>quick<br>the newest, {value}, may not be quoted: status unstable, result/2</td>" in page


def test_a_number_that_may_not_be_quoted_has_no_files_but_a_reason():
    files = numbers.files([factory.record(profile="smoke")])
    (name,) = files
    assert "None of its numbers may be quoted" in files[name]
    assert "status smoke" in files[name]
    (number,) = [number for number in all_numbers([factory.record(profile="smoke")]) if number.key.metric == "seconds"]
    assert f'<li id="{Citation(number=number).permalink.partition("#")[2]}"' in html.unescape(files[name])


def test_every_page_written_by_hand_quotes_what_the_records_say():
    pages = [*ROOT.glob("site/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    generated = subprocess.run(
        ["git", "-C", str(ROOT), "check-ignore", *map(str, pages)], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    mine = [page for page in pages if str(page) not in generated]
    assert [line for line, wrong in citing.checked(mine, ROOT / "site" / "records") if wrong] == []


def test_citing_needs_no_jax():
    code = "import sys; from suite import citing; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0

"""Numbers are quoted with all that proves them, and a quotation that does not say what its key means is found."""

import dataclasses
import html
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite import __version__, cli
from suite.console import citing
from suite.report.charts import badges
from suite.report.pages import numbers
from suite.report.parts.facts import Facts
from suite.results.cite import one_host, quotation, stored_pools
from suite.results.cite.citation import AUTHOR, TITLE, Citation, bibtex, csl, markdown, text
from suite.results.cite.numbers import Numbers
from suite.results.records import store
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled

ROOT = Path(__file__).parents[1]
SITE = "https://example.org/gpu/"


KEY = "test-gpu-16-cores/mnist_mlp/gpu/step/speedup"


def stored(*records):
    """The numbers of these records, each of a pool stored as it is."""
    there = Numbers(records)
    return Numbers(records, map(stored_pools.line_of, there.pooled.values()))


@pytest.fixture
def there():
    return stored(*factory.hosts())


@pytest.fixture
def speedup(there):
    found = there.pinned(there.resolve(KEY))
    assert found.quotable
    return Citation(number=found, site=SITE)


def alone(**changes):
    """A number of one campaign, and all numbers of its record."""
    there = Numbers([factory.record(**changes)])
    return there.resolve("test-gpu-16-cores/mnist_mlp/cpu/step/seconds"), there


def test_a_sentence_has_number_interval_range_hosts_case_machine_date_version_evidence_digest_and_key(speedup):
    said = text(speedup)
    assert said.startswith(
        f"{speedup.value} (95 % interval {speedup.interval}, next host {speedup.further}, 3 hosts, quotable): "
        "CPU time over GPU time of one step"
    )
    record = speedup.number.record
    for part in (record.workload, f"batch {record.case.batch}", "float32-highest", record.machine.name, "jax 0.",
                 f"until {record.created[:10]}", f"pool of 6 records, among them {SITE}{record.address}",
                 speedup.number.digest, speedup.key):  # fmt: skip
        assert part in said
    assert "@" in speedup.key


FEW = msgspec.structs.replace(factory.KNOWN, name="few, 2 cores", cores=2, cpu_number=208, gpus=())
BESIDE_FEW = (
    *factory.hosts(),
    *(r for r in factory.hosts(machine=FEW, cpu=0.004, day=2) if r.backend == "cpu"),
)


@pytest.mark.parametrize("form", [text, bibtex, csl])
def test_a_citation_beside_a_slow_cpu_says_what_the_other_takes(speedup, form):
    there = stored(*BESIDE_FEW)
    cited = Citation(number=there.pinned(there.resolve(KEY)))
    assert cited.number.quotable
    assert cited.number.slow_cpu.startswith("2 cores of Test CPU (")
    assert " take 0.40 (" in cited.number.slow_cpu
    for number in (cited.number, there.resolve(cited.key)):  # current and pinned
        said = form(Citation(number=number))
        assert f"low CPU: {number.slow_cpu}" in said
        assert "quotable, slow CPU" in said
    assert "low CPU" not in form(speedup)


def test_lists_pages_and_badges_mark_a_number_beside_a_slow_cpu():
    there = stored(*BESIDE_FEW)
    cited = Citation(number=there.pinned(there.resolve(KEY)))
    for words in (badges.badge(cited), dict(citing.listed(there))[KEY]):
        assert ", slow CPU" in words
    assert json.loads(numbers.document(cited))["slow_cpu"] == cited.number.slow_cpu
    (listed,) = json.loads(citing.document(there, KEY))["numbers"]
    assert listed["slow_cpu"] == cited.number.slow_cpu
    pages = factory.pages(BESIDE_FEW)
    assert "quotable, slow CPU" in pages["numbers/index.md"]
    own = pages["numbers/mnist_mlp.md"]
    assert own.count(f"Slow CPU: {cited.number.slow_cpu}") >= 4  # the headline, its sentence, BibTeX, its row
    assert "low CPU" not in factory.pages(factory.hosts())["numbers/index.md"]


def test_a_number_of_one_campaign_is_on_one_host():
    number, _ = alone()
    pinned = one_host.of_record(number.record, "seconds", ())
    assert pinned is not None
    cited = Citation(number=pinned)
    said, record = text(cited), number.record
    assert f"({cited.interval}, on one host)" in markdown(cited)
    assert ", on one host): time of one step" in said
    assert f"measured on 2026-01-01 with gpu-speedup-suite 0, jax 0.12.0. Evidence: record {record.name} of " in said
    assert cited.record not in said  # a relative address leads nowhere outside the site
    assert f"record https://a.example/{cited.record}, " in text(dataclasses.replace(cited, site="https://a.example/"))
    assert "to be quoted" not in said


def test_a_speed_up_says_with_how_many_threads_the_cpu_was_timed(speedup, monkeypatch):
    way = speedup.way
    assert "thread" not in way
    members = [
        msgspec.structs.replace(
            record, case=msgspec.structs.replace(record.case, threads=8 * (record.backend == "cpu"))
        )
        for record in speedup.number.members
    ]
    monkeypatch.setattr(Record, "chosen_threads", property(lambda record: record.backend == "cpu"))
    cited = Citation(number=dataclasses.replace(speedup.number, members=tuple(members)))
    assert cited.way == f"{way}, 8 threads on the CPU"


@pytest.mark.parametrize("metric", ["seconds", "examples-per-second", "flop-per-second", "speedup", "best-over-best"])
def test_each_metric_has_its_unit(there, metric):
    cited = Citation(number=there.resolve(KEY.replace("speedup", metric)))
    unit = {"seconds": r"[mµn]?s", "examples-per-second": "examples/s", "flop-per-second": ".?FLOP/s"}
    assert re.fullmatch(rf"[\d.,]+ ?{unit.get(metric, 'x')}", cited.value)
    assert " to " in cited.interval


def test_a_step_on_random_data_is_told_from_the_same_on_stand_ins():
    ways = [
        Citation(number=one_host.numbers([factory.record(data=data)])[0]).way for data in ("embedded", "random", "tfds")
    ]
    assert ways == ["batch 128, jax, float32-highest", "batch 128, jax, random data, float32-highest",
                    "batch 128, jax, real data, float32-highest"]  # fmt: skip


def test_a_number_that_may_not_be_quoted_says_so_in_every_form():
    cited = Citation(number=alone(profile="smoke")[0])
    for form in (text, bibtex, csl):
        assert "ot to be quoted: it only shows that it runs" in form(cited)


@pytest.mark.parametrize("form", ["text", "markdown", "bibtex", "csl", "badge"])
def test_the_command_line_says_that_a_number_may_not_be_quoted_whatever_the_form(published, tmp_path, form):
    store.add(factory.record("cifar10_mlp", profile="smoke"), tmp_path / "records")
    answer = CliRunner().invoke(
        cli.main,
        [
            "cite",
            KEY.replace("mnist", "cifar10").replace("gpu/", "cpu/").replace("speedup", "seconds"),
            "--format",
            form,
        ],
    )
    assert answer.exit_code == 0
    assert answer.stderr.startswith("note: do not quote: it only shows that it runs")
    assert "not to be quoted" not in CliRunner().invoke(cli.main, ["cite", KEY, "--format", form]).stderr


def test_a_pinned_quotation_that_may_not_be_quoted_is_right_with_a_remark():
    number, there = alone(profile="smoke")
    (remark,) = quotation.remarks(markdown(Citation(number=number)), there)
    assert not remark.wrong
    assert remark.words == f"{number.key.text()} is not to be quoted: it only shows that it runs"


def test_one_remark_says_of_a_pinned_quotation_that_it_may_not_be_quoted_and_what_its_pool_says():
    number, _ = alone(profile="smoke")
    there = Numbers([number.record, *factory.hosts()])
    (remark,) = quotation.remarks(markdown(Citation(number=number)), there)
    assert not remark.wrong
    assert "is not to be quoted: it only shows that it runs; it is of one host, test-gpu-16-cores/" in remark.words


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
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert {f'title: "{TITLE}"', f"  - name: {AUTHOR}", f"version: {__version__}"} <= {*lines}


def test_what_cite_gives_passes_the_check(there):
    for number in map(there.pinned, there.current.values()):
        for site in ("", SITE):
            quoted = f"Some text: {markdown(Citation(number=number, site=site))}, and more."
            assert [r for r in quotation.remarks(quoted, there) if r.wrong] == []


def test_a_changed_digit_is_found_with_its_line_and_what_the_record_says(speedup, there):
    for place in (speedup.value, speedup.interval):
        changed = place.replace(place[0], "7" if place[0] != "7" else "8", 1)
        words = f"{speedup.value} ({speedup.interval})"
        quoted = "# Title\n\n" + markdown(speedup).replace(words, words.replace(place, changed, 1))
        (remark,) = quotation.remarks(quoted, there)
        assert (remark.line, remark.wrong) == (3, True)
        assert f"which says '{words}'" in remark.words


def quoting(cited, words, there):
    return quotation.remarks(f"<!-- cite {cited.key} -->{words}<!-- /cite -->", there)


@pytest.mark.parametrize("said", ["**{v}**", "about {v} as fast", "[{v}](a.html)", "`{v}` ({i})", "{v}\n({i})"])
def test_words_and_markup_around_the_number_are_free(speedup, there, said):
    assert quoting(speedup, said.format(v=speedup.value, i=speedup.interval), there) == ()


@pytest.fixture
def step(there):
    """A step of 149 µs (143 µs to 156 µs)."""
    found = there.resolve(KEY.replace("speedup", "seconds"))
    value = Pooled(value=149.2e-6, low=143.4e-6, high=155.3e-6, hosts=3, processes=3)
    return Citation(number=dataclasses.replace(found, value=value))


class Only(Numbers):
    """One number, whatever the key."""

    def __init__(self, number):
        super().__init__([])
        self._only = number

    def resolve(self, text):
        """Return it."""
        return self._only


@pytest.mark.parametrize(
    "said", ["{v}, between 143 and 156", "{v}, 143 to 156 µs, as measured", "{v} [143 µs, 156 µs]"]
)
def test_an_interval_is_in_words_of_its_own(step, said):
    assert (step.value, step.interval) == ("149 µs", "143 µs to 156 µs")
    assert quoting(step, said.format(v=step.value), Only(step.number)) == ()


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
    (remark,) = quoting(step, said.format(v=step.value), Only(step.number))
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
def test_every_form_carries_the_state_of_what_may_not_be_quoted(speedup, form):
    assert ", open" not in form(speedup)
    assert ", open" in form(dataclasses.replace(speedup, number=dataclasses.replace(speedup.number, state="open")))


def test_a_quotation_with_another_state_than_its_number_has_hears_of_it(speedup, there):
    assert quotation.remarks(markdown(speedup), there) == ()
    words = f"{speedup.interval})"
    (remark,) = quotation.remarks(markdown(speedup).replace(words, f"{words[:-1]}, open)"), there)
    assert (remark.words, remark.wrong) == (f"{speedup.key} is quoted as open, it is quotable", False)


@pytest.mark.parametrize(
    "word", ["quick", "standard", "repeated", "unstable", "incomplete", "smoke", "old JAX", "steady"]
)
def test_a_word_that_no_number_has_any_more_is_no_remark(speedup, there, word):
    words = f"{speedup.interval})"
    assert quotation.remarks(markdown(speedup).replace(words, f"{words[:-1]}, {word})"), there) == ()


def test_a_quotation_brought_up_to_date_has_the_state_of_what_it_says_now(speedup, there):
    unpinned = markdown(speedup).replace(f"@{speedup.key.partition('@')[2]}", "")
    words = f"({speedup.interval})"
    for word in ("repeated", "open", "on one host"):
        stale = unpinned.replace(speedup.value, "3.1x").replace(words, f"{words[:-1]}, {word})")
        assert quotation.renewed(stale, there) == unpinned
    noisy = Numbers(factory.hosts(2))
    now = quotation.renewed(unpinned.replace(speedup.value, "3.1x").replace(words, f"{words[:-1]}, quick)"), noisy)
    assert Citation(number=noisy.resolve(KEY)).quoted.endswith(", open)")
    assert Citation(number=noisy.resolve(KEY)).quoted in now


def test_a_pinned_pool_stays_right_and_hears_that_its_pool_has_changed(speedup, there):
    line = stored_pools.line_of(there.resolve(KEY))
    later = Numbers([*factory.hosts(), *factory.hosts(gpu=0.0005, day=2, program="x")], [line])
    assert quotation.remarks(markdown(speedup), Numbers(factory.hosts(), [line])) == ()
    (remark,) = quotation.remarks(markdown(speedup), later)
    assert not remark.wrong
    now = Citation(number=later.resolve(KEY))
    assert remark.words == f"{speedup.key}: its pool has changed, {KEY} now says {now.quoted}"
    assert quotation.renewed(markdown(speedup), later) == markdown(speedup)
    unpinned = markdown(speedup).replace(f"@{speedup.key.partition('@')[2]}", "")
    assert quotation.remarks(unpinned, later)[0].wrong
    renewed = quotation.renewed(f"It is {unpinned}.", later)
    assert quotation.remarks(renewed, later) == ()
    assert now.value in renewed
    assert "](https://" in renewed
    assert quotation.renewed(renewed, later) == renewed


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.01, "it is of one host, "), (0.02, "it lies outside ")], ids=["within", "outside"]
)
def test_a_pinned_record_hears_what_the_pool_of_its_kind_says(seconds, said):
    number, _ = alone(step_seconds=[seconds, 1.001 * seconds, 0.999 * seconds])
    pinned = one_host.of_record(number.record, "seconds", ())
    there = Numbers([number.record, *factory.hosts()])
    (remark,) = quotation.remarks(markdown(Citation(number=pinned)), there)
    assert remark.words.startswith(f"{pinned.key.text()}: {said}")
    assert not remark.wrong
    assert Citation(number=there.resolve(pinned.key.unpinned.text())).quoted in remark.words


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
    now = quotation.renewed(f"<!-- cite {KEY} -->3x on 2 machines of 4 cores and 5 GPUs<!-- /cite -->", there)
    assert now == f"<!-- cite {key} -->{speedup.value}<!-- /cite -->"


@pytest.fixture
def published(tmp_path, monkeypatch):
    for record in factory.hosts():
        store.add(record, tmp_path / "records")
    monkeypatch.setattr("suite.cli.types.PUBLISHED", tmp_path / "records")
    return tmp_path


def test_the_command_line_cites_lists_and_checks(published, tmp_path):
    run = CliRunner().invoke
    listed = run(cli.main, ["cite", "--list"]).output.splitlines()
    assert KEY in {line.split("  ")[0] for line in listed}
    assert run(cli.main, ["cite", KEY]).stdout.startswith("10")
    assert all("speedup" in line for line in run(cli.main, ["cite", "--list", "/speedup"]).output.splitlines())
    page = tmp_path / "page.md"
    page.write_text(run(cli.main, ["cite", KEY, "--format", "markdown"]).output)
    good = run(cli.main, ["check-citations", str(page)])
    assert (good.exit_code, good.output) == (0, "1 quotation in 1 file\n")
    page.write_text(page.read_text().replace("-->1", "-->2"))
    bad = run(cli.main, ["check-citations", str(page)])
    assert bad.exit_code == 1
    assert f"{page}:1: '2" in bad.output
    picture = run(cli.main, ["cite", KEY, "--format", "badge"]).output
    assert ET.fromstring(picture).tag.endswith("svg")


def test_a_pool_that_is_cited_is_stored_once_and_pinned(published, tmp_path):
    first, second = (CliRunner().invoke(cli.main, ["cite", KEY]) for _ in range(2))
    assert first.stdout == second.stdout
    assert (len(first.stderr.splitlines()), second.stderr) == (1, "")
    assert first.stderr.startswith("note: stored in site/pools.jsonl")
    (line,), _ = stored_pools.read(tmp_path / stored_pools.FILE_NAME)
    assert f"Key {KEY}@{line.digest[:16]}." in first.stdout
    assert CliRunner().invoke(cli.main, ["cite", f"{KEY}@{line.digest}"]).stdout == first.stdout


def test_a_pool_that_cannot_be_stored_is_cited_without_a_digest(published, tmp_path):
    (tmp_path / stored_pools.FILE_NAME).mkdir()
    answer = CliRunner().invoke(cli.main, ["cite", KEY])
    assert answer.exit_code == 0
    assert f"Key {KEY}." in answer.stdout
    assert answer.stderr.startswith("note: the key has no digest, so its number may change later: cannot write")


def test_a_stored_pool_that_was_edited_is_said_to_be_changed(published, tmp_path):
    run, page, file = CliRunner().invoke, tmp_path / "page.md", tmp_path / stored_pools.FILE_NAME
    page.write_text(run(cli.main, ["cite", KEY, "--format", "markdown"]).stdout)
    file.write_bytes(file.read_bytes().replace(b'"hosts":3', b'"hosts":4'))
    answer = run(cli.main, ["check-citations", str(page)])
    assert answer.exit_code == 1
    assert f"line 1 of '{file}' is no stored pool: it was changed after it was stored" in answer.output
    assert f"no record and no stored pool under it has that digest; '{KEY}'" in answer.output


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["cite"], "name a KEY, or list all with --list"),
        (["cite", "nonsense"], "it needs machine/workload/backend/scope/metric"),
        (["cite", "a/b/gpu/step/speedup"], "nothing has key 'a/b/gpu/step/speedup'"),
        (["cite", "a/b/gpu/step/speedup", "--site", "ftp://x"], "give an address that begins with https://"),
        (["check-citations", "nowhere.md"], "does not exist"),
        (["check-citations"], "Missing argument"),
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
    page = tmp_path / "page.md"
    page.write_bytes(f"one\r\n<!-- cite {KEY} -->3x<!-- /cite -->\r\nthree\n".encode())
    said = list(citing.checked([page], tmp_path / "records", write=True))
    assert said[0] == (f"{page}: updated", False)
    assert page.read_bytes().startswith(b"one\r\n")
    assert page.read_bytes().endswith(b"<!-- /cite -->\r\nthree\n")


def test_a_quoted_record_that_was_edited_is_said_to_be_changed(published, tmp_path):
    run = CliRunner().invoke
    page = tmp_path / "page.md"
    page.write_text(run(cli.main, ["cite", KEY, "--format", "markdown"]).output)
    for path in (tmp_path / "records").glob("*/*.gpu.*.json"):
        path.write_bytes(path.read_bytes().replace(b'"rounds": 3', b'"rounds": 4'))
    for command in (["check-citations", str(page)], ["cite", f"{KEY}@{'0' * 16}"]):
        answer = run(cli.main, command)
        assert answer.exit_code == 1
        assert "it was changed after it was written" in " ".join(answer.output.split())


def test_write_brings_what_is_not_pinned_up_to_date(published, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"<!-- cite {KEY} -->3x<!-- /cite -->\n")
    said = list(citing.checked([page], tmp_path / "records", write=True))
    assert said[0] == (f"{page}: updated", False)
    assert not any(wrong for _, wrong in said)


def test_a_file_with_a_mark_that_has_no_partner_is_not_written(published, tmp_path):
    page, whole = tmp_path / "page.md", f"<!-- cite {KEY} -->3x<!-- /cite -->"
    page.write_text(content := f"{whole}\n<!-- cite {KEY} -->3x\n\n## Heading\n\n{whole}\n")
    answer = CliRunner().invoke(cli.main, ["check-citations", "--write", str(page)])
    assert answer.exit_code == 1
    assert f"{page}: unchanged, since a mark has no partner" in answer.output
    assert f"{page}:2: '<!-- cite {KEY} -->' has no partner" in answer.output
    assert page.read_text() == content


def test_keys_are_completed(published):
    param = cli.cite.params[0]
    found = param.type.shell_complete(None, param, "gpu")
    assert found == []
    assert KEY in {item.value for item in param.type.shell_complete(None, param, "test-gpu")}


def test_every_number_to_quote_has_a_row_a_document_and_a_badge(speedup):
    records = factory.hosts()
    files = numbers.files(Facts(records=records, stored=[stored_pools.line_of(speedup.number)]))
    path = next(name for name in files if name.endswith("/speedup.json"))
    document = json.loads(files[path])
    assert (document["pinned"], document["text"], document["status"]) == (speedup.key, speedup.value, "quotable")
    assert (document["hosts"], len(document["campaigns"]), document["reason"]) == (3, 3, "")
    assert path.replace(".json", ".svg") in files
    page = files[f"numbers/{speedup.number.record.workload}.md"]
    assert f'<tr id="{speedup.permalink.partition("#")[2]}"' in html.unescape(page)
    assert speedup.further in page
    assert "data-copy" in page


def test_an_open_number_has_its_reason_below_and_a_ratio_keeps_its_document_and_badge():
    files = numbers.files(Facts(records=factory.hosts(2)))
    assert {name.rpartition("/")[2] for name in files} == {
        "mnist_mlp.md", "speedup.html", "speedup.json", "speedup.svg", "best-over-best.json", "best-over-best.svg",
    }  # fmt: skip
    page = html.unescape(files["numbers/mnist_mlp.md"])
    assert "None of its numbers may be quoted" in page
    assert f'<li id="{KEY.replace("/", ".")}"' in page
    assert "2 hosts of 3" in page
    lines = [line for line in page.splitlines() if ".cpu.step.seconds" in line]
    assert len(lines) == 1  # of a case, for a reason
    assert re.search(r'; <span id="[^"]*[.]cpu[.]step[.]examples-per-second">[\d,]+ examples/s', lines[0])
    (badge,) = (files[name] for name in files if name.endswith("/speedup.svg"))
    assert ">10.0x, open</text>" in badge


def test_a_time_that_may_no_longer_be_quoted_keeps_its_document_and_badge():
    files = numbers.files(Facts(records=factory.hosts(spread=0.5)))
    document = json.loads(files["numbers/test-gpu-16-cores/mnist_mlp/cpu/step/seconds.json"])
    assert (document["hosts"], document["quotable"], document["status"]) == (3, False, "open")
    assert "open</text>" in files["numbers/test-gpu-16-cores/mnist_mlp/cpu/step/seconds.svg"]


def test_a_number_of_one_host_has_no_files_but_a_place():
    files = numbers.files(Facts(records=[factory.record(profile="smoke")]))
    (name,) = files
    assert "None of its numbers may be quoted" in files[name]
    assert "it only shows that it runs" in files[name]
    place = Citation(number=alone(profile="smoke")[0]).permalink.partition("#")[2]
    assert f' id="{place}"' in html.unescape(files[name])


def test_every_stored_pool_is_as_it_was_stored_and_its_records_are_published():
    there, problems = citing.published(ROOT / "site" / "records")
    lines, _ = stored_pools.read(ROOT / "site" / stored_pools.FILE_NAME)
    assert problems == ()
    assert len({line.digest for line in lines}) == len(lines) > 0
    for line in lines:
        assert there.resolve(f"{line.key}@{line.digest}").value.value == line.value


def test_every_page_written_by_hand_quotes_what_the_records_say():
    pages = [*ROOT.glob("site/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    generated = subprocess.run(
        ["git", "-C", str(ROOT), "check-ignore", *map(str, pages)], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    mine = [page for page in pages if str(page) not in generated]
    assert [line for line, wrong in citing.checked(mine, ROOT / "site" / "records") if wrong] == []


def test_citing_needs_no_jax():
    code = "import sys; from suite.console import citing; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0

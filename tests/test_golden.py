"""Stored records render to the stored pages; `nox -s golden` writes these anew, and the difference is read."""

from difflib import unified_diff
from itertools import islice

import pytest
from golden.__main__ import PAGES, RECORDS, STORED, legible, main, rendered, stored

from suite.results.records import store
from suite.results.single.summary import summary

LINES = 40
LARGEST_BYTES = 150_000
REMEDY = "if it is meant: nox -s golden, and read the diff"


@pytest.fixture(scope="module")
def pages():
    return rendered()


def difference(name, before, now):
    lines = unified_diff(before.splitlines(), now.splitlines(), f"stored {name}", "rendered", n=1, lineterm="")
    return "\n".join(islice(lines, LINES))


@pytest.mark.parametrize("name", STORED)
def test_the_stored_records_render_to_the_stored_page(pages, name):
    before = stored().get(name, "")
    if pages[name] != before:
        pytest.fail(f"{difference(name, before, pages[name])}\n{REMEDY}", pytrace=False)


def test_every_stored_page_is_rendered_and_all_are_small():
    assert sorted(stored()) == sorted(STORED)
    assert sum(path.stat().st_size for path in PAGES.rglob("*.md")) < LARGEST_BYTES


def test_the_stored_records_have_both_backends_a_baseline_a_cold_start_and_what_can_go_wrong():
    records, problems = store.load([RECORDS])
    assert problems == ()
    assert {record.backend for record in records} == {"cpu", "gpu"}
    assert {(record.case.implementation, record.backend) for record in records} >= {("torch", "cpu"), ("torch", "gpu")}
    assert {record.case.scope for record in records} == {"step", "cold"}
    found = [summary(record) for record in records]
    assert {(item.state, item.lacking, item.steady) for item in found} == {
        ("open", False, True), ("open", False, False), ("open", True, False), ("invalid", False, False)
    }  # fmt: skip


def test_a_line_is_a_row_a_cell_or_an_item_and_nothing_else_is_changed(pages):
    page = '<tr><th>a</th><td data-sort="1" class="short">1</td></tr><ul>\n<li>b</li></ul><h1>c</h1><table>'
    lines = '\n<tr>\n<th>a</th>\n<td data-sort="1" class="short">1</td></tr><ul>\n<li>b</li></ul><h1>c</h1><table>'
    assert legible(page) == lines
    assert all(legible(text) == text for text in pages.values())


def test_numbers_that_differ_in_their_last_bit_sort_alike():
    assert legible('<b data-sort="0.0001739165249854391">') == legible('<b data-sort="0.0001739165249854392">')
    assert legible('<b data-sort="0.000173916525">') != legible('<b data-sort="0.000173916526">')


def test_a_difference_is_short_and_says_which_line_it_is():
    said = difference("page.md", "a\nb\nc\n", "a\nB\nc\n")
    assert said.splitlines() == ["--- stored page.md", "+++ rendered", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]
    assert len(difference("page.md", "", "line\n" * 100).splitlines()) == LINES


def test_what_is_rewritten_is_what_changed(tmp_path, monkeypatch, capsys, pages):
    monkeypatch.setattr("golden.__main__.PAGES", tmp_path)
    monkeypatch.setattr("golden.__main__.rendered", lambda: pages)
    main()
    assert stored() == pages
    (tmp_path / STORED[0]).write_text("another", encoding="utf-8")
    (tmp_path / "gone.md").write_text("no longer rendered", encoding="utf-8")
    capsys.readouterr()
    main()
    assert stored() == pages
    said = capsys.readouterr().out.splitlines()
    assert said[:-1] == [f"changed: {tmp_path / name}" for name in (STORED[0], "gone.md")]

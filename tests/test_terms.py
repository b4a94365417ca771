"""Tooltips: the first mention of a word of the glossary on a page leads to its meaning, and the page's text stays."""

import re
from pathlib import Path

import pytest

from suite.report.parts.html import anchor
from suite.report.parts.words import groups, in_sentences, tooltips
from suite.report.site.terms import explained

_TERM = re.compile(r'<a class="term" href="([^"]*)" title="([^"]+)"[^>]*>([^<]*)</a>')


def page(body):
    return f"<body><nav>host campaign</nav><article class='x'>{body}</article></body>"


def marked(body, up=""):
    """Return the links that a page gets, as (address, text)."""
    return [(address, text) for address, _, text in _TERM.findall(explained(page(body), up))]


def test_the_first_mention_in_a_sentence_is_a_link_with_the_meaning():
    html = explained(page("<p>A campaign has rounds. Another campaign.</p><p>Campaigns</p>"), "../")
    assert html.count("<a class") == 2
    assert f'<a class="term" href="../glossary.html#campaign" title="{tooltips()["campaign"]}">campaign</a>' in html
    assert "Another campaign.</p><p>Campaigns" in html


@pytest.mark.parametrize(
    "body",
    ["<h2>campaign</h2>", "<code>campaign</code>", '<a href="x">campaign</a>', "<caption>campaign</caption>",
     '<td title="why">open</td>', '<tr data-x="y" class="aside">\n<td>quotable</td></tr>',
     "<p>open the file, run a step</p>", "<p>recording, hot-key, @key</p>"],
)  # fmt: skip
def test_nothing_is_marked_in_headings_code_links_remarks_or_other_words(body):
    assert explained(page(body), "") == page(body)


def test_words_of_the_first_page_are_marked_in_its_sentences():
    body = "<p>2 results are of other hosts, at a cold start. The scope is a step. Best / best divides.</p>"
    assert [text for _, text in marked(body)] == ["hosts", "cold start", "scope", "Best / best"]


def test_a_head_keeps_its_text_and_a_cell_with_a_word_of_its_own_becomes_the_link():
    head = '<th scope="col">CPU: baseline / JAX</th>'
    assert marked(head) == [("glossary.html#baseline-jax", "")]
    assert "CPU: baseline / JAX<a" in explained(page(head), "")
    assert 'aria-label="baseline / JAX: meaning"' in explained(page(head), "")
    assert marked("<td class='text'>transfer, a step</td><td>open</td><td>open</td>") == [
        ("glossary.html#transfer", "transfer"), ("glossary.html#open", "open")
    ]  # fmt: skip


def test_without_its_tooltips_a_page_is_what_it_was():
    body = (
        "<p>One <b>record</b> of a host's pool, certified.</p><table><th scope='row'>step</th><td>quotable</td></table>"
    )
    bare = re.sub(r'<a class="term"[^>]*>([^<]*)</a>', r"\1", explained(page(body), ""))
    assert bare == page(body)
    assert len(marked(body)) == 6


def test_every_tooltip_is_one_sentence_of_the_glossary():
    meanings = {word: meaning for group in groups(()).values() for word, meaning in group.items()}
    assert {word: meanings[word].startswith(short) for word, short in tooltips().items()} == dict.fromkeys(
        meanings, True
    )
    assert set(in_sentences()) <= meanings.keys()
    assert max(map(len, tooltips().values())) <= 180
    anchors = list(map(anchor, meanings))
    assert len(set(anchors)) == len(anchors)


@pytest.mark.browser
def test_a_click_on_a_head_sorts_even_on_its_mark_and_the_enter_key_follows_the_mark(tmp_path, browser):
    scripts = Path(__file__).parent.parent / "site" / "assets" / "js"
    names = ("tablesort.min.js", "suite.js")
    head = explained(page('<table class="results"><thead><tr><th scope="col">a</th><th scope="col">hosts</th></tr>'
                          "</thead><tbody><tr><td>x</td><td>2</td></tr><tr><td>y</td><td>1</td></tr></tbody></table>"),
                     "")  # fmt: skip
    script = "".join(f'<script src="{(scripts / name).as_uri()}"></script>' for name in names)
    (tmp_path / "page.html").write_text(f"<style>th a:empty::before {{ content: '?' }}</style>{head}{script}")
    (tmp_path / "glossary.html").write_text("<p>glossary")
    view = browser.new_page()
    view.goto((tmp_path / "page.html").as_uri())
    mark, cell = view.locator("th a.term"), view.locator("th").nth(1)
    assert cell.get_attribute("title") == tooltips()["hosts"]
    mark.click()
    assert cell.get_attribute("aria-sort") in ("ascending", "descending")
    assert view.url.endswith("page.html")
    mark.press("Enter")
    view.wait_for_url("**/glossary.html#hosts")
    view.close()

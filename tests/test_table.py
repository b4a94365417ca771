"""A table on a page has a column for what differs, and says the rest once."""

from dataclasses import replace
from pathlib import Path

import factory
import pytest

from suite.console import printing
from suite.report.pages import ledger
from suite.report.parts.facts import Facts
from suite.report.parts.templates import parts
from suite.results.views.table import INTERVAL, ON_ONE_HOST, Cell, Table, chosen, condensed, filled, reasons

COLUMNS = ("model", "precision", "time", "95 % interval", "rate", "status")


def table(*rows, columns=COLUMNS):
    made = tuple(tuple(cell if isinstance(cell, Cell) else Cell(text=cell) for cell in row) for row in rows)
    return Table(title="Times", columns=columns, rows=made)


def drawn(made, **about):
    return parts("page.md").table(made, **about)


def test_what_is_the_same_in_every_row_is_said_once_and_the_status_stands_beside_the_interval():
    made = condensed(
        table(("a", "tf32", "1 s", "0 s to 2 s", "–", "quick"), ("b", "tf32", "2 s", "1 s to 3 s", "–", "quick"))
    )
    assert made.columns == ("model", "time", "95 % interval", "status")
    assert [[cell.text for cell in row] for row in made.rows] == [
        ["a", "1 s", "0 s to 2 s", "quick"], ["b", "2 s", "1 s to 3 s", "quick"],
    ]  # fmt: skip
    assert made.same == "In every row: precision tf32."
    assert made.notes == ("Without a value: rate.",)


@pytest.mark.parametrize("status", ["status", "verdict"])
def test_a_judgement_has_its_column_whatever_it_says(status):
    assert status in condensed(table(("a", "x"), ("b", "x"), columns=("model", status))).columns


@pytest.mark.parametrize(
    "cells",
    [
        (Cell(text="x"), Cell(text="y")),
        (Cell(text="x", remark="because"), Cell(text="x", remark="because")),
        (Cell(text="x", sort=1.0, record=factory.record()), Cell(text="x", sort=1.0, record=factory.record())),
    ],
    ids=["different", "remarks", "links"],
)
def test_a_column_that_says_more_than_one_word_stays(cells):
    made = table(*(("a", cell) for cell in cells), columns=("model", "what"))
    assert condensed(made) == made


def test_the_first_column_and_one_without_a_name_stay_and_so_does_a_single_row():
    assert condensed(table(("a", "x"), ("a", "x"), columns=("model", ""))).columns == ("model", "")
    assert condensed(table(("a", "x"), columns=("model", "what"))).columns == ("model", "what")


def test_why_a_column_is_empty_is_said():
    empty = Cell(text="–", remark="not compared on this machine")
    assert condensed(table(("a", empty), ("b", empty), columns=("model", "baseline"))).notes == (
        "Without a value: baseline (not compared on this machine).",
    )


def test_a_column_that_is_empty_for_several_reasons_is_left_out_and_each_reason_stands_once_below_the_table():
    cells = (Cell(text="–", remark="failed"), Cell(text="–", remark="not measured"), Cell(text="–", remark="failed"))
    made = filled(table(*(("a", cell) for cell in cells), columns=("model", "rate")))
    assert made.columns == ("model",)
    assert made.notes == ("Without a value: rate (failed; not measured).",)


@pytest.mark.parametrize("words", [True, False])
def test_a_page_leaves_out_an_empty_column_of_any_table_and_says_so_below_it(words):
    made = replace(table(("a", Cell(text="–", remark="<why>")), columns=("model", "rate")), words=words)
    assert '<th scope="col">rate</th>' not in drawn(made)
    assert drawn(made).index("</table>") < drawn(made).index("Without a value: rate (&#60;why&#62;).")


def test_a_dash_that_says_that_nothing_speaks_against_a_row_is_a_value():
    assert filled(table(("a", "–"), columns=("model", ON_ONE_HOST))).columns == ("model", ON_ONE_HOST)


def test_an_empty_column_of_several_with_one_name_is_told_apart_and_is_not_named_where_its_value_is_empty_too():
    columns = ("model", "waited for", INTERVAL, "half of requests", INTERVAL)
    no, why = Cell(text="–"), Cell(text="–", remark="its first step fails")
    no_interval = condensed(table(("a", "1 s", no, "1", "0 to 2"), ("b", "2 s", no, "2", "1 to 3"), columns=columns))
    assert no_interval.columns == ("model", "waited for", "half of requests", INTERVAL)
    assert no_interval.notes == ("Without a value: 95 % interval of waited for.",)
    no_value = condensed(table(("a", no, no, "1", "0 to 2"), ("b", why, no, "2", "1 to 3"), columns=columns))
    assert no_value.columns == ("model", "half of requests", INTERVAL)
    assert no_value.notes == ("Without a value: waited for (its first step fails).",)


def test_the_status_of_several_intervals_stays_where_it_is():
    columns = ("model", "95 % interval", "rate", "95 % interval", "status")
    assert condensed(table(("a", "1", "2", "3", "4"), ("b", "2", "3", "4", "5"), columns=columns)).columns == columns


def test_a_page_says_under_the_title_what_its_table_has_no_column_for_unless_it_is_one_of_words():
    rows = (("a", "<x>", "1"), ("b", "<x>", "2"))
    plain = table(*rows, columns=("model", "precision", "time"))
    assert '>Times<span class="same">In every row: precision &#60;x&#62;.</span></caption>' in drawn(plain)
    assert '<th scope="col">precision</th>' not in drawn(plain)
    words = Table(title="Times", columns=plain.columns, rows=plain.rows, words=True)
    assert "In every row" not in drawn(words)


def test_a_verdict_stands_before_the_hardware_that_may_lie_behind_the_edge():
    assert (
        '<th scope="col" class="text">verdict</th>\n<th scope="col" class="text">CPU</th>'
        in ledger.files(Facts(records=(), catalogue=[factory.description()]))["ledger.md"]
    )


@pytest.mark.browser
@pytest.mark.parametrize(("width", "seen"), [(2000, False), (500, True)])
def test_a_table_that_goes_on_behind_the_edge_shows_a_shadow_there(tmp_path, browser, width, seen):
    css = (Path(__file__).parent.parent / "site" / "assets" / "css" / "suite.css").read_text()
    look = ":root { --md-default-bg-color: white; --md-default-fg-color--lighter: black; } html { font-size: 20px; }"
    body = '<div class="md-typeset"><div class="scroll"><table class="results"><td style="padding: 45px 500px">'
    (tmp_path / "page.html").write_text(
        f"<style>{css} {look}</style><body style='margin: 0'>{body}</table></div></div>"
    )
    page = browser.new_page(viewport={"width": width, "height": 200})
    page.goto((tmp_path / "page.html").as_uri())
    scroll = page.locator(".scroll")
    box = scroll.bounding_box()
    edge = {"x": box["x"] + box["width"] - 8, "y": box["y"] + 20, "width": 8, "height": 20}
    begin = page.screenshot(clip=edge)
    scroll.evaluate("each => each.scrollLeft = each.scrollWidth")
    assert (begin != page.screenshot(clip=edge)) is seen


@pytest.mark.browser
def test_a_code_name_breaks_on_paper_rather_than_cut_the_table_at_the_edge(tmp_path, browser):
    css = (Path(__file__).parent.parent / "site" / "assets" / "css" / "suite.css").read_text()
    name = '<th scope="row"><a href="../workloads/a.html">a_name_without_any_space</a></th>'
    cells = "".join(f"<td>{'x' * 9}</td>" for _ in range(9))
    body = f'<div class="md-typeset"><div class="scroll"><table class="results"><tbody><tr>{name}{cells}</tr>'
    (tmp_path / "page.html").write_text(f"<style>{css} html {{ font-size: 20px; }}</style>{body}</table></div></div>")
    page = browser.new_page(viewport={"width": 718, "height": 200})
    page.goto((tmp_path / "page.html").as_uri())
    page.emulate_media(media="print")
    assert page.locator("table").evaluate("each => each.getBoundingClientRect().right") <= 718
    assert page.locator("th").evaluate("each => each.getBoundingClientRect().width") > 80
    page.close()


def judged(*rows):
    """A table of results: model, implementation, batch, status, and the reason of that."""
    cells = (
        (*(Cell(text=word) for word in words), Cell(text="unstable" if reason else "quick", remark=reason))
        for *words, reason in rows
    )
    return Table(title="", columns=("model", "implementation", "batch", "status"), rows=tuple(cells))


def test_each_reason_stands_once_with_the_rows_that_have_it():
    wide, busy = "wide: rerun when idle", "busy: end the others"
    table = judged(("a", "cpu jax", "8", wide), ("b", "cpu jax", "8", ""), ("c", "cpu jax", "8", busy),
                   ("d", "cpu jax", "8", wide))  # fmt: skip
    assert reasons(table) == (f"a, d: {wide}", f"c: {busy}")


def test_rows_of_one_name_are_told_apart_by_what_differs():
    assert reasons(judged(("a", "cpu jax", "8", "busy"), ("a", "cpu torch", "8", ""))) == ("a cpu jax: busy",)


@pytest.mark.parametrize("axis", ["threads", "GPUs"])
def test_rows_of_one_model_are_told_apart_by_what_their_experiment_varies(axis):
    rows = [("a", "1", ""), ("a", "2", "busy")]
    cells = tuple((Cell(text=name), Cell(text=count), Cell(text="unstable", remark=why)) for name, count, why in rows)
    assert reasons(Table(title="t", columns=("model", axis, "status"), rows=cells)) == ("a 2: busy",)


def test_a_table_without_statuses_has_no_reasons():
    assert reasons(chosen(judged(("a", "cpu jax", "8", "busy")), ("model",))) == ()


def test_the_terminal_says_why_a_result_is_unstable(capsys):
    table = judged(("a", "cpu jax", "8", "busy: end the others"))
    printing.show(replace(table, notes=("A note.",)))
    assert capsys.readouterr().out.splitlines()[-3:] == ["A note.", "a: busy: end the others", ""]

"""The page of the proof shows every part, its shortfalls first, and how to run what was never run."""

import html

import msgspec
import pytest

from suite.report.pages import trust as report
from suite.results.evidence import trust

GOOD = trust.Finding(what="a constant step", expected="its time", found="0.0100 s", by="samples", good=True)
BAD = trust.Finding(what="heavy tails", expected="94 to 97.5 %", found="93.1 %", good=False)


def part(**changes):
    usual = {
        "name": "clock",
        "title": "Does the clock see what happens?",
        "made": "2026-01-01",
        "commit": "abc",
        "machine": "a processor",
        "seconds": 75.0,
        "full": True,
        "figures": {"worlds": 2, "share": 0.51239, "caught": "2 of 2"},
        "findings": (GOOD, BAD),
    }
    return trust.Part(**(usual | changes))


def test_parts_are_read_as_they_were_written(tmp_path):
    part().write(tmp_path)
    assert trust.Part.read_all(tmp_path) == (part(),)
    assert trust.Part.read_all(tmp_path / "nothing") == ()


def test_a_file_that_is_something_else_is_named(tmp_path):
    part().write(tmp_path).write_text('{"name": 1}')
    with pytest.raises(ValueError, match=r"clock\.json' is not what the trust session writes"):
        trust.Part.read_all(tmp_path)


def test_a_part_that_was_never_run_says_how():
    page = html.unescape(report.page(()))
    assert all(f"nox -s trust -- {name}" in page for name in report.WANTED)
    assert "nox -s trust -- clock" not in report.page((part(),))


def test_a_part_has_its_question_figures_date_commit_machine_and_duration():
    (line,) = report.overview((part(),)).rows
    assert [cell.text for cell in line] == [
        "clock", "1 of 2", "Does the clock see what happens?", "2026-01-01", "abc", "a processor", "75.0 s",
    ]  # fmt: skip
    page = report.page((part(),))
    assert "<dt>share</dt><dd>0.512</dd>" in page
    assert "<dt>worlds</dt><dd>2</dd>" in page
    assert 'href="evidence/trust/clock.json"' in page


def test_random_trials_are_added_up_over_runs_and_their_bound_is_stated():
    kills = trust.Finding(what="kills", expected="nothing lost", found="", good=True, trials=1000)
    first = part(findings=(GOOD, kills), totals=trust.totals((GOOD, kills), "2026-01-01", None))
    (total,) = trust.totals((GOOD, msgspec.structs.replace(kills, failures=1)), "2026-02-01", first)
    assert (total.trials, total.failures, total.runs, total.since) == (2000, 1, 2, "2026-01-01")
    assert trust.totals((GOOD,), "2026-02-01", first) == ()
    (row,) = report.totals(first.totals).rows
    assert [cell.text for cell in row] == ["kills", "1", "2026-01-01", "1,000", "0", "334"]
    assert "Added up over all runs" in report.page((first,))
    assert "Added up over all runs" not in report.page((part(),))


def test_shortfalls_stand_open_and_first_the_rest_is_folded():
    page = report.page((part(),))
    opened, _, folded = page.partition("<details><summary>1 passed</summary>")
    assert "heavy tails" in opened
    assert "a constant step" not in opened
    assert "a constant step" in folded
    assert "shortfall" in opened
    whole = report.page((part(findings=tuple(one for one in part().findings if one.good)),))
    assert "Shortfalls" not in whole


def test_what_nothing_is_claimed_of_is_counted_and_shown_apart():
    unclaimed = msgspec.structs.replace(GOOD, what="drift", apart="not claimed")
    mixed = part(findings=(GOOD, BAD, unclaimed, unclaimed))
    (line,) = report.overview((mixed,)).rows
    assert line[1].text == "1 of 2; 2 not claimed"
    assert line[1].sort == 1 / 2
    page = report.page((mixed,))
    others = page.partition("<details><summary>2 not claimed</summary>")[2].partition("</details>")[0]
    assert others.count("drift") == 2
    assert "passed" not in others
    assert "a constant step" not in others


def test_what_falls_short_is_a_shortfall_whatever_else_it_is_called():
    gone = msgspec.structs.replace(BAD, apart="left out")
    assert gone.verdict == "shortfall"
    (line,) = report.overview((part(findings=(GOOD, gone)),)).rows
    assert line[1].text == "1 of 2"


def test_a_finding_that_stands_for_many_has_its_figure_in_the_overview():
    (line,) = report.overview((part(leading="caught", figures={"caught": "90 of 94"}),)).rows
    assert line[1].text == "1 of 2; caught 90 of 94"


def test_a_sample_and_a_part_of_others_are_shown_for_what_they_are():
    (line,) = report.overview((part(full=False),)).rows
    assert line[1].text == "1 of 2, a sample"
    assert "Is it quick?" in report.page((part(name="extra", title="Is it quick?", findings=()),))


def test_hostile_text_is_harmless():
    page = report.page(
        (part(name="../x", title="<script>", findings=(msgspec.structs.replace(BAD, found="{{7*7}}"),)),)
    )
    assert "<script>" not in page
    assert "{{7*7}}" not in page
    assert "evidence/trust/../x" not in page

"""README shows what a stored campaign had found after some minutes, as the terminal did."""

from pathlib import Path

import factory
import msgspec
import pytest

from suite.console import live_table
from suite.results.records.run import Stage

ROOT = Path(__file__).parents[1]


def ended(record, *times):
    """Return the record with a process that started and ended in each of these seconds after its campaign began."""
    runs = tuple(
        msgspec.structs.replace(
            run,
            started=f"2026-01-01T00:{start // 60:02d}:{start % 60:02d}Z",
            stages=(Stage(name="samples", wall_seconds=end - start, process_seconds=None),),
        )
        for run, (start, end) in zip(record.runs, times, strict=False)
    )
    return msgspec.structs.replace(record, created="2026-01-01T00:00:00Z", runs=runs)


def campaign():
    cpu, gpu = (factory.record(backend=side, step_seconds=(0.010, 0.011)) for side in ("cpu", "gpu"))
    return [ended(cpu, (5, 60), (61, 200)), ended(gpu, (5, 61), (62, 201))]


@pytest.mark.parametrize(("minutes", "rounds", "shown"), [(0.9, "0", False), (1, "1", False), (1.02, "1", True)])
def test_a_process_counts_from_when_it_had_ended(minutes, rounds, shown):
    line = live_table.shown(campaign(), minutes).splitlines()[-1].split()
    assert line[-1] == rounds
    assert ("1.00x" in line) is shown


def test_the_interval_is_that_of_the_rounds_there_were():
    early, late = (live_table.shown(campaign(), minutes).splitlines()[-1] for minutes in (2, 4))
    assert " to " not in early
    assert late.rstrip().endswith("2")


def test_what_is_outside_the_marks_and_a_page_without_a_campaign_stay_as_they_are(tmp_path):
    text = "before\n<!-- terminal 1 -->\nold\n<!-- /terminal -->\nafter"
    assert live_table.renewed(text, tmp_path) == text
    new = live_table.renewed(text, ROOT / "site")
    assert (new[:6], new[-5:], "old" in new) == ("before", "after", False)


def test_readme_shows_the_stored_campaign():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("<!-- terminal ") == 3
    assert live_table.renewed(text, ROOT / "site") == text

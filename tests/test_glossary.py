"""The glossary has every word that a table can hold, and says of intervals what the simulations found."""

from typing import get_args

import factory
import pytest

from suite.case import Allocator, Case, Precision
from suite.report.parts import tables, templates, words
from suite.report.site import pages
from suite.results.evidence.trust import Finding, Part
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.speedup import pooled_speedups
from suite.results.pooled.ways import Certificate
from suite.results.single.paired_speedup import CERTIFIED_FROM
from suite.results.stats.state import MAX_HALF_WIDTH, State
from suite.scopes import Scope
from suite.variants import VARIANTS, WRITTEN, way_of

STATES = "Status: whether a number may be quoted"


def part(name="rounds", **shares):
    findings = tuple(
        Finding(what=f"{kind.replace('_', ' ')}; processes differ by 3%", expected="", found=found, good=True)
        for kind, several in shares.items()
        for found in several
    )
    return Part(name=name, title="?", made="2026-01-01", commit="", machine="", seconds=1.0, full=True, figures={},
                findings=findings)  # fmt: skip


def explained():
    return {word for group in words.groups(()).values() for word in group}


@pytest.mark.parametrize(
    "closed",
    [Scope, State, Certificate, Precision, Allocator],
    ids=["scope", "state", "certificate", "precision", "allocator"],
)
def test_every_word_of_a_closed_set_is_explained(closed):
    assert set(get_args(closed)) <= explained()


def test_every_way_of_every_implementation_is_explained():
    ways = [
        Case(workload="", backend="cpu", scope="step", batch=1, implementation=implementation, variant=variant)
        for table in (VARIANTS, WRITTEN)
        for implementation, variants in table.items()
        for variant in variants
    ]
    assert set(map(way_of, ways)) <= explained()
    assert {"torch eager", "torch compile", "torch graph"} <= explained()


def test_what_a_status_asks_for_is_what_the_code_asks_for():
    groups = words.groups(())
    assert f"at least {CERTIFIED_FROM} of JAX's time" in groups["Columns"]["certified"]
    said = groups[STATES]
    assert f"less than {CERTIFIED_FROM} of JAX's time" in said["not certified"]
    assert f"at least {FEWEST_HOSTS} hosts" in said["quotable"]
    assert f"at most {100 * MAX_HALF_WIDTH:.0f} %" in said["quotable"]


def test_a_number_has_one_of_four_states_each_explained_in_one_sentence():
    said = words.groups(())[STATES]
    assert tuple(said) == get_args(State)
    assert len(said) == 4
    assert not any(". " in meaning for meaning in said.values())


def test_every_column_of_the_speed_ups_that_is_no_plain_word_is_explained():
    plain = {"model", "batch", "speed-up", "status", "GPU precision", "CPU step", "GPU step", "machine"}
    assert {column.split(": ")[-1] for column in tables.SPEEDUP_COLUMNS} - plain <= explained()


def test_how_often_intervals_hold_the_truth_is_what_the_simulations_found():
    shares = {"intervals_that_hold_the_truth": ("95.0%", "9.4%", "100.0%"), "of_those_that_are_certain": ("1.0%",)}
    said = words.interval((part("coverage", intervals_that_hold_the_truth=("0.0%",)), part(**shares)))
    assert said.startswith("It holds the true value in 95 of 100 campaigns, as far as the processes of one campaign")
    assert " in 9.4% to 100.0% of simulated cases" in said
    assert words.interval((part("coverage", **shares),)) == words.interval(())
    assert "simulated" not in words.interval(())


def test_a_table_with_a_status_leads_to_the_words(tmp_path):
    records = factory.campaign()
    parts = templates.parts("folder/page.md")
    made = parts.table(tables.speedup_table(pooled_speedups(records)))
    assert '<a href="../glossary.html">what the words mean</a><span class="same">' in made
    lonely = factory.record(machine=factory.PLAIN)
    assert "glossary" not in parts.table(tables.elsewhere([lonely, *records], factory.PLAIN.slug))
    (tmp_path / "site").mkdir()
    pages.render((tmp_path / "site" / "records",), tmp_path / "site")
    assert '<dt id="open">' in (tmp_path / "site" / "glossary.md").read_text()
    assert '<dt id="95-interval">' in (tmp_path / "site" / "glossary.md").read_text()

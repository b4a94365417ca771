"""The headline step in every campaign: which count, in what order, and what is said of them."""

import factory
import msgspec
import pytest

from suite.report.parts.on_machine import campaign_table, campaign_words
from suite.results.single.history import history
from suite.results.views.table import filled


def campaign(day, cpu=0.01, gpu=0.0002, sides=("cpu", "gpu"), **changes):
    when = {"campaign": f"2026010{day}-000000-x", "created": f"2026-01-0{day}T12:34:56Z"}
    seconds = {"cpu": cpu, "gpu": gpu}
    return [factory.record(backend=b, step_seconds=(seconds[b],) * 3, **when, **changes) for b in sides]


def test_every_campaign_that_timed_the_headline_step_is_there_the_newest_first():
    asked = [msgspec.structs.replace(r, experiment="threads") for r in campaign(3, cpu=0.02, sides=("cpu",))]
    found = history([*campaign(1), *asked, *campaign(2, gpu=0.0003)])
    assert [(once.created[:10], once.experiment) for once in found] == [
        ("2026-01-03", "threads"),
        ("2026-01-02", ""),
        ("2026-01-01", ""),
    ]
    assert [once.ratio and round(once.ratio.value) for once in found] == [None, 33, 50]
    assert found[0].gpu is None


@pytest.mark.parametrize(
    "changes",
    [{"profile": "smoke"}, {"batch": 7}, {"threads": 1}, {"scope": "cold"}, {"variant": "nnx-jit"},
     {"implementation": "torch"}, {"runs": ()}],
)  # fmt: skip
def test_other_settings_and_what_was_not_measured_are_none(changes):
    assert history(campaign(1, **changes)) == ()


def test_the_better_allocator_counts():
    slow, fast = campaign(1, sides=("cpu",)), campaign(1, cpu=0.005, sides=("cpu",), allocator="default-malloc")
    (once,) = history([*slow, *fast])
    assert once.cpu.record.case.allocator == "default-malloc"


def test_the_table_and_its_line_say_what_was_found():
    found = history([*campaign(1), *campaign(2, cpu=0.02)])
    table = campaign_table(found, "a machine")
    assert "experiment" not in filled(table).columns
    assert [row[0].text for row in table.rows] == ["2026-01-02 12:34", "2026-01-01 12:34"]
    line = campaign_words(found)
    assert line.startswith("The headline step in 2 campaigns: CPU 10.0 ms to 20.1 ms, GPU 201 µs")
    assert campaign_words(history(campaign(1, sides=("gpu",)))).startswith("The headline step in 1 campaign: GPU 20")


def test_a_page_has_the_table_where_there_is_more_than_one_campaign():
    once, twice = (factory.pages(made) for made in (campaign(1), [*campaign(1), *campaign(2)]))
    assert "in every campaign on" not in once["workloads/mnist_mlp.md"]
    assert "in every campaign on" in twice["workloads/mnist_mlp.md"]

"""The first sentences of a page: what may be quoted first, what the rest lacks, and which models have no number."""

import html
import re

import factory
import msgspec
import pytest

from suite.report.parts import overview
from suite.results.pooled.speedup import pooled_speedups

SHARES, WIDE = (1.0, 1.01, 0.99), (1.0, 1.6, 0.7)
EACH = "one step of training or inference on the GPU against all CPU cores of the same kind of machine"


def sides(name, times, shares=SHARES, certified=True, **changes):
    """Return a model's steps of both sides on hosts, `times` as fast on the GPU; a baseline if `certified`."""
    made = [("cpu", 0.1, {}), ("gpu", 0.1 / times, {})] + [("cpu", 0.1, {"implementation": "torch"})] * certified
    made = [factory.record(name, side, [seconds * share for share in SHARES], **axes, **changes)
            for side, seconds, axes in made]  # fmt: skip
    return factory.on_hosts(made, shares)


def said(*models):
    records = [record for mine in models for record in mine]
    return html.unescape(re.sub(r"</?strong>", "", overview.answer(pooled_speedups(records), records)))


def test_of_several_that_may_all_be_quoted_the_reach_comes_first():
    assert said(sides("a", 10), sides("b", 20), sides("c", 15)) == (
        f"It depends on the model: from 10.0x (9.7 to 10.3) for a to 20.0x (19.5 to 20.5) for b, {EACH} "
        "(test-gpu, 16 cores). All 3 may be quoted."
    )


def test_those_that_may_be_quoted_are_counted_and_named_before_the_whole_range():
    few = [sides(name, 30, SHARES[:2]) for name in "df"]
    assert said(sides("a", 10), sides("b", 20), sides("c", 40, certified=False), sides("e", 5, WIDE), *few) == (
        "It depends on the model. On test-gpu, 16 cores, 2 of 6 speed-ups are quotable: from 10.0x (9.7 to 10.3) for a "
        "to 20.0x (19.5 to 20.5) for b. The whole range is from 5x (1 to 13) for e to 40.0x (39.1 to 40.9) for c. "
        "Not quotable yet: 2 have fewer than 3 hosts, 1 an open certificate and 1 too wide an interval. "
        f"Each is {EACH}."
    )


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ((), "none of 2 speed-ups is quotable yet. The whole range is from "),
        (("a",), "1 of 2 speed-ups is quotable: 10.0x (9.7 to 10.3) for a. The whole range is from "),
        (("a", "b", "c"), "3 of 4 speed-ups are quotable: from 10.0x (9.7 to 10.3) for a to 30.0x (29.3 to 30.7) for "
                          "c. The whole range is from "),
    ],
)  # fmt: skip
def test_the_ends_of_those_that_may_be_quoted_are_named(models, words):
    doubtful = [sides("z", 40, certified=False), sides("y", 35, certified=False)][: 1 if models else 2]
    answer = said(*(sides(name, 10 * (i + 1)) for i, name in enumerate(models)), *doubtful)
    assert words in answer
    assert f"Not quotable yet: {'1 has' if models else '2 have'} an open certificate. Each" in answer


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, "10.0x (9.7 to 10.3) faster on the GPU."),
        ({"certified": False}, "faster on the GPU. Not to be quoted yet: certificate open: no baseline was timed on "
                               "this CPU."),
        ({"shares": (1.0,)}, "10.0x faster on the GPU. Not to be quoted yet: 1 host of 3."),
    ],
)  # fmt: skip
def test_one_alone_says_what_it_lacks(changes, ends):
    answer = said(sides("a", 10, **changes))
    assert answer.startswith("On test-gpu, 16 cores, one step of a is 10.0x ")
    assert answer.endswith(ends)


def apart(records):
    """Return the records, their sides no longer of one network."""
    for each in records:
        runs = (msgspec.structs.replace(run, first_loss=2.0 if each.backend == "cpu" else 3.0) for run in each.runs)
        yield msgspec.structs.replace(each, runs=tuple(runs))


FASTER = factory.on_hosts([factory.record("b", step_seconds=[0.05] * 3, threads=4)])


@pytest.mark.parametrize(
    ("records", "fault"),
    [
        (sides("b", 10, certified=False), "an open certificate"),
        ([*sides("b", 10), *FASTER], "a CPU side that another way surely beats"),
        (list(apart(sides("b", 10))), "two sides that computed different things"),
    ],
)
def test_each_fault_is_named(records, fault):
    assert f"Not quotable yet: 1 has {fault}. " in said(sides("a", 10), records)


def test_a_smoke_run_times_nothing_and_only_shows_that_it_runs():
    answer = said(sides("a", 10, profile="smoke"))
    assert answer.endswith("timed on both here yet. Profile smoke times nothing: it only shows that it runs.")
    assert "smoke" not in said([sides("a", 10)[0]])


def test_a_page_whose_table_has_wider_scopes_alone_says_so():
    cold = [*sides("a", 10, scope="cold"), *sides("b", 10, scope="cold"), *sides("a", 2, scope="epoch")]
    page = factory.pages(cold)["index.md"]
    assert (
        "none in full float32 and with its headline batch has been timed on both here yet. The table has 3 other "
        "speed-ups: 2 of a cold start (lowering, compiling and the first step), 1 of one step with its batch brought "
        "from storage.</p>"
    ) in page
    assert "aside" not in page, "a row is hidden until a script runs"
    assert said(cold[:1]).endswith(" on both here yet.")
    assert "nox -s bench" in said([])
    assert "other speed-up" not in factory.pages([*cold, *sides("a", 10)])["index.md"]


def test_each_model_without_a_speed_up_is_named_with_why():
    whole = factory.campaign(("whole",))
    apart = [factory.record("apart", "cpu", data="tfds"), factory.record("apart", "gpu", data="embedded")]
    bad = [factory.record("bad", "cpu", profile="smoke"), factory.record("bad", "gpu")]
    one_side = [factory.record("host", "cpu"), factory.record("device", "gpu")]
    other = [
        factory.record("other", "cpu", precision="tf32"),
        factory.record("other", "gpu", scope="cold"),
        factory.record("ceiling_copy", "gpu", about=factory.description("ceiling_copy", family="ceiling")),
    ]
    said = overview.without_speedup(
        [*whole, *apart, *bad, *one_side, *other], {"whole"}, ["whole", "host", "never", "other"]
    )
    assert said == (
        "Without a speed-up so far: apart (CPU and GPU timed with different data); bad (no time of the CPU counts: "
        "failed, invalid, disturbed, of a JAX that is slow on a CPU, "
        "or of profile smoke); device (timed on the GPU alone); host (timed "
        "on the CPU alone); never, other (headline step not timed here yet)."
    )
    assert overview.without_speedup(whole, {"whole"}, ["whole"]) == ""


def test_the_home_page_names_what_its_chart_leaves_out_of_all_that_can_be_measured():
    records = factory.campaign(("mnist_mlp",))
    every = [factory.description("mnist_mlp"), factory.description("mnist_cnn")]
    files = factory.pages(records, catalogue=every)
    said = "Without a speed-up so far: mnist_cnn (headline step not timed here yet)."
    assert said in html.unescape(files["index.md"])
    assert "Without a speed-up" not in files[f"machines/{factory.HOST.slug}.md"]
    assert "Without a speed-up" not in factory.pages([], catalogue=every)["index.md"]

"""The first sentences of a page: what may be quoted first, what the rest lacks, and which models have no number."""

import html
import re

import factory
import msgspec
import pytest

from suite.report.parts import ladder_figures, lead, overview, rungs
from suite.report.parts.cards import cards
from suite.results.pooled import pools
from suite.results.pooled.machine_evidence import evidence
from suite.results.pooled.speedup import pooled_speedups

SHARES, WIDE = (1.0, 1.01, 0.99), (1.0, 1.6, 0.7)


def sides(name, times, shares=SHARES, certified=True, **changes):
    """Return a model's steps of both sides on hosts, `times` as fast on the GPU; a baseline if `certified`."""
    made = [("cpu", 0.1, {}), ("gpu", 0.1 / times, {})] + [("cpu", 0.1, {"implementation": "torch"})] * certified
    made = [factory.record(name, side, [seconds * share for share in SHARES], **axes, **changes)
            for side, seconds, axes in made]  # fmt: skip
    return factory.on_hosts(made, shares)


def text(words):
    return html.unescape(re.sub(r"</?strong>", "", words))


def said(*models):
    records = [record for one in models for record in one]
    speedups = [item for each in evidence(records).values() for item in (*each.speedups, *each.ways)]
    return text(lead.answer(rungs.rungs(speedups), records))


def quoting(*models):
    speedups = pooled_speedups([record for one in models for record in one])
    return text(lead.quoting([item for item in speedups if item.headline]))


def test_the_centre_of_all_models_comes_first_with_its_interval_and_their_spread():
    answer = said(sides("a", 10), sides("b", 40), sides("c", 20))
    assert answer == (
        "A step of JAX in full float32 is 20x (20 to 20) as fast on one NVIDIA H100 80GB HBM3 as on the 16 cores of "
        "the Test CPU (Sapphire Rapids) beside it. That is the geometric mean of 3 models, which are between 10x and "
        "40x. Quote a model, not the mean: 3 may be quoted."
    )
    assert "quoted" not in said(*(sides(name, 10, certified=False) for name in "abc"))


def test_models_that_only_infer_are_counted():
    served = sides("b", 40, about=factory.description("b", family="inference"))
    assert "mean of 3 models, 1 of them inference, which are" in said(sides("a", 10), served, sides("c", 20))
    assert "inference" not in said(served)


def test_of_many_models_a_tenth_at_each_end_is_left_out_of_what_most_lie_between():
    answer = said(*(sides(f"m{i}", times) for i, times in enumerate([2, *[10] * 4, *[30] * 4, 900])))
    assert "most of them between 10x and 30x" in answer


def test_models_that_are_slower_on_the_gpu_are_named_with_their_size():
    assert "Slower on the GPU: “Title of b” with 3 parameters." in said(
        sides("a", 10), sides("b", 0.5, about=factory.description("b", parameters=3))
    )
    assert "Slower" not in said(sides("a", 10), sides("b", 20))
    assert "3 of them are slower on the GPU." in said(*(sides(name, 0.5) for name in "abc"), sides("d", 4))


def test_what_remains_when_more_is_counted_is_of_the_models_for_which_both_are_known():
    storage = [*sides("a", 2, scope="epoch"), *sides("z", 100, scope="epoch")]
    answer = said(sides("a", 10), sides("b", 40), storage)
    assert answer.endswith("If more of the work is counted, the GPU gains less: 2.0x read from storage (1 model).")
    assert "more of the work" not in said(sides("a", 10), sides("b", 40))


def test_fewer_than_ten_models_have_their_range_instead_of_a_mean():
    names = "abcdefghij"
    models = [sides(name, 40) for name in names]
    wider = [sides(name, times, scope="epoch") for name, times in zip(names, (1, 2, 4, 8, 16) * 2, strict=True)]
    assert said(*models, *wider).endswith("gains less: 4.0x read from storage (10 models).")
    assert said(*models, *wider[:4]).endswith("gains less: 1.0x to 8.0x read from storage (4 models).")


def test_a_loop_as_written_counts_its_step_alone_and_models_of_no_article_do_not():
    step = sides("a", 4, variant="nnx-jit", certified=False)
    loop = sides("a", 2, scope="written", variant="nnx-loop", certified=False)
    assert "more of the work" not in said(sides("a", 10), sides("b", 40), [*loop, *step])
    records = [*sides("a", 10), *sides("b", 40), *loop, *step]
    ways = [item for each in evidence(records).values() for item in (*each.speedups, *each.ways)]
    written = next(rung for rung in rungs.rungs(ways) if rung.name == rungs.AS_WRITTEN)
    assert [(name, round(item.ratio.value)) for name, item in written.by_workload.items()] == [("a", 2)]
    assert "of 2 models" in said(sides("a", 10), sides("b", 40), sides("crossover_mlp_32x2", 3))


def test_a_chart_s_title_is_its_finding():
    records = [*sides("a", 10), *sides("b", 40), *sides("a", 2, scope="epoch")]
    amounts = rungs.rungs(pooled_speedups(records))
    assert lead.finding(amounts) == "1 model gains 10x in a step and 2.0x read from storage"
    assert lead.finding(amounts[:1]) == ""


def test_those_that_may_be_quoted_are_counted_and_the_others_say_what_they_lack():
    few = [sides(name, 30, SHARES[:2]) for name in "df"]
    assert quoting(sides("a", 10), sides("b", 20), sides("c", 40, certified=False), sides("e", 5, WIDE), *few) == (
        "The 6 speed-ups of a step run from 5x (1.9 to 12.8) for “Title of e” "
        "to 40.0x (39.1 to 40.9) for “Title of c”. "
        "2 may be quoted. Not yet: 2 have fewer than 3 hosts, 1 an open certificate and 1 too wide an interval. "
        "With the fastest way on each side, in any framework that was timed, 16x becomes 16x (5 models)."
    )
    assert ". 2 may be quoted. With the" in quoting(sides("a", 10), sides("b", 20))
    assert ". None may be quoted. Not yet: 2 have" in quoting(
        sides("a", 10, certified=False), sides("b", 20, certified=False)
    )
    assert quoting(sides("a", 10)) == ""


def test_those_that_an_earlier_method_timed_are_counted(monkeypatch):
    monkeypatch.setattr(pools.Pool, "outdated", True)
    both = quoting(sides("a", 10), sides("b", 20))
    assert "An earlier method of timing gave these numbers, so none" in said(sides("a", 10), sides("b", 40))
    assert ". None may be quoted. Not yet: 2 have an earlier method of timing." in both


def test_the_fastest_framework_on_each_side_is_set_beside_jax():
    faster = factory.on_hosts([factory.record("a", step_seconds=[0.05] * 3, implementation="torch", variant="compile")])
    assert "With the fastest way on each side, in any framework that was timed, 14x becomes 10x (2 models)." in quoting(
        sides("a", 10), faster, sides("b", 20)
    )


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, "10.0x (9.7 to 10.3) as fast on the GPU."),
        ({"certified": False}, "as fast on the GPU. Not to be quoted yet: certificate open: no baseline was timed on "
                               "this CPU."),
        ({"shares": (1.0,)}, "10.0x as fast on the GPU. Not to be quoted yet: 1 host of 3."),
    ],
)  # fmt: skip
def test_one_alone_says_what_it_lacks(changes, ends):
    answer = said(sides("a", 10, **changes))
    assert answer.startswith("On test-gpu, 16 cores, one step of Title of a is 10.0x ")
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
        ([*sides("b", 10), *FASTER], "a CPU step that another framework surely beats"),
        (list(apart(sides("b", 10))), "two sides that computed different things"),
    ],
)
def test_each_fault_is_named(records, fault):
    assert f"Not yet: 1 has {fault}. " in quoting(sides("a", 10), records)


def test_a_smoke_run_times_nothing_and_only_shows_that_it_runs():
    answer = said(sides("a", 10, profile="smoke"))
    assert answer.endswith("timed on both CPU and GPU here. Profile smoke times nothing: it only shows that it runs.")
    assert "smoke" not in said([sides("a", 10)[0]])


def test_a_page_whose_table_has_wider_scopes_alone_says_so():
    cold = [*sides("a", 10, scope="cold"), *sides("b", 10, scope="cold"), *sides("a", 2, scope="epoch")]
    page = factory.pages(cold)["index.md"]
    assert (
        "at its headline batch, has been timed on both CPU and GPU here. The table has 3 other "
        "speed-ups: 2 of a cold start (lowering, compiling and the first step), 1 of one step with its batch brought "
        "from storage.</p>"
    ) in page
    assert "aside" not in page, "a row is hidden until a script runs"
    assert said(cold[:1]).endswith(" on both CPU and GPU here.")
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


def test_the_model_with_most_numbers_shows_them_and_no_other_model_does():
    about = factory.description("net", batch=64)
    steps = [*sides("net", 38, about=about, batch=64), *sides("net", 0.4, scope="cold", about=about, batch=64)]
    tf32 = factory.on_hosts([factory.record("net", "gpu", [0.001] * 3, precision="tf32", about=about, batch=64)])
    shown = cards(pooled_speedups([*steps, *tf32, *sides("a", 10)]))
    assert [card.what for card in shown.cards] == [
        "one step", "the first step, compiling included", "one step in TF32 on the GPU; the CPU stays in float32"
    ]  # fmt: skip
    assert [card.value for card in shown.cards] == ["38.0x", "0.400x", "100x"]
    assert (shown.cards[0].caveat, shown.workload, shown.batch) == ("", "net", 64)
    assert cards(pooled_speedups(sides("a", 10))) is None
    other = factory.description("other", batch=64)
    open_steps = sides("net", 38, about=about, batch=64, certified=False)
    more = [*sides("other", 20, about=other, batch=64), *sides("other", 2, scope="epoch", about=other, batch=64)]
    beside = cards(pooled_speedups([*open_steps, *steps[9:], *tf32, *more]))
    assert beside.workload == "other", "its step may be quoted"
    home = factory.pages(steps)["index.md"]
    row = "numbers/net.html#test-gpu-16-cores.net.gpu.step.speedup"
    assert f'<strong><a href="{row}">38.0x</a></strong> as fast in one step' in home
    assert 'class="cards"' not in factory.pages(sides("a", 10))["index.md"]


def test_a_chart_counts_the_marks_of_other_hosts_than_their_step():
    copied = sides("a", 8, scope="transfer")
    moved = [tuple(msgspec.structs.replace(run, host=run.host[::-1]) for run in record.runs) for record in copied]
    elsewhere = [msgspec.structs.replace(r, runs=runs) for r, runs in zip(copied, moved, strict=True)]
    apart, together = (
        rungs.rungs(pooled_speedups([*sides("a", 10), *sides("b", 5), *wider])) for wider in (elsewhere, copied)
    )
    words = "1 of the 1 other marks"
    captions = [next(ladder_figures.figures(amounts, "x")).caption for amounts in (apart, together)]
    assert [words in caption for caption in captions] == [True, False]

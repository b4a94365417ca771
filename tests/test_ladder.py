"""The clock ladder: which records make a rung, and what many calls cost together."""

import dataclasses
import re

import factory
import msgspec
import pytest
from factory import of_one_machine
from test_site import built, checkout, rendered  # noqa: F401

from suite import models
from suite.case import Case
from suite.report.parts import ladder as shown
from suite.report.parts import rungs
from suite.results.pooled import ladder
from suite.results.pooled.machine_evidence import evidence
from suite.results.pooled.speedup import pooled_speedups
from suite.results.records.run import Sample, Stage
from suite.workload import WholeRun

RUN = WholeRun(epochs=2, train=1000, test=100)


def records(**changes):
    about = factory.description(run=RUN)
    seconds = {"step": (0.01, 0.001), "transfer": (0.01, 0.002), "epoch": (0.02, 0.016), "cold": (2.0, 4.0)}
    made = []
    for scope, sides in seconds.items():
        for backend, value in zip(("cpu", "gpu"), sides, strict=True):
            noisy = [value * share for share in ((1, 1.01, 0.99) if backend == "cpu" else (0.98, 1, 1.02))]
            made.append(factory.record(backend=backend, scope=scope, step_seconds=noisy, about=about, **changes))
    for backend, value in (("cpu", 100.0), ("gpu", 10.0)):
        made.append(factory.record(backend=backend, scope="run", step_seconds=[value], about=about, **changes))
    return made


ABOUT = factory.description(run=RUN)


def pooled(made, shares=(1.0, 1.01, 0.99)):
    """The ladder of a machine each of whose hosts had such a share of the times; None: as the records are."""
    found = of_one_machine(list(made) if shares is None else factory.on_hosts(made, shares))
    return ladder.ladder(found.records, found.speedups)


def amortised(made, shares=(1.0, 1.01, 0.99)):
    return ladder.amortised(pooled(made, shares))


def test_a_rung_is_the_pooled_speed_up_of_its_scope_with_its_state_and_hosts():
    rungs = pooled(records())
    assert [rung.case.scope for rung in rungs] == ["step", "transfer", "epoch", "cold", "run"]
    assert [rung.ratio.value for rung in rungs] == pytest.approx([10, 5, 1.25, 0.5, 10], rel=1e-2)
    found = pooled_speedups(factory.on_hosts(records()))
    assert [rung.pooled for rung in rungs] == sorted(found, key=[rung.pooled for rung in rungs].index)
    table = shown.table(rungs, ABOUT, "here")
    assert [(row[-2].text, row[-1].text) for row in table.rows] == [("open", "3")] * 2 + [("quotable", "3")] * 3
    remarks = {row[-2].remark for row in table.rows[:2]}
    assert remarks == {"certificate open: no baseline was timed on this CPU"}  # a copied step has the step's
    assert table.notes == ()
    assert [row[4].text == "–" for row in shown.table(pooled(records(), (1.0,)), ABOUT, "here").rows] == [True] * 5


def disturbed(record):
    runs = tuple(msgspec.structs.replace(run, other_load_cores=9.0) for run in record.runs)
    return factory.sealed(msgspec.structs.replace(record, runs=runs, digest=""))


def test_a_scope_whose_times_on_one_side_were_all_disturbed_is_of_one_campaign_without_a_speed_up():
    rungs = pooled([disturbed(r) if (r.backend, r.case.scope) == ("cpu", "transfer") else r for r in records()])
    assert [rung.case.scope for rung in rungs if rung.pooled is None] == ["transfer"]
    table = shown.table(rungs, ABOUT, "here")
    assert [row[-1].text for row in table.rows] == ["3", "one campaign", "3", "3", "3"]
    assert [cell.text for cell in table.rows[1][1:4]] == ["–", "1.99 ms", "–"]
    assert table.notes[0] == "In a row of one campaign the interval is of one host, not of the kind of machine."
    assert {point.row: point.solid for point in shown.chart(rungs).points} == {
        "a step": False, "from storage": True, "cold start": True, "whole run": True,
    }  # fmt: skip


def test_a_row_whose_sides_are_of_two_campaigns_says_so():
    cpu, gpu, *_ = records()
    rungs = ladder.ladder([cpu, factory.sealed(msgspec.structs.replace(gpu, campaign="another", digest=""))])
    (row,) = shown.table(rungs, ABOUT, "here").rows
    assert (row[3].text, row[-1].text) == ("–", "two campaigns")


def test_rungs_come_in_order_and_pair_within_a_campaign():
    rungs = ladder.ladder(records())
    assert [rung.case.scope for rung in rungs] == ["step", "transfer", "epoch", "cold", "run"]
    assert [rung.ratio.value for rung in rungs] == pytest.approx([10, 5, 1.25, 0.5, 10], rel=1e-3)
    assert rungs[-1].ratio.low is None


def test_a_rung_is_of_the_newest_campaign_that_timed_both_sides_else_of_the_newest_of_each():
    def newer(side, year, **changes):
        when = {"campaign": f"{year}0101-000000-new", "created": f"{year}-01-01T00:00:00Z"}
        return factory.record(backend=side, **when, **changes)

    def campaigns(made):
        first = ladder.ladder(made)[0]
        return [side.record.campaign[:4] for side in (first.cpu, first.gpu)]

    failed = msgspec.structs.replace(newer("cpu", 2028), runs=(), reason="out of memory")
    smoke = [newer(side, 2029, profile="smoke") for side in ("cpu", "gpu")]
    assert campaigns([*records(), newer("gpu", 2027)]) == ["2026", "2026"]
    assert campaigns([*records(), newer("gpu", 2028), failed, *smoke]) == ["2026", "2026"]
    assert campaigns([*records(), newer("cpu", 2027), newer("gpu", 2027)]) == ["2027", "2027"]
    assert campaigns([newer("cpu", 2027), newer("gpu", 2028), *smoke]) == ["2027", "2028"]
    assert ladder.ladder([newer("cpu", 2027), newer("gpu", 2028)])[0].ratio is None


def test_a_warm_cache_is_a_rung_of_its_own_and_other_settings_are_none():
    others = [
        factory.record(scope="cold", cache="warm", step_seconds=[1.0] * 3),
        factory.record(precision="tf32", backend="gpu"),
        factory.record(batch=7),
        factory.record(threads=1),
        factory.record(scope="run", length=10),
        factory.record(scope="epoch", workers=4),
        factory.record(scope="epoch", augmentation="device"),
        factory.record(implementation="torch"),
    ]
    assert [(rung.case.scope, rung.case.cache) for rung in ladder.ladder(others)] == [("cold", "warm")]


def test_a_whole_run_without_its_compilations_is_a_rung_where_all_of_them_were_told():
    def whole(backend, seconds, *stages):
        told = tuple(Stage(name=name, wall_seconds=wall, process_seconds=9 * wall) for name, wall in stages)
        busy = seconds + sum(8 * wall for _, wall in stages)  # compiling keeps nine cores busy, the rest one
        run = factory.run(0, seconds, steps=1, samples=1, stages=told)
        run = msgspec.structs.replace(run, samples=(Sample(wall_seconds=seconds, process_seconds=busy),))
        record = factory.record(
            backend=backend, scope="run", step_seconds=[seconds], about=factory.description(run=RUN)
        )
        return msgspec.structs.replace(record, runs=(run,))

    cpu = whole("cpu", 100.0, ("compile", 1.0), (ladder.REST, 1.0))
    both = ladder.ladder([cpu, whole("gpu", 40.0, ("compile", 20.0), (ladder.REST, 10.0))])
    assert all(rung.gpu.steady for rung in both)
    assert [(rung.compiling, rung.ratio.value) for rung in both] == [
        (True, pytest.approx(2.5)),
        (False, pytest.approx(9.8)),
    ]
    assert both[1].cpu.reasons == both[0].cpu.reasons
    table = shown.table(both, factory.description(run=RUN), "a machine")
    assert table.rows[1][0].text == "whole run, compiled before: the same run without its compilations"
    told_twice = (("compile", 5.0), (ladder.REST, 2.0)) * 2  # as by a search, for each of its networks
    assert ladder.ladder([whole("gpu", 40.0, *told_twice)])[1].gpu.seconds.value == pytest.approx(26.0)
    untold = ladder.ladder([whole("gpu", 40.0, ("compile", 20.0))])
    assert [rung.compiling for rung in untold] == [True]


def test_ladder_and_machine_say_which_cpu_times_count_hosts_of_another_machine():
    other = msgspec.structs.replace(factory.HOST, name="other, 16 cores", gpus=())
    cold = [
        msgspec.structs.replace(record, machine=other)
        for record in records()
        if (record.backend, record.case.scope) == ("cpu", "cold")
    ]
    hosts = [*factory.on_hosts(records()), *factory.on_hosts(cold)]
    slug = factory.HOST.slug
    found = evidence(hosts)[slug]
    table = shown.table(ladder.ladder(found.records, found.speedups), ABOUT, "here")
    assert [note for note in table.notes if "also count" in note] == [
        "CPU times that also count hosts of other, 16 cores, with the same CPU and equal code: cold start."
    ]
    page = factory.pages(hosts)[f"machines/{slug}.md"]
    assert "1 of 5 pooled times also count hosts of other, 16 cores: times of equal code" in page
    assert "also count" not in factory.pages(factory.on_hosts(records()))[f"machines/{slug}.md"]


def test_ladder_and_lead_take_a_run_of_the_usual_data_and_rows_name_theirs():
    def run(data, seconds, **changes):
        sides = (("cpu", seconds), ("gpu", seconds / 10))
        return [
            factory.record(backend=side, scope="run", data=data, step_seconds=[value], about=ABOUT, **changes)
            for side, value in sides
        ]

    for newest in ("embedded", "tfds"):
        created = {data: f"202{4 + (data == newest)}-01-01T00:00:00Z" for data in ("embedded", "tfds")}
        real, usual = (
            run(data, seconds, campaign=data, created=created[data])
            for data, seconds in (("tfds", 50.0), ("embedded", 100.0))
        )
        (alone,) = ladder.ladder([*real, *usual])  # without pools, a rung is of one campaign
        for rung in (*pooled([*real, *usual]), alone):
            assert (rung.case.scope, rung.data_words) == ("run", "on the stand-in")
        (alone,) = pooled(real, None)
        assert alone.data_words == "on the real data"
        amounts = rungs.rungs(pooled_speedups(factory.on_hosts([*usual, *real])))
        assert [item.case.data for amount in amounts for item in amount.by_workload.values()] == ["embedded"]


def test_a_whole_run_that_was_cut_short_is_no_rung():
    rungs = ladder.ladder(records(profile="smoke"))
    assert [rung.case.scope for rung in rungs] == ["step", "transfer", "epoch", "cold"]


def test_the_whole_search_is_told_in_points_and_fits():
    about = models.load("mnist_grid_search").description
    case = Case(workload=about.name, backend="cpu", scope="run", batch=about.batch)
    assert "8 points of 3 fits each, one after another" in shown.words(ladder.Rung(case=case), about)
    stacked = msgspec.structs.replace(case, variant="stacked")
    assert "8 points of 3 fits each, side by side" in shown.words(ladder.Rung(case=stacked), about)


def test_calls_add_up_from_the_cold_start():
    curve = amortised(records())
    assert [one.calls for one in curve] == [1, 10, 100, 1000, 10_000, 100_000]
    assert curve[0].ratio.value == pytest.approx(0.5, rel=1e-2)
    assert curve[3].ratio.value == pytest.approx((2 + 9.99) / (4 + 0.999), rel=1e-2)
    assert curve[0].ratio.low < curve[0].ratio.value < curve[0].ratio.high


def test_the_curve_begins_with_the_cold_start_and_ends_with_the_step():
    rungs = pooled(records())
    cold, step = (next(rung.ratio for rung in rungs if rung.case.scope == scope) for scope in ("cold", "step"))
    first, *_, last = ladder.amortised(rungs, (1, 10**9))
    for one, rung in ((first, cold), (last, step)):
        ends = one.ratio.value, one.ratio.low, one.ratio.high
        assert ends == pytest.approx((rung.value, rung.low, rung.high), rel=1e-3)


def test_where_nothing_says_how_much_hosts_differ_the_curve_has_no_interval():
    assert [one.ratio.low for one in amortised(records(), (1.0,))] == [None] * 6


@pytest.mark.parametrize("baseline", [True, False])
def test_a_curve_is_hollow_unless_start_and_step_may_be_quoted(baseline):
    torch = factory.record(implementation="torch", step_seconds=[0.011] * 3, about=ABOUT)
    curve = amortised([*records(), *[torch] * baseline])
    assert {point.solid for point in shown.curve(curve).points} == {baseline}


def test_a_rung_of_one_campaign_says_which_side_something_speaks_against():
    shaky = [
        msgspec.structs.replace(r, rounds=99) if (r.backend, r.case.scope) == ("cpu", "step") else r for r in records()
    ]
    cells = [shown.table(ladder.ladder(of), ABOUT, "here").rows[0][-2] for of in (records(), shaky)]
    assert [cell.text for cell in cells] == ["open", "open"]
    assert [cell.remark.startswith("cpu: 96 of 99 rounds") for cell in cells] == [False, True]


def test_rungs_with_both_sides_are_drawn_in_their_order_and_one_alone_is_not():
    chart = shown.chart(ladder.ladder(records()))
    assert chart is not None
    assert [point.row for point in chart.points] == [
        "a step",
        "batch copied",
        "from storage",
        "cold start",
        "whole run",
    ]
    assert not any(point.solid for point in chart.points), "no pool stands behind them"
    assert shown.chart(ladder.ladder(records()[:2])) is None


def test_a_chart_s_title_names_the_documented_run_and_not_the_kindest_rung():
    rungs = ladder.ladder(records())
    warm = [rung for rung in rungs if rung.case.scope != "run"]
    assert re.fullmatch(r"A step is [\d.]+x as fast on the GPU, the whole run [\d.]+x", shown.finding(rungs))
    kind = dataclasses.replace(rungs[-1], compiling=False)
    assert shown.finding([*rungs, kind]) == shown.finding(rungs)
    assert "run" not in shown.finding(warm)


def test_a_curve_needs_both_scopes_of_both_sides():
    lacking = [r for r in records() if (r.backend, r.case.scope) != ("gpu", "cold")]
    assert amortised(lacking) == ()
    elsewhere = factory.record(scope="cold", backend="gpu", campaign="20270101-000000-new")
    assert len(amortised([*lacking, elsewhere], None)) == 6, "campaigns are pooled"
    assert ladder.amortised(ladder.ladder(records())) == (), "there is no pool"


def test_a_page_shows_the_ladder_the_curve_and_the_run_beside_the_documented_one(checkout):  # noqa: F811
    rendered(checkout, *records())
    built(checkout)
    page = (checkout / "build" / "html" / "workloads" / "mnist_mlp.html").read_text()
    assert "whole run: building, compiling and 2 epochs of 1,000 examples, validation after each" in page
    assert "amortised.mnist_mlp" in page
    table = shown.table(ladder.ladder(records()), ABOUT, "here")
    assert table.rows[-1][4].text == "–"
    assert table.notes == (
        "In a row of one campaign the interval is of one host, not of the kind of machine.",
        "No interval: measured once only, or on too few hosts.",
    )


def test_each_rung_has_words_of_its_own_for_a_sentence():
    rungs = pooled(records())
    said = [rung.words for rung in rungs]
    assert len(set(said)) == len(said)
    assert (said[0], said[-1]) == ("a step", "the whole run")
    taken_out = ladder.Rung(case=rungs[-1].case, compiling=False)
    assert taken_out.words == "without its compilations"


def test_a_model_s_page_names_rungs_as_home_does():
    amounts = rungs.rungs(pooled_speedups(factory.on_hosts(records())))
    assert {amount.name for amount in amounts} == {rung.name for rung in pooled(records())}


def test_the_first_chart_of_a_model_s_page_takes_its_whole_width_and_telephones_get_one_of_their_own():
    files = factory.pages(factory.on_hosts(records()))
    page, name = files["workloads/mnist_mlp.md"], f"ladder.mnist_mlp.{factory.HOST.slug}"
    forms = re.findall(r'<figure class="chart ?(?:still)? ?(\w*)".*?/charts/([^"]+?)\.light\.svg#', page, re.DOTALL)
    assert forms[:2] == [("wide", name), ("narrow", f"{name}.narrow")]
    assert {form for form, _ in forms[2:]} == {"half"}
    wide, narrow = (files[f"charts/{each}.json"] for each in (name, f"{name}.narrow"))
    assert wide != narrow

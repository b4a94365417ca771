"""The clock ladder: which records make a rung, and what many calls cost together."""

import factory
import msgspec
import pytest
from test_site import built, checkout, rendered  # noqa: F401

from suite import models
from suite.report import ladder as shown
from suite.results import ladder
from suite.results.record import Sample, Stage
from suite.workload import Case, WholeRun

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


def amortised(made):
    return ladder.amortised(ladder.ladder(made))


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
    assert table.rows[1][0].text == "the same run, its compilations taken out"
    told_twice = (("compile", 5.0), (ladder.REST, 2.0)) * 2  # as by a search, for each of its networks
    assert ladder.ladder([whole("gpu", 40.0, *told_twice)])[1].gpu.seconds.value == pytest.approx(26.0)
    untold = ladder.ladder([whole("gpu", 40.0, ("compile", 20.0))])
    assert [rung.compiling for rung in untold] == [True]


def test_a_whole_run_that_was_cut_short_is_no_rung():
    rungs = ladder.ladder(records(profile="smoke"))
    assert [rung.case.scope for rung in rungs] == ["step", "transfer", "epoch", "cold"]


def test_the_whole_search_is_told_in_points_and_fits():
    about = models.load("mnist_grid_search").description
    case = Case(workload=about.name, backend="cpu", scope="run", batch=about.batch)
    assert "8 points of 3 fits each, one after another" in shown.words(case, about)
    stacked = msgspec.structs.replace(case, variant="stacked")
    assert "8 points of 3 fits each, side by side" in shown.words(stacked, about)


def test_calls_add_up_from_the_cold_start():
    assert ladder.totals({0: 2.0, 1: 3.0}, {0: 0.5, 2: 1.0}, 11) == {0: 7.0}
    curve = amortised(records())
    assert [one.calls for one in curve] == [1, 10, 100, 1000, 10_000, 100_000]
    assert curve[0].ratio.value == pytest.approx(0.5, rel=1e-3)
    assert curve[3].ratio.value == pytest.approx((2 + 9.99) / (4 + 0.999), rel=1e-3)
    assert curve[0].ratio.low < curve[0].ratio.value < curve[0].ratio.high


def test_a_rung_says_which_side_something_speaks_against():
    shaky = [
        msgspec.structs.replace(r, rounds=99) if (r.backend, r.case.scope) == ("cpu", "step") else r for r in records()
    ]
    steps = [shown.table(ladder.ladder(of), shaky[0].description, "here").rows[0][-1].text for of in (records(), shaky)]
    assert steps == ["–", "cpu: 96 of 99 rounds are missing"]


def test_a_rung_whose_ratio_is_wide_though_its_sides_are_not_says_so_and_is_drawn_hollow():
    noise = {"cpu": (0.97, 1.0, 1.03), "gpu": (1.03, 1.0, 0.97)}
    made = [r for r in records() if r.case.scope != "transfer"]
    made += [factory.record(backend=side, scope="transfer", step_seconds=[0.01 * share for share in shares],
                            about=made[0].description) for side, shares in noise.items()]  # fmt: skip
    rungs = ladder.ladder(made)
    assert [rung.doubted is not None for rung in rungs] == [rung.case.scope == "transfer" for rung in rungs]
    row = shown.table(rungs, made[0].description, "here").rows[1]
    assert row[-1].text == "half-width 16.1 %"
    assert row[-1].remark.startswith("half-width ")
    drawn = [row for layer in shown.chart(rungs)["layer"] for row in layer["data"]["values"] if "solid" in row]
    assert not any(row["solid"] for row in drawn if row["name"] == "transfer")
    assert all(row["solid"] for row in drawn if row["name"] == "step")


def test_rungs_with_both_sides_are_drawn_in_their_order_and_one_alone_is_not():
    spec = shown.chart(ladder.ladder(records()))
    assert spec is not None
    rows = [row for layer in spec["layer"] for row in layer["data"]["values"] if "solid" in row]
    assert list(dict.fromkeys(row["name"] for row in rows)) == ["step", "transfer", "epoch", "cold", "run"]
    assert {row["name"] for row in rows if not row["solid"]} <= {"run"}
    assert shown.chart(ladder.ladder(records()[:2])) is None


def test_a_curve_needs_both_scopes_of_both_sides():
    assert amortised(r for r in records() if (r.backend, r.case.scope) != ("gpu", "cold")) == ()
    elsewhere = factory.record(scope="cold", backend="gpu", campaign="20270101-000000-new")
    assert amortised([*(r for r in records() if (r.backend, r.case.scope) != ("gpu", "cold")), elsewhere]) == ()


def test_a_curve_has_start_and_step_as_the_ladder_each_from_the_newest_campaign_that_was_measured_and_whole():
    def newer(year, **changes):
        made = records(campaign=f"{year}0101-000000-new", created=f"{year}-01-01T00:00:00Z", **changes)
        faster = [msgspec.structs.replace(r, runs=tuple(map(faster_run, r.runs))) for r in made if r.backend == "gpu"]
        return [r for r in made if r.backend == "cpu"] + faster

    def faster_run(run):
        halved = (msgspec.structs.replace(s, wall_seconds=s.wall_seconds / 2) for s in run.samples)
        return msgspec.structs.replace(run, samples=tuple(halved))

    def broken_off(record):
        return msgspec.structs.replace(record, rounds=10)

    def last(made):
        return amortised(made)[-1].ratio.value

    def first(made):
        return amortised(made)[0].ratio.value

    old = last(records())
    assert last([*records(), *newer(2027)]) == pytest.approx(2 * old, rel=1e-3)
    assert last([*records(), *newer(2027, profile="smoke")]) == old
    assert last([*records(), *map(broken_off, newer(2027))]) == old
    starts = [*records(), *(r for r in newer(2027) if r.case.scope == "cold")]
    assert first(starts) == pytest.approx(2 * first(records()), rel=1e-3)
    assert last(starts) == pytest.approx((2 + 999.99) / (2 + 99.999), rel=1e-3)


def test_a_curve_is_of_the_better_allocator_and_hollow_where_a_time_is_not_steady():
    def other(scope, seconds):
        return factory.record(scope=scope, step_seconds=[seconds] * 3, allocator="system", about=factory.description())

    steady = amortised(records())
    better = amortised([*records(), other("step", 0.005), other("cold", 3.0)])
    assert better[0].ratio.value == pytest.approx(2 / 4, rel=1e-2)
    assert better[-1].ratio.value == pytest.approx(steady[-1].ratio.value / 2, rel=1e-2)
    better = amortised([*records(), other("step", 0.02), other("cold", 1.0)])
    assert better[0].ratio.value == pytest.approx(1 / 4, rel=1e-2)
    assert better[-1].ratio.value == pytest.approx(steady[-1].ratio.value, rel=1e-2)
    assert [one.steady for one in steady] == [True] * 6
    wide = factory.record(scope="cold", step_seconds=[2.0, 3.0, 4.0], about=factory.description(run=RUN))
    uneven = [wide if (r.backend, r.case.scope) == ("cpu", "cold") else r for r in records()]
    assert not any(one.steady for one in amortised(uneven))
    for curve, solid in ((steady, True), (amortised(uneven), False)):
        marks = [layer["mark"] for layer in shown.curve(curve)["layer"] if layer["mark"]["type"] == "point"]
        assert [mark["filled"] for mark in marks] == [solid]


def test_start_and_steps_of_two_campaigns_have_no_interval_together_and_the_page_says_so(checkout):  # noqa: F811
    when = {"campaign": "20270101-000000-new", "created": "2027-01-01T00:00:00Z"}
    start = [record for record in records(**when) if record.case.scope == "cold"]
    one, two = amortised(records()), amortised([*records(), *start])
    assert [each.joined for each in one + two] == [False] * 6 + [True] * 6
    assert [each.ratio.low is None for each in two] == [False] + [True] * 5
    assert all(each.ratio.low is not None for each in one)
    assert "after 1,000 steps 2.4x; " in shown.alternative(two)
    assert "after 1,000 steps 2.40x; " in shown.alternative(one)
    assert [each.ratio.value for each in two] == pytest.approx([each.ratio.value for each in one])
    notes = [" ".join(shown.table(ladder.ladder(made), factory.description(run=RUN), "here").notes)
             for made in (records(), [*records(), *start])]  # fmt: skip
    assert ["of 2 campaigns, 2026-01-01 to 2027-01-01" in note for note in notes] == [False, True]
    rendered(checkout, *records(), *start)
    built(checkout)
    page = (checkout / "build" / "html" / "workloads" / "mnist_mlp.html").read_text()
    assert page.count("Cold start and steps are of two campaigns here") == 1
    assert page.count("The rows are of 2 campaigns, 2026-01-01 to 2027-01-01") == 1


def test_a_page_shows_the_ladder_the_curve_and_the_run_beside_the_documented_one(checkout):  # noqa: F811
    rendered(checkout, *records())
    built(checkout)
    page = (checkout / "build" / "html" / "workloads" / "mnist_mlp.html").read_text()
    assert "run: building, compiling and 2 epochs of 1,000 examples, validation after each" in page
    assert "amortised.mnist_mlp" in page
    assert "two campaigns here" not in page
    assert "began, UTC" not in page
    table = shown.table(ladder.ladder(records()), factory.description(run=RUN), "here")
    assert table.rows[-1][4].text == "–"
    assert table.notes == ("One repetition has no interval.",)

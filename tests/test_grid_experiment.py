"""The grid search's experiment asks for fits alone and stacked, and reads off what stacking gains."""

import factory
import msgspec
import pytest
from factory import of_one_machine

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.claims.grids import OBSERVATIONS
from suite.experiments import grid_search
from suite.results.records.run import Energy, GpuTelemetry, Level, Score, Stage, Telemetry
from suite.results.views.experiment_result import Chart

ABOUT = models.load("mnist_grid_search").description
BOTH = MachineCapabilities(backends=("cpu", "gpu"), cores=4)
NOISE = (1.0, 1.01, 0.99)


def timed(backend, fits, seconds, variant="stacked", busy=None, went_on=None, **changes):
    seen = None if busy is None else Telemetry(
        seconds=10.0, readings=100, gpus=(GpuTelemetry(utilisation=Level(mean=busy, max=1.0)),)
    )  # fmt: skip
    energy = None if went_on is None else Energy(seconds=11.0, gpu_utilisation=went_on)
    runs = tuple(
        factory.run(number, seconds * noise, telemetry=seen, energy=energy) for number, noise in enumerate(NOISE)
    )
    batch = 32 * fits
    return factory.record("mnist_grid_search", backend, about=ABOUT, batch=batch, variant=variant, runs=runs, **changes)


def read(records):
    reading = grid_search.read(of_one_machine(records))
    assert reading is not None
    return reading


def searched(**changes):
    """Return records of a GPU on which 32 fits take as long as one, and 64 twice that."""
    return [
        timed("gpu", 1, 1e-3, "plain", busy=0.2, **changes),
        timed("gpu", 3, 1e-3, busy=0.3, **changes),
        timed("gpu", 6, 1e-3, busy=0.4, **changes),
        timed("gpu", 32, 1e-3, busy=0.8, **changes),
        timed("gpu", 64, 2e-3, busy=0.9, **changes),
    ]


def test_fits_are_asked_for_alone_and_stacked_up_to_more_than_the_grid_has():
    found = [(case.backend, case.variant, case.batch // 32) for case in grid_search.cases([ABOUT], BOTH)]
    assert found[:4] == [("cpu", "plain", 1), ("cpu", "stacked", 1), ("cpu", "stacked", 2), ("cpu", "stacked", 3)]
    assert {count for side, way, count in found if (side, way) == ("gpu", "stacked")} == {
        1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 256}  # fmt: skip


def test_a_workload_without_a_grid_is_refused_with_what_there_is():
    with pytest.raises(ValueError, match="none of mnist_mlp has a grid of fits; there is: mnist_grid_search"):
        grid_search.cases([factory.description()], BOTH)


def test_the_gain_is_that_of_examples_a_second_and_the_answer_says_from_where_on():
    reading = read(searched())
    assert [row[4].sort for row in reading.tables[0].rows] == pytest.approx([1, 3, 6, 32, 32])
    assert "32 stacked fits train 32" in reading.answers[0]
    assert "from 32 on it is at least 90 % of that" in reading.answers[0]
    assert "busy 20 % with one fit after another, 80 % with 32 stacked." in reading.answers[0]
    assert isinstance(reading.chart, Chart)
    assert [at.at for at in reading.chart.points] == [3, 6, 32, 64]
    assert [at.value for at in reading.beside[0].points] == pytest.approx([30, 40, 80, 90])


def test_how_busy_the_gpu_is_may_come_from_another_campaign_than_the_gain():
    whole = [timed("gpu", 1, 1e-3, "plain"), timed("gpu", 3, 1e-3), timed("gpu", 32, 1e-3)]
    later = {"campaign": "20260102-000000-test", "created": "2026-01-02T00:00:00Z"}
    seen = [timed("gpu", 32, 5e-3, went_on=0.6, **later), timed("gpu", 1, 5e-3, "plain", went_on=0.1, **later)]
    cut = [msgspec.structs.replace(record, runs=record.runs[:1]) for record in seen]
    reading = read([*whole, *cut])
    assert "32 stacked fits train 32" in reading.answers[0]
    assert "busy 10 % with one fit after another, 60 % with 32 stacked." in reading.answers[0]
    assert [(at.at, at.value) for at in reading.beside[0].points] == [(32, pytest.approx(60))]
    (only,) = read(cut).tables
    assert len(only.rows) == 2
    assert read(cut).answers == ()  # a table of what there is, but nothing that it says


def test_how_busy_the_gpu_is_comes_from_the_campaign_of_the_gain_where_that_knows():
    later = {"campaign": "20260102-000000-test", "created": "2026-01-02T00:00:00Z"}
    slower = timed("gpu", 1, 5e-3, "plain", went_on=0.1, **later)
    reading = read([*searched(), slower])
    assert "busy 20 % with one fit after another, 80 % with 32 stacked." in reading.answers[0]
    assert reading.tables[0].rows[0][7].sort == pytest.approx(0.2)


def test_backends_of_two_campaigns_are_said_to_be_of_two():
    later = {"campaign": "20260102-000000-test", "created": "2026-01-02T00:00:00Z"}
    other = [timed("cpu", 1, 1e-2, "plain", **later), timed("cpu", 3, 1e-2, **later)]
    notes = [read(records).tables[0].notes for records in (searched(), [*searched(), *other])]
    assert notes[0] == ()
    assert notes[1][0].startswith("The rows are of 2 campaigns, 2026-01-01 to 2026-01-02. ")


def test_a_step_that_did_not_go_on_says_nothing_of_another_campaigns_gpu():
    whole = [timed("gpu", 1, 1e-3, "plain"), timed("gpu", 32, 1e-3, busy=0.9)]
    later = {"campaign": "20260102-000000-test", "created": "2026-01-02T00:00:00Z"}
    assert "busy" not in read([*whole, timed("gpu", 1, 5e-3, "plain", busy=0.1, **later)]).answers[0]


def test_the_least_and_the_most_of_all_campaigns_stand_beside_a_gain():
    earlier = {"campaign": "20250102-000000-test", "created": "2025-01-02T00:00:00Z"}
    before = [timed("gpu", 1, 2e-3, "plain", **earlier), timed("gpu", 32, 1e-3, **earlier)]
    cut = {"campaign": "20250103-000000-test", "created": "2025-01-03T00:00:00Z"}
    smoke = [timed("gpu", 1, 9e-3, "plain", profile="smoke", **cut), timed("gpu", 32, 1e-3, profile="smoke", **cut)]
    assert (
        "as one after another, 32 to 64 in 2 campaigns; from 32 on" in read([*searched(), *before, *smoke]).answers[0]
    )
    assert "campaigns" not in read(searched()).answers[0]


def test_a_stack_of_one_which_the_chart_has_is_told_apart_from_one_fit_after_another():
    reading = read([*searched(), timed("gpu", 1, 2e-3, busy=0.15)])
    assert "busy 20 % with one fit after another, 15 % with a stack of one, 80 % with 32 stacked." in reading.answers[0]
    assert (reading.beside[0].points[0].at, reading.beside[0].points[0].value) == (1, pytest.approx(15))
    unseen = read([*searched(), timed("gpu", 1, 2e-3)])
    assert "a stack of one" not in unseen.answers[0]


def test_a_count_near_the_best_is_named_only_if_all_larger_ones_are_near_it_too():
    dips = [timed("cpu", 1, 1e-3, "plain"), timed("cpu", 2, 1e-3), timed("cpu", 3, 2e-3), timed("cpu", 6, 3e-3)]
    assert "2 stacked fits train 2.00x (2.00 to 2.00) as fast" in read(dips).answers[0]
    assert "from 6 on it is at least 90 % of that" in read(dips).answers[0]
    assert "with 3 it is less than 90 % of that" in read(dips[:-1]).answers[0]


def test_the_search_is_derived_from_its_documented_steps():
    (group,) = grid_search.together(searched(), grid_search._fits)
    one, stacked = grid_search.derived(group)
    assert one == pytest.approx(135_000 * 1e-3, rel=1e-2)
    assert stacked == pytest.approx(30_000 * 1e-3, rel=1e-2)  # 4 networks, 6 epochs of 1,250 steps
    table = read(searched()).tables[1]
    assert [row[3].sort for row in table.rows] == pytest.approx([one, stacked])


def test_stacking_that_gains_nothing_is_said_to_gain_nothing():
    reading = read([timed("cpu", 1, 1e-3, "plain"), timed("cpu", 6, 9e-3)])
    assert "no number of stacked fits is surely faster" in reading.answers[0]
    assert reading.beside == ()
    assert len(reading.tables[1].rows) == 1  # not all stacks of the search were timed


def test_stacks_without_the_fit_alone_have_no_gain():
    reading = read(searched()[1:])
    assert "not known" in reading.answers[0]


def test_other_batches_of_one_fit_are_no_part_of_it():
    assert grid_search.read(of_one_machine([timed("cpu", 6, 1e-3, "plain"), timed("cpu", 1, 1e-3, "plain")])) is None


def search(variant, seconds, losses, fits=1, backend="cpu", stages=(), **changes):
    """Return the record of searches whose first point has these mean log losses, a seed each."""
    parts = tuple(Stage(name=name, wall_seconds=taken, process_seconds=taken) for name, taken in stages)
    points = [(Score(hidden=(32,), epochs=3, log_losses=(loss, loss)),) for loss in losses]
    runs = tuple(
        factory.run(number, seconds * NOISE[number], steps=1, samples=1, scores=scores, stages=parts)
        for number, scores in enumerate(points)
    )
    axes = {"batch": 32 * fits, "variant": variant, "scope": "run"}
    return factory.record("mnist_grid_search", backend, about=ABOUT, runs=runs, **axes, **changes)


def test_whole_searches_are_asked_for_in_both_ways():
    found = [(case.variant, case.batch // 32) for case in grid_search.searches([ABOUT], BOTH) if case.backend == "gpu"]
    assert found == [("plain", 1), ("stacked", 6)]


@pytest.mark.parametrize(("losses", "verdict"), [((0.1, 0.2, 0.3), "within the spread"), ((0.6, 0.7, 0.8), "apart")])
def test_whole_searches_are_set_beside_each_other_with_their_scores(losses, verdict):
    reading = read([search("plain", 12.0, (0.11, 0.19, 0.31)), search("stacked", 4.0, losses, fits=6)])
    times, scores = reading.tables
    assert [row[2].text for row in times.rows] == ["one after another", "stacked"]
    assert times.rows[1][7].sort == pytest.approx(3, rel=1e-3)
    assert scores.rows[0][2].text == "32, 3 epochs"
    assert scores.rows[0][3].text == verdict
    assert "stacked, the whole search is 3" in reading.answers[-2]
    within = int(verdict == "within the spread")
    assert f"stacked, {within} of 1 point score within the spread of their seeds." in reading.answers[-1]


def test_where_the_time_of_a_search_goes_is_added_up_from_its_stages():
    alone = [("import", 9.0), ("compile", 1.0), ("epoch", 2.0), ("epoch", 3.0), ("validation", 0.5)]
    stacked = [("lower", 0.5), ("compile", 2.0), ("compile_rest", 0.5), ("compile", 1.0), ("epoch", 1.5)]
    reading = read(
        [search("plain", 12.0, (0.1,), stages=alone), search("stacked", 6.0, (0.1,), fits=6, stages=stacked)]
    )
    assert [[row[at].sort for at in (4, 5, 6)] for row in reading.tables[0].rows] == [[1, 5, 0.5], [4, 1.5, None]]
    assert reading.answers[-1].startswith(
        "mnist_grid_search on the CPU: stacked, the whole search is 2.00x (one run) as fast; 1.00 s of it are "
        "compiling one after another, 4.00 s stacked."
    )


def test_a_newer_campaign_of_one_way_alone_takes_no_comparison_away():
    both = [search("plain", 12.0, (0.1,)), search("stacked", 4.0, (0.2,), fits=6)]
    newer = {"campaign": "20260930-120000-testbox", "created": "2026-09-30T12:00:00Z"}
    reading = read([*both, search("stacked", 5.0, (0.2,), fits=6, **newer)])
    assert [row[3].sort for row in reading.tables[0].rows] == pytest.approx([12, 4])
    assert reading.tables[1].title == "Scores of its points"
    (alone,) = read([search("stacked", 4.0, (0.2,), fits=6), search("stacked", 5.0, (0.2,), fits=6, **newer)]).tables
    assert [row[3].sort for row in alone.rows] == pytest.approx([5])


def test_what_a_gpu_gains_in_a_whole_search_is_said_beside_what_stacking_gains():
    sides = [("cpu", 30.0, 24.0), ("gpu", 10.0, 6.0)]
    both = [
        search(way, seconds, (0.1, 0.2, 0.3), fits=fits, backend=backend)
        for backend, *times in sides
        for (way, fits), seconds in zip((("plain", 1), ("stacked", 6)), times, strict=True)
    ]
    said = read(both).answers[-1]
    assert said.startswith("mnist_grid_search: one fit after another, the GPU makes the whole search 3.00x (no")
    assert ". With its fits stacked, the GPU makes the whole search 4.00x (no" in said
    about = msgspec.structs.replace(ABOUT, name="another_search")
    cases = (msgspec.structs.replace(record.case, workload="another_search") for record in both)
    another = [
        msgspec.structs.replace(record, workload="another_search", description=about, case=case)
        for record, case in zip(both, cases, strict=True)
    ]
    assert [answer.partition(":")[0] for answer in read([*both, *another]).answers[-2:]] == [
        "another_search", "mnist_grid_search"]  # fmt: skip
    other = {"campaign": "20260930-120000-testbox", "created": "2026-09-30T12:00:00Z"}
    apart = [msgspec.structs.replace(record, **other) if record.backend == "gpu" else record for record in both]
    assert read(apart).answers[-1] == said


def test_the_searches_of_all_campaigns_are_the_seeds_of_a_point():
    earlier = {"campaign": "20250102-000000-test", "created": "2025-01-02T00:00:00Z"}
    now = [search("plain", 12.0, (0.1,)), search("stacked", 4.0, (0.2,), fits=6)]
    before = [search("plain", 9.0, (0.3,), **earlier), search("stacked", 6.0, (0.4,), fits=6, **earlier)]
    again = read([*now, *before])
    assert again.tables[1].rows[0][3].text == "one seed"  # the same one: the newest search of it counts
    assert [again.tables[1].rows[0][at].sort for at in (4, 6)] == pytest.approx([0.1, 0.2])
    others = [
        msgspec.structs.replace(
            record, runs=tuple(msgspec.structs.replace(run, seed=run.seed + 99) for run in record.runs)
        )
        for record in before
    ]
    reading = read([*now, *others])
    assert [reading.tables[1].rows[0][at].text for at in (3, 5)] == ["within the spread", "0.100 to 0.300"]
    assert [reading.tables[1].rows[0][at].sort for at in (4, 6)] == pytest.approx([0.2, 0.3])
    assert [row[9].text for row in reading.tables[0].rows] == ["–", "–"]
    assert "the whole search is 3.00x (one run) as fast, 1.5 to 3.0 in 2 campaigns." in reading.answers[-2]


def test_a_search_that_was_timed_whole_is_not_derived():
    reading = read([*searched(), search("plain", 12.0, (0.1,), backend="gpu")])
    (derived,) = (table for table in reading.tables if "derived" in table.title)
    assert [row[2].text for row in derived.rows] == ["stacked"]


def test_searches_that_were_cut_short_are_none():
    assert grid_search.read(of_one_machine([search("plain", 12.0, (0.1,), profile="smoke")])) is None


def test_one_seed_gives_no_verdict():
    reading = read([search("plain", 12.0, (0.1,)), search("stacked", 4.0, (0.2,), fits=6)])
    assert reading.tables[1].rows[0][3].text == "one seed"


@pytest.mark.parametrize(("cpu", "verdict"), [(30.0, "reproduced"), (5.0, "refuted"), (10.0, "not comparable")])
def test_the_observation_is_judged_by_the_whole_search_one_fit_after_another(cpu, verdict):
    noisy = search("plain", cpu, (0.1, 0.2, 0.3))
    shares = (0.8, 1.0, 1.3) if cpu == 10.0 else (1.0, 1.01, 0.99)  # of hosts that differ more than the two sides
    records = [noisy, search("plain", 10.0, (0.1, 0.2, 0.3), backend="gpu")]
    (observation,) = OBSERVATIONS
    found = observation.judge(of_one_machine(factory.on_hosts(records, shares)))
    assert found.verdict == verdict
    assert found.found.startswith("One fit after another, the GPU makes the whole search")


def test_what_the_search_lacks_is_said_and_sides_of_two_campaigns_are_pooled():
    (observation,) = OBSERVATIONS
    cpu, gpu = (search("plain", 30.0, (0.1, 0.2, 0.3), backend=backend) for backend in ("cpu", "gpu"))
    stacked = [search("stacked", 20.0, (0.1, 0.2, 0.3), fits=6, backend=backend) for backend in ("cpu", "gpu")]
    other = msgspec.structs.replace(cpu, campaign="20260102-000000-other")
    for records, missing in (
        ([cpu], "the GPU"),
        ([gpu, *stacked], "the CPU"),
        (stacked, "the CPU and the GPU"),
    ):
        found = observation.judge(of_one_machine(records))
        assert found.verdict == "not run"
        assert found.found.endswith(f"Not measured: one fit after another on {missing}.")
        assert found.found.startswith("With its fits stacked, the GPU makes the whole search 1") == (
            stacked[0] in records
        )
    fast = search("plain", 10.0, (0.1, 0.2, 0.3), backend="gpu")
    assert observation.judge(of_one_machine([other, fast])).verdict == "reproduced"

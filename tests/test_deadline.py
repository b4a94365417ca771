"""A budget holds: what does not fit is not begun, what overruns is ended, and all that fits has a row."""

import math
import random
from contextlib import suppress

import factory
import msgspec
import pytest
from campaigns import Child, FakeClock, Watch, case, done, plan, workers

from suite.driver import runner
from suite.driver.campaign import records
from suite.driver.forecast import SHORTEST, Deadline, process_seconds
from suite.driver.journal import FILE_NAME, Journal
from suite.driver.profiles import EFFORTS
from suite.results.pooled import spreads
from suite.results.single import validity
from suite.results.single.summary import summary

RESERVED = 60.0
CORES = factory.HOST.cores


@pytest.fixture(autouse=True)
def calm(monkeypatch):
    """Let nothing else run here, and no check look at times that nobody took."""
    monkeypatch.setattr(runner, "wait_until_quiet", lambda *_: 0.0)
    monkeypatch.setattr(validity, "CHECKS", {})
    monkeypatch.setattr(spreads, "nearest", lambda machine, wanted: 0.05)


def campaign(tmp_path, header, took, budget, reserved=0.0, step_seconds=None, at=None):
    """Run a campaign whose processes take what `took` says for a unit; return it, its clock and whether it is whole."""
    watch, at, journal = Watch(), at or FakeClock(), Journal(tmp_path / FILE_NAME)
    if not journal.path.exists():
        journal.append(header)
    noise = random.Random(at())
    step_seconds = step_seconds or (lambda unit: noise.uniform(0.01, 0.02))
    start = workers(lambda unit: Child(at, took(unit), step_seconds(unit)))
    deadline = Deadline(budget, reserved, began=at(), now=at)
    whole = runner.run(journal.header(), journal, watch, start, deadline=deadline)
    return watch, at, whole, journal


def guess(each, about=None):
    return process_seconds((each,), about or factory.description(each.workload), EFFORTS["quick"], CORES)


def test_a_deadline_counts_from_the_start_of_the_command_and_keeps_what_is_reserved():
    at = FakeClock()
    at.seconds = 100.0
    deadline = Deadline(480.0, RESERVED, began=90.0, now=at)
    assert deadline.left == 410.0
    assert deadline.until_overrun == 434.0
    at.seconds = 600.0
    assert deadline.left == -90.0
    assert deadline.until_overrun == 0.0
    assert Deadline().left == Deadline().until_overrun == math.inf


def test_without_a_budget_a_planned_campaign_ends_when_it_is_whole(tmp_path):
    header = plan(case(), case(backend="gpu"), within=None)
    watch, at, whole, journal = campaign(tmp_path, header, lambda unit: 200.0, None)
    assert (whole, len(journal.done())) == (True, 6)
    assert at() == pytest.approx(1200.0)
    assert watch.skipped == []


def test_no_process_is_begun_that_does_not_fit_and_it_is_named(tmp_path):
    small, large = case("small"), case("large", scope="cold")
    header = plan(small, large, within=None, asked=1)
    budget = guess(small) + process_seconds((large,), factory.description("large"), SHORTEST, CORES) - 1.0
    watch, at, whole, _journal = campaign(tmp_path, header, lambda unit: guess(unit[0]), budget)
    assert [each for _, each in watch.began] == [small]
    assert [each for each, _ in watch.skipped] == [large]
    assert watch.skipped[0][1] == pytest.approx(guess(large), rel=0.5)
    assert not whole
    assert at() <= budget


@pytest.mark.parametrize(
    ("budget", "begun", "left_out"), [(80.0, ["first"], ["second"]), (10.0, [], ["first", "second"])]
)
def test_data_are_made_for_what_fits_alone_and_count_against_the_budget(tmp_path, budget, begun, left_out):
    header = plan(case("first"), case("second"), within=None, asked=1)
    prepared, at, watch, journal = [], FakeClock(), Watch(), Journal(tmp_path / FILE_NAME)
    journal.append(header)

    def prepare(group, progress):
        prepared.append(group[0].workload)
        at.seconds += 25.0

    start = workers(lambda unit: Child(at, 20.0, 0.01))
    runner.run(header, journal, watch, start, deadline=Deadline(budget, now=at), prepare=prepare)
    assert [each.workload for _, each in watch.began] == begun
    assert [each.workload for each, _ in watch.skipped] == left_out
    assert prepared == [*begun, *(["second"] if budget == 80.0 else [])]


def test_the_time_reserved_for_the_site_is_not_measured_in(tmp_path):
    header = plan(case(), case("cifar10_mlp"), within=1e-6)
    _, at, whole, _ = campaign(tmp_path, header, lambda unit: 12.0, 600.0, RESERVED)
    assert not whole
    assert 600.0 - RESERVED - 12.0 < at() <= 600.0 - RESERVED


def test_a_process_that_overruns_is_ended_and_nothing_of_it_is_recorded(tmp_path):
    header = plan(case(), case("cifar10_mlp"), within=None, asked=1)
    took = {"cifar10_mlp": 10.0, "mnist_mlp": 1e6}
    _, at, whole, journal = campaign(tmp_path, header, lambda unit: took[unit[0].workload], 100.0)
    assert not whole
    assert at() == pytest.approx(105.0)
    assert [entry.case.workload for entry in journal.done()] == ["cifar10_mlp"]
    _watch, at, whole, journal = campaign(tmp_path, header, lambda unit: 10.0, 100.0)
    assert (whole, len(journal.done())) == (True, 2)


def test_a_stage_that_hangs_is_a_failure_while_there_is_time(tmp_path):
    header = plan(case(), within=None, asked=1)
    _, at, whole, journal = campaign(tmp_path, header, lambda unit: 1e6, 1e5)
    assert whole
    assert "no word from the worker for 120 s" in journal.done()[0].run.reason
    assert at() == 120.0


def asked_of(tmp_path, header, budget, before=()):
    """Return the tasks that the processes of a campaign were given, by round."""
    told, at, watch, journal = [], FakeClock(), Watch(), Journal(tmp_path / FILE_NAME)
    journal.append(header, *before)

    class Listening(Child):
        def tell(self, line):
            super().tell(line)
            told.append(self.task)

    start = workers(lambda unit: Listening(at, 30.0, 0.01 + 0.01 * len(told)))
    runner.run(header, journal, watch, start, deadline=Deadline(budget, now=at))
    return [(number, task) for (number, _), task in zip(watch.began, told, strict=True)]


def test_only_the_first_pass_may_take_short_samples(tmp_path):
    tasks = asked_of(tmp_path, plan(case(), within=1e-6), 200.0)
    assert [(number, task.most_seconds) for number, task in tasks] == [(0, 200.0), *[(n, None) for n in range(1, 6)]]


def test_no_process_of_a_reference_round_takes_short_samples(tmp_path):
    header = msgspec.structs.replace(plan(case(), within=None, asked=2), is_reference=True)
    assert [task.most_seconds for _, task in asked_of(tmp_path, header, 200.0)] == [None, None]


def test_a_process_of_a_reference_round_that_fits_only_with_short_samples_is_skipped(tmp_path):
    long = factory.description("long", flop_per_example=60_000_000_000)
    header = plan(case("long"), about=lambda name: long, within=None, asked=1)
    short, whole = process_seconds((case("long"),), long, SHORTEST, CORES), guess(case("long"), long)
    for name, each, begun in (("usual", header, 1), ("round", msgspec.structs.replace(header, is_reference=True), 0)):
        (tmp_path / name).mkdir()
        watch, *_ = campaign(tmp_path / name, each, lambda unit: short, (short + whole) / 2)
        assert len(watch.began) == begun


def test_without_a_budget_a_process_has_all_the_time(tmp_path):
    assert [task.most_seconds for _, task in asked_of(tmp_path, plan(case(), within=None), None)] == [None] * 3


def test_a_process_whose_shortest_sample_fits_is_begun_in_the_first_pass_and_in_no_further_one(tmp_path):
    long = factory.description("long", flop_per_example=60_000_000_000)
    header = plan(case("long"), about=lambda name: long, within=1e-6)
    short, whole = process_seconds((case("long"),), long, SHORTEST, CORES), guess(case("long"), long)
    assert short < 0.7 * whole
    (tmp_path / "one").mkdir()
    watch, *_ = campaign(tmp_path / "one", header, lambda unit: short, (short + whole) / 2)
    assert [number for number, _ in watch.began] == [0]
    (tmp_path / "two").mkdir()
    watch, *_ = campaign(tmp_path / "two", header, lambda unit: whole, 2 * whole - 1)
    assert [number for number, _ in watch.began] == [0]


def test_a_planned_round_after_the_first_is_whole_or_skipped(tmp_path):
    long = factory.description("long", flop_per_example=60_000_000_000)
    header = plan(case("long"), about=lambda name: long, within=None, asked=2)
    short, whole = process_seconds((case("long"),), long, SHORTEST, CORES), guess(case("long"), long)
    watch, *_ = campaign(tmp_path, header, lambda unit: whole, whole + (short + whole) / 2)
    assert [number for number, _ in watch.began] == [0]
    assert [each for each, _ in watch.skipped] == [case("long")]


def test_a_record_with_a_short_sample_says_so_and_is_unstable():
    made = [factory.run(0, 8.0, steps=1, samples=1), *(factory.run(n, 8.0, steps=1) for n in (1, 2))]
    found = summary(factory.record(step_seconds=(8.0,) * 3, runs=tuple(made)))
    assert not found.steady
    assert found.reasons == ("1 sample a process instead of 3, since the budget left no time for more; raise --budget",)
    cold = factory.record(
        scope="cold", step_seconds=(3.0,) * 3, runs=tuple(factory.run(n, 3.0, samples=1) for n in range(3))
    )
    assert summary(cold).reasons == ()


class Busy:
    """A machine on which something else always runs."""

    def __init__(self, at):
        self.at, self.waited = at, []

    def __call__(self, patience, cores, watch):
        waits = max(0.0, patience)
        self.waited.append(waits)
        self.at.seconds += waits
        return waits


def test_all_waiting_for_other_load_takes_a_tenth_of_the_budget_and_keeps_nothing_from_fitting(tmp_path, monkeypatch):
    at = FakeClock()
    busy = Busy(at)
    monkeypatch.setattr(runner, "wait_until_quiet", busy)
    header = plan(*(case(name) for name in "abcdefgh"), within=1e-6)
    _watch, _, _, journal = campaign(tmp_path, header, lambda unit: 10.0, 400.0, at=at)
    assert busy.waited[:2] == [30.0, 10.0]
    assert sum(busy.waited) == pytest.approx(40.0)
    assert {entry.seconds for entry in journal.done()} == {10.0}, "waiting is no part of what a process takes"
    assert 380.0 < at() <= 400.0


def test_waiting_leaves_the_time_that_the_process_needs(tmp_path, monkeypatch):
    at = FakeClock()
    monkeypatch.setattr(runner, "wait_until_quiet", Busy(at))
    each = case()
    header = plan(each, within=None, asked=1)
    _watch, _, whole, _ = campaign(tmp_path, header, lambda unit: guess(each), guess(each) + 0.5, at=at)
    assert whole
    assert at() == pytest.approx(guess(each) + 0.5)


class Counting:
    """What stands for the telemetry where the hardware counts energy."""

    rested, rests = False, 0

    def counts(self, unit, profile):
        return True

    def rest(self):
        self.rested, self.rests = True, self.rests + 1

    def follow(self, pid): ...
    def hears(self, line): ...

    def added(self, run, case, facts):
        return run


@pytest.mark.parametrize(("budget", "counted"), [(300.0, True), (75.0, False), (None, True)])
def test_energy_is_counted_where_the_budget_has_time_for_it(tmp_path, budget, counted):
    header = plan(case(), within=1e-6) if budget else plan(case(), within=None)
    told, at, journal = [], FakeClock(), Journal(tmp_path / FILE_NAME)
    journal.append(header)

    class Listening(Child):
        pid = 0

        def tell(self, line):
            super().tell(line)
            told.append(self.task.energy_seconds)
            self.took += self.task.energy_seconds

    start = workers(lambda unit: Listening(at, 30.0, 0.01 + 0.01 * len(told)))
    runner.run(header, journal, Watch(), start, telemetry=Counting(), deadline=Deadline(budget, now=at))
    assert any(told) is counted
    assert {round(entry.seconds, 6) for entry in journal.done()} == {30.0}, "as long as one without counting"


def drawn(seed):
    """Return a plan of several workloads, what its processes take, and a budget with time for a first pass and more."""
    rng = random.Random(seed)
    off = {side: math.exp(rng.uniform(-1, 1) * math.log(4)) for side in ("cpu", "gpu")}
    names = [f"w{number}" for number in range(rng.randint(2, 7))]
    flop = {name: int(10 ** rng.uniform(4, 9.5)) for name in names}
    sides = ("cpu", "gpu") if rng.random() < 0.5 else ("cpu",)
    cases = [case(name, side, scope) for name in names for side in sides for scope in ("step", "cold")]
    about = lambda name: factory.description(name, flop_per_example=flop[name])  # noqa: E731
    header = plan(*cases, about=about, within=1e-6)
    first = {
        each: off[each.backend] * rng.uniform(0.8, 1.25) * runner.Forecast(header).seconds((each,)) for each in cases
    }
    later = {each: off[each.backend] * rng.uniform(0.8, 1.25) * guess(each, about(each.workload)) for each in cases}
    return rng, header, first, later, max(480.0, 3 * sum(first.values()))


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 50))])
def test_a_campaign_ends_when_it_said_and_everything_has_a_row(tmp_path, seed):
    rng, header, first, later, budget = drawn(seed)
    begun = set()

    def took(unit):
        seconds = later if unit[0] in begun else first
        begun.add(unit[0])
        return seconds[unit[0]] * rng.uniform(0.95, 1.05)

    watch, at, whole, journal = campaign(
        tmp_path, header, took, budget, RESERVED, lambda unit: rng.lognormvariate(-4, 0.1)
    )
    assert not whole
    # A last round that just fitted may lose its second process to a first one that took longer than foreseen.
    assert {each for each, _ in watch.skipped} <= begun
    assert 0.9 * budget - RESERVED <= at() <= 1.05 * budget - RESERVED
    assert {record.case for record in records(header, journal.done())} == set(header.cases)
    assert max(journal.header().case_rounds) > 1


@pytest.mark.parametrize("seed", range(10))
def test_a_budget_that_is_too_small_still_holds(tmp_path, seed):
    _, header, first, _, budget = drawn(seed)
    small = budget / 12
    watch, at, whole, journal = campaign(tmp_path, header, lambda unit: first[unit[0]], small)
    assert not whole
    assert at() <= 1.05 * small
    named = {each for each, _ in watch.skipped}
    measured = {entry.case for entry in journal.done()}
    cut = {each for _, each in watch.began} - measured
    assert named or cut or measured == set(header.cases)
    assert len(cut) <= 1


def test_what_was_killed_at_its_budget_goes_on_where_it_was_when_resumed(tmp_path):
    header = plan(case(), case("cifar10_mlp"), within=1e-6)
    campaign(tmp_path, header, lambda unit: 20.0, 100.0)
    before = Journal(tmp_path / FILE_NAME).done()
    _watch, _at, _, journal = campaign(tmp_path, header, lambda unit: 20.0, 100.0)
    assert journal.done()[: len(before)] == before
    assert len(journal.done()) == 2 * len(before) == 10
    rounds = [entry.run.round for entry in journal.done() if entry.case == case()]
    assert rounds == sorted(set(rounds))


def test_a_part_that_can_get_no_more_rounds_keeps_nothing_else_from_ending(tmp_path):
    step, transfer = case(), case(scope="transfer")
    header = plan(step, transfer, within=0.1)
    journal, watch = Journal(tmp_path / FILE_NAME), Watch()
    failed = msgspec.structs.replace(done(transfer, [0.01])[0], run=factory.run(0, 0.01, samples=0, reason="stopped"))
    journal.append(header, *done(step, [0.01]), failed)

    def never(unit):
        raise AssertionError("nothing is left to measure")

    with suppress(KeyboardInterrupt):
        assert runner.run(journal.header(), journal, watch, workers(never), deadline=Deadline(100.0, now=FakeClock()))
    assert watch.grown == []

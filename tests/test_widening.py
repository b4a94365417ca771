"""Rounds are added where an interval is too wide, to all that it is paired with, and nowhere else."""

from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import factory
import msgspec
import pytest

from suite import bench
from suite.measure import campaign, profiles, refusal, runner, widening
from suite.measure.answering import Answer
from suite.measure.protocol import Line
from suite.measure.remaining import Remaining
from suite.measure.request import Request
from suite.progress import CampaignProgress
from suite.results import validity
from suite.results.journal import FILE_NAME, Done, Journal, Rounds, Session
from suite.results.record import Sample, Stage
from suite.results.summary import summary, wide

UNEVEN, EVEN = (0.010, 0.012, 0.014), (0.010, 0.0101, 0.0099)
MOST = profiles.EFFORTS["quick"].most_rounds
SOFTWARE = factory.record().software


def plan(*cases, profile="quick", **options):
    names = dict.fromkeys(case.workload for case in cases)
    about = [factory.description(name) for name in names]
    return campaign.planned(cases, about, profile, factory.HOST, datetime(2026, 1, 1, tzinfo=UTC), **options)


def case(name="mnist_mlp", backend="cpu", scope="step", **axes):
    return factory.record(name, backend=backend, scope=scope, **axes).case


def done(case, seconds, **reason):
    return [Done(case=case, software=SOFTWARE, run=factory.run(n, s, **reason)) for n, s in enumerate(seconds)]


def counts(header):
    return [header.rounds_of(case) for case in header.cases]


def test_a_wide_interval_gets_a_round_and_so_does_all_that_it_is_paired_with():
    cpu, gpu, torch, other = case(), case(backend="gpu"), case(implementation="torch"), case("cifar10_mlp")
    header = plan(cpu, gpu, torch, other)
    entries = [*done(cpu, UNEVEN), *done(gpu, EVEN), *done(torch, EVEN), *done(other, EVEN)]
    assert counts(widening.widened(header, entries)) == [4, 4, 4, 3]


def test_a_speed_up_may_be_wide_though_its_sides_are_not():
    cpu, gpu, other = case(), case(backend="gpu"), case("cifar10_mlp")
    header = plan(cpu, gpu, other)
    up, down = (0.0097, 0.010, 0.0103), (0.00103, 0.001, 0.00097)
    assert counts(widening.widened(header, [*done(cpu, up), *done(gpu, down), *done(other, EVEN)])) == [4, 4, 3]
    assert widening.widened(header, [*done(cpu, up), *done(gpu, down[::-1]), *done(other, EVEN)]) is None
    failed = done(gpu, [0.001], samples=0, reason="killed")
    assert widening.widened(header, [*done(cpu, up), *failed, *done(other, EVEN)]) is None


def test_narrow_intervals_and_those_of_peers_alone_get_none():
    cpu, torch = case(), case(implementation="torch")
    header = plan(cpu, torch)
    assert widening.widened(header, [*done(cpu, EVEN), *done(torch, EVEN)]) is None
    assert widening.widened(header, [*done(cpu, EVEN), *done(torch, UNEVEN)]) is None


def test_of_two_allocators_the_better_one_decides():
    retaining, system = case(), case(allocator="system")
    slow, slow_even = ([2 * seconds for seconds in those] for those in (UNEVEN, EVEN))
    header = plan(retaining, system)
    assert widening.widened(header, [*done(retaining, EVEN), *done(system, slow)]) is None
    assert counts(widening.widened(header, [*done(retaining, slow_even), *done(system, UNEVEN)])) == [4, 4]


def test_starts_and_steps_each_get_rounds_for_themselves_and_what_comes_from_storage_none_beside_steps():
    cold, other, step, epoch = case(scope="cold"), case(backend="gpu", scope="cold"), case(), case(scope="epoch")
    header = plan(cold, other, step, epoch)
    rest = [*done(other, EVEN), *done(epoch, UNEVEN)]
    assert widening.widened(header, [*done(cold, EVEN), *done(step, EVEN), *rest]) is None
    assert counts(widening.widened(header, [*done(cold, UNEVEN), *done(step, EVEN), *rest])) == [4, 4, 3, 3]
    assert counts(widening.widened(header, [*done(cold, EVEN), *done(step, UNEVEN), *rest])) == [3, 3, 4, 3]
    settled = widening.question(cold)
    assert widening.widened(header, [*done(cold, UNEVEN), *done(step, EVEN), *rest], but={settled}) is None


def test_a_start_that_fails_in_a_further_round_takes_none_from_the_steps():
    cold, step = case(scope="cold"), case()
    header = plan(cold, step)
    more = header.with_rounds((4, 4))
    failed = Done(case=cold, software=SOFTWARE, run=factory.run(3, 0.01, samples=0, reason="killed"))
    entries = [*done(cold, EVEN), failed, *done(step, (*EVEN, 0.01))]
    assert counts(widening.whole_rounds(more, header, entries)) == [3, 4]


@pytest.mark.parametrize("scope", ["cold", "epoch"])
def test_where_no_steps_are_timed_starts_and_what_comes_from_storage_decide(scope):
    cpu, gpu, whole, other = case(scope=scope), case(backend="gpu", scope=scope), case(scope="run"), case("cifar10_mlp")
    header = plan(cpu, gpu, whole, other)
    rest = [*done(gpu, EVEN), *done(other, EVEN)]
    assert counts(widening.widened(header, [*done(cpu, UNEVEN), *rest])) == [4, 4, header.rounds_of(whole), 3]
    assert widening.widened(header, [*done(cpu, EVEN), *rest]) is None
    assert counts(widening.widest(plan(cpu, whole))) == [MOST, plan(whole).rounds_of(whole)]
    assert widening.widest(plan(whole)) == plan(whole)


def test_the_most_rounds_that_a_plan_may_come_to_are_those_of_what_decides_and_of_what_is_beside_it():
    deciding = [case(), case(implementation="torch"), case(backend="gpu", scope="cold")]
    rest = [case(scope="epoch"), case("cifar10_mlp", implementation="torch")]
    header = plan(*deciding, *rest, most=7)
    assert counts(widening.widest(header)) == [7, 7, 7, 3, 3]
    assert counts(widening.widest(plan(*deciding, most=0))) == [3, 3, 3]
    assert counts(widening.widest(plan(*deciding, asked=9, most=7))) == [9, 9, 9]


def test_a_case_that_failed_neither_decides_nor_goes_along():
    cpu, gpu = case(), case(backend="gpu")
    header = plan(cpu, gpu)
    failed = done(gpu, [0.01], samples=0, reason="killed")
    assert counts(widening.widened(header, [*done(cpu, UNEVEN), *failed])) == [4, 3]
    assert widening.widened(header, [*done(cpu, UNEVEN, reason="killed"), *done(gpu, EVEN)]) is None


def test_an_invalid_result_needs_no_further_rounds():
    header = plan(case())
    assert widening.widened(header, done(case(), UNEVEN, compilations=0)) is not None
    assert widening.widened(header, done(case(), UNEVEN, compilations=1)) is None


@pytest.mark.parametrize(
    ("options", "most"),
    [({}, MOST), ({"most": 5}, 5), ({"most": 0}, 0), ({"experiment": "size"}, 0), ({"asked": 7}, MOST)],
)
def test_an_experiment_has_its_own_rounds_and_a_limit_holds(options, most):
    header = plan(case(), **options)
    assert header.most_rounds == most
    wild = [0.01 * (1 + n % 3) for n in range(20)]
    while (wider := widening.widened(header, done(header.cases[0], wild[: header.rounds]))) is not None:
        header = wider
    assert header.rounds == max(options.get("asked") or 3, most)


def test_smoke_has_one_round():
    header = plan(case(), profile="smoke")
    assert widening.widened(header, done(header.cases[0], [0.01])) is None


@pytest.mark.parametrize(
    ("most", "asked", "experiment", "said"),
    [
        (2, None, None, "--most-rounds 2 asked for, 3 are planned"),
        (6, 7, None, "--most-rounds 6 asked for, 7 are planned"),
        (5, None, "size", "--most-rounds asked for with --experiment size"),
    ],
)
def test_a_limit_that_cannot_hold_is_refused(most, asked, experiment, said):
    with pytest.raises(ValueError, match=said):
        refusal.refuse_most_rounds(most, asked, "quick", experiment)


@pytest.mark.parametrize(
    ("asked", "most"),
    [({}, MOST), ({"most_rounds": 4}, 4), ({"budget_minutes": 9}, 0), ({"budget_minutes": 9, "most_rounds": 4}, 4)],
)
def test_a_budget_leaves_no_further_rounds_unless_they_are_asked_for(tmp_path, monkeypatch, asked, most):
    answer = Answer(cases=(case(),), descriptions=(factory.description(),), remarks=(), seconds=1.0)
    monkeypatch.setattr(bench.machine, "machine", lambda name: factory.HOST)
    monkeypatch.setattr(bench.probing, "offer", lambda name: None)
    monkeypatch.setattr(bench.answering, "answer", lambda *_: answer)
    monkeypatch.setattr(bench.lock, "refuse_beside_another", lambda: None)
    journal = bench.planned(Request(**asked), tmp_path)
    assert journal.header().most_rounds == most


@pytest.mark.parametrize(
    ("axes", "announced"),
    [
        ({"scope": "step"}, True),
        ({"scope": "serve"}, True),
        ({"scope": "run"}, False),
        ({"scope": "cold"}, True),
        ({"scope": "input"}, False),
        ({"scope": "step", "implementation": "torch"}, False),
    ],
)
def test_further_rounds_are_announced_only_where_there_may_be_some(tmp_path, monkeypatch, capsys, axes, announced):
    answer = Answer(cases=(case(**axes),), descriptions=(factory.description(),), remarks=(), seconds=1.0)
    monkeypatch.setattr(bench.machine, "machine", lambda name: factory.HOST)
    monkeypatch.setattr(bench.probing, "offer", lambda name: None)
    monkeypatch.setattr(bench.answering, "answer", lambda *_: answer)
    monkeypatch.setattr(bench.lock, "refuse_beside_another", lambda: None)
    bench.planned(Request(), tmp_path)
    said = capsys.readouterr().err
    assert (f"up to {MOST} rounds where intervals stay wide, about " in said) is announced
    assert (" if all do" in said) is announced


class Watch:
    def __init__(self):
        self.grown, self.began = [], []

    def begins(self, number, unit):
        self.began.append((number, unit[0].workload))

    def grows(self, header):
        self.grown.append(header.rounds)

    def stage(self, name): ...
    def ends(self, unit, done): ...


class Child:
    """A worker whose process takes so many seconds a step; one that takes None dies."""

    def __init__(self, seconds):
        stages = [
            Line(stage=name, seen=Stage(name=name, wall_seconds=1.0, process_seconds=1.0))
            for name in ("lower", "compile", "first_step")
        ]
        sample = Line(stage="samples", sample=Sample(wall_seconds=seconds or 0, process_seconds=seconds or 0))
        self.lines = [*stages, Line(stage="samples"), *[sample] * 3, Line(stage="done", facts=factory.FACTS)]
        self.dies, self.heard = seconds is None, 0.0

    def tell(self, line): ...

    def ended(self):
        return "was killed"

    def line(self, timeout_seconds):
        return None if self.dies else msgspec.json.encode(self.lines.pop(0))


def measured(journal, series, monkeypatch, stop=None):
    """Run the journal's campaign; a case's processes take what `series` has for its workload, one after another."""
    monkeypatch.setattr(runner, "wait_until_quiet", lambda *_: None)
    monkeypatch.setattr(validity, "CHECKS", {})  # which see that nobody took this time
    taken, watch = {name: list(seconds) for name, seconds in series.items()}, Watch()
    for entry in journal.done():
        taken[entry.case.workload].pop(0)

    @contextmanager
    def start(unit):
        if stop is not None and len(watch.began) > stop:
            raise KeyboardInterrupt
        yield Child(taken[unit[0].workload].pop(0))

    with suppress(KeyboardInterrupt):
        runner.run(journal.header(), journal, watch, start)
    return watch


WIDE = [0.1, 0.2, 0.3] * 5
SERIES = {"mnist_mlp": [0.1, 0.13, 0.1, 0.115, 0.11, 0.11, *[0.11] * 9], "cifar10_mlp": [0.1, 0.1001, 0.0999]}


def test_a_campaign_goes_on_until_its_intervals_are_narrow_and_its_records_say_how_long(tmp_path, monkeypatch):
    journal = Journal(tmp_path / FILE_NAME)
    journal.append(plan(case(), case("cifar10_mlp")))
    watch = measured(journal, SERIES, monkeypatch)
    header = journal.header()
    rounds = header.rounds
    assert 4 < rounds < MOST
    assert watch.grown == list(range(4, rounds + 1))
    assert [n for n, name in watch.began if name == "cifar10_mlp"] == [0, 1, 2]
    long, short = campaign.records(header, journal.done())
    assert (long.rounds, len(long.runs), short.rounds, len(short.runs)) == (rounds, rounds, 3, 3)
    before = msgspec.structs.replace(long, runs=long.runs[:-1], rounds=rounds - 1)
    assert not wide(long, summary(long).seconds)
    assert wide(before, summary(before).seconds)
    assert journal.planned().rounds == 3


def test_what_was_cut_in_a_further_round_goes_on_there(tmp_path, monkeypatch):
    whole, cut = (Journal(tmp_path / name / FILE_NAME) for name in ("whole", "cut"))
    for journal in (whole, cut):
        journal.append(plan(case(), case("cifar10_mlp")))
    measured(whole, SERIES, monkeypatch)
    measured(cut, SERIES, monkeypatch, stop=7)
    assert 3 < cut.header().rounds < whole.header().rounds
    measured(cut, SERIES, monkeypatch)
    assert cut.header() == whole.header()
    runs = [[(e.case, e.run.round, e.run.samples) for e in journal.done()] for journal in (whole, cut)]
    assert sorted(runs[0], key=str) == sorted(runs[1], key=str)


def test_a_campaign_that_ends_as_it_is_keeps_its_whole_further_rounds(tmp_path, monkeypatch):
    monkeypatch.setattr(bench.lock, "measuring", lambda name: contextmanager(lambda: (yield))())
    cpu, gpu, other = case(), case(backend="gpu"), case("cifar10_mlp")
    header = plan(cpu, gpu, other)
    journal = Journal(tmp_path / header.campaign / FILE_NAME)
    entries = [*done(cpu, [*UNEVEN, 0.01, 0.012]), *done(gpu, [*EVEN, 0.01, 0.01, 0.01]), *done(other, EVEN)]
    journal.append(header, Session(place="a"), Rounds(case_rounds=(6, 6, 3)), *entries)
    bench.close(journal, tmp_path)
    assert counts(journal.header()) == [5, 5, 3]
    assert [len(record.runs) for record in campaign.records(journal.header(), journal.done())] == [5, 5, 3]
    assert not any(record.broken_off for record in campaign.records(journal.header(), journal.done()))


def test_a_further_round_that_failed_leaves_those_before_it_and_is_the_last(tmp_path, monkeypatch):
    journal = Journal(tmp_path / FILE_NAME)
    cpu, gpu, other = case(), case(backend="gpu"), case("cifar10_mlp")
    journal.append(plan(cpu, gpu, other))
    series = {"mnist_mlp": [0.1, 0.1, 0.13, 0.13, 0.1, 0.1, 0.115, 0.115, None, *[0.11] * 40], "cifar10_mlp": WIDE}
    watch = measured(journal, series, monkeypatch)
    header = journal.header()
    assert counts(header) == [4, 4, MOST]
    assert [n for n, name in watch.began if name == "mnist_mlp"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert watch.grown[:3] == [4, 5, 5]
    made = campaign.records(header, journal.done())
    assert [(r.reason, len(r.runs), r.rounds) for r in made] == [("", 4, 4), ("", 4, 4), ("", MOST, MOST)]
    series["mnist_mlp"] = [0.11] * 40
    assert not measured(journal, series, monkeypatch).began


def test_a_planned_round_that_failed_is_a_finding_and_the_other_side_may_go_on(tmp_path, monkeypatch):
    cpu, gpu = case(), case(backend="gpu")
    header = plan(cpu, gpu)
    entries = [*done(cpu, UNEVEN), *done(gpu, [0.01], samples=0, reason="killed")]
    wider = header.with_rounds((5, 3))
    assert counts(widening.whole_rounds(wider, header, [*entries, *done(cpu, [*UNEVEN, 0.01])])) == [4, 3]


def test_a_campaign_that_lacks_planned_rounds_lacks_them_still_when_it_ends():
    cpu, gpu = case(), case(backend="gpu")
    header = plan(cpu, gpu)
    assert widening.whole_rounds(header, header, [*done(cpu, UNEVEN), *done(gpu, EVEN[:2])]) == header


def test_the_remaining_time_counts_further_rounds():
    header = plan(case(), case("cifar10_mlp"))
    remaining = Remaining(header, ())
    before = remaining.seconds
    remaining.grows(header.with_rounds((5, 3)))
    assert (remaining.planned, remaining.processes) == (8, 8)
    assert remaining.seconds > before


def test_what_is_said_of_a_plan_that_changed_names_the_workloads(capsys):
    header = plan(case(), case("cifar10_mlp"))
    with CampaignProgress(header, ()) as progress:
        progress.grows(header.with_rounds((4, 3)))
        progress.grows(header.with_rounds((3, 3)))
    assert capsys.readouterr().err.splitlines() == [
        "one more round, intervals are still wide: mnist_mlp",
        "a further round failed, those before it count: mnist_mlp",
    ]

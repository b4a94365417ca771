"""The clock samples as planned, the parent survives its children, nothing completed is lost."""

import inspect
import os
import queue
import re
import subprocess
import sys
import time
import zlib
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import factory
import msgspec
import pynvml
import pytest

import suite
from suite import models
from suite.case import Case
from suite.driver import campaign, collect, plan, probing, profiles, runner
from suite.driver.cases import Combination
from suite.driver.fitness import checks, cuda_extra, missing_backend
from suite.driver.forecast import Deadline
from suite.driver.journal import CompletedRun, Journal, Session
from suite.driver.plan import scopes_skipped
from suite.driver.request import OPTIONS, Request
from suite.processes import children, lock
from suite.programs.jax import grid_search
from suite.results.records.run import Energy, ReferenceKernel, Run, Sample, Stage, Telemetry
from suite.scopes import SCOPES
from suite.sessions import bench
from suite.system import boot_id, counters, machine, software
from suite.system.redact import _folders, _names, anonymous
from suite.worker import doubling, epoch, main, recorder, serving, steady, whole_run
from suite.worker_api import clock
from suite.worker_api.protocol import Message, Offer, Task
from suite.workload import WholeRun

PLAN = clock.Plan(
    samples=5,
    chain_seconds=0.1,
    warmup_steps=3,
    warmup_least_seconds=0.55,
    warmup_seconds=1.0,
    sampling_seconds=10.0,
)


class FakeTime:
    """A clock that only work moves."""

    def __init__(self, step_seconds, overhead=0.0):
        self.now, self.step_seconds, self.overhead, self.steps = 0.0, step_seconds, overhead, 0
        self.clock = clock.Clock(wall=lambda: self.now, process=lambda: 2 * self.now)

    def chain(self, steps):
        self.steps += steps
        self.now += self.overhead + steps * self.step_seconds


def test_steps_are_doubled_until_a_sample_is_long_enough():
    fake = FakeTime(0.004)
    assert clock.steps_per_sample(fake.chain, PLAN, fake.clock) == 32


def test_twice_the_steps_take_twice_the_time():
    fake = FakeTime(0.01)
    assert doubling.doubling_ratio(doubling.paired_chains(fake.chain, 10, fake.clock)) == pytest.approx(2)


def test_work_that_does_not_grow_with_the_steps_is_seen():
    fake = FakeTime(0.0001, overhead=0.1)
    assert doubling.doubling_ratio(doubling.paired_chains(fake.chain, 10, fake.clock)) == pytest.approx(1, abs=0.02)


def test_a_chain_too_long_to_double_is_left_alone():
    fake = FakeTime(3.0)
    assert doubling.doubling_ratio(doubling.paired_chains(fake.chain, 1, fake.clock)) is None


def test_a_steady_warm_up_ends_early_and_says_so():
    fake = FakeTime(0.01)
    samples = clock.warmup(fake.chain, 10, PLAN, fake.clock)
    assert clock.settled(samples)
    assert len(samples) == 6


def test_a_warm_up_that_never_settles_ends_at_its_limit():
    fake = FakeTime(0.01)

    def quickening(steps):
        fake.step_seconds *= 0.97
        fake.chain(steps)

    samples = clock.warmup(quickening, 10, PLAN, fake.clock)
    assert not clock.settled(samples)
    assert sum(s.wall_seconds for s in samples) >= PLAN.warmup_seconds


def test_long_samples_are_fewer_but_never_less_than_three():
    fake = FakeTime(6.0)
    assert len(list(clock.samples(fake.chain, 1, PLAN, fake.clock))) == 3


@pytest.mark.parametrize("moves", [0.0, -0.01])
def test_a_clock_that_stands_still_or_goes_back_ends_the_measurement_in_one_line(moves):
    fake = FakeTime(moves)
    for measure in (
        lambda: clock.steps_per_sample(fake.chain, PLAN, fake.clock),
        lambda: clock.warmup(fake.chain, 10, PLAN, fake.clock),
        lambda: doubling.doubling_ratio(doubling.paired_chains(fake.chain, 10, fake.clock)),
        lambda: next(clock.samples(fake.chain, 10, PLAN, fake.clock)),
    ):
        with pytest.raises(RuntimeError, match="it stands still"):
            measure()


def test_both_clocks_are_read():
    fake = FakeTime(0.5)
    assert clock.timed(lambda: fake.chain(1), fake.clock) == Sample(wall_seconds=0.5, process_seconds=1.0)


def test_load_by_others_leaves_out_our_own():
    before, after = counters.CpuLoad(0.0, 100.0, 10.0), counters.CpuLoad(2.0, 107.0, 16.0)
    assert counters.by_others(before, after) == pytest.approx(0.5)


def header(**changes):
    cases = (
        factory.record().case,
        factory.record(scope="cold").case,
        factory.record(backend="gpu").case,
    )
    now = datetime(2026, 1, 1, tzinfo=UTC)
    made = campaign.planned(cases, [factory.description()], "quick", factory.HOST, now)
    return msgspec.structs.replace(made, **changes)


def test_cases_that_differ_in_scope_share_a_process_but_a_start_has_its_own():
    cases = [factory.record(scope=scope).case for scope in ("transfer", "cold", "step")]
    units = campaign.process_groups([*cases, factory.record("cifar10_mlp").case])
    assert [[case.scope for case in unit] for unit in units] == [["step", "transfer"], ["cold"], ["step"]]


class Silent:
    def begins(self, number, unit): ...
    def grows(self, header, why): ...
    def skips(self, unit, seconds): ...
    def prepares(self, what, done, total): ...
    def stage(self, name): ...
    def ends(self, unit, done): ...


class FakeChild:
    """Says what it was given, a line a second, then ends, hangs, or is found dead."""

    heard = 0.0

    def __init__(self, lines, then=None):
        self.lines, self.then = list(lines), then

    def tell(self, line): ...

    def line(self, timeout_seconds):
        if self.lines:
            self.heard += 1
            return self.lines.pop(0)
        if self.then is not None:
            raise self.then
        return None

    def ended(self):
        return "killed by SIGKILL"


def good_lines():
    stages = [
        Message(stage=name, stage_time=Stage(name=name, wall_seconds=1.0, process_seconds=1.0))
        for name in ("lower", "compile", "first_step")
    ]
    sample = Message(stage="samples", sample=Sample(wall_seconds=0.2, process_seconds=0.2))
    lines = (*stages, Message(stage="samples"), *[sample] * 3, Message(stage="done", report=factory.FACTS))
    return [msgspec.json.encode(line) for line in lines]


def worker_of(make):
    @contextmanager
    def start(unit):
        yield make(unit)

    return start


WAIT = runner.wait_until_quiet  # which no other test here does: see the fixture below


class Stages(list):
    def stage(self, name):
        self.append(name)


def test_a_process_waits_until_the_machine_is_quiet_but_not_for_ever():
    def watched(loads, patience):
        looks, stages = iter(loads), Stages()
        seconds = WAIT(patience, factory.HOST.cores, stages, lambda seconds: next(looks))
        assert seconds == pytest.approx(0.3 * len(stages))
        return len(stages), len(list(looks))

    busy = 0.11 * factory.HOST.cores
    assert watched([0.0, busy], 30) == (0, 1)  # one look is enough
    assert watched([busy, busy, 0.0, busy], 30) == (2, 1)
    assert watched([busy] * 200, 30) == (100, 100)
    assert watched([busy], 0) == (0, 1)  # never looks
    assert watched([busy], -3) == (0, 1)
    assert (profiles.EFFORTS["quick"].quiet_seconds, profiles.EFFORTS["smoke"].quiet_seconds) == (30, 0)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr(counters, "others_now", lambda seconds=1.0: 0.0)
    monkeypatch.setattr(runner, "wait_until_quiet", lambda *_: 0.0)


def measured(tmp_path, make, plan=None):
    journal = Journal(tmp_path / "journal.jsonl")
    plan = plan or header()
    if not journal.path.exists():
        journal.append(plan)
    runner.run(plan, journal, Silent(), worker_of(make))
    return journal


def test_every_case_gets_a_run_in_every_round(tmp_path):
    journal = measured(tmp_path, lambda unit: FakeChild(good_lines()))
    records = campaign.records(header(), journal.done())
    assert [len(r.runs) for r in records] == [3, 3, 3]
    assert all(r.reason == "" for r in records)


def test_a_cold_start_is_lower_compile_and_first_step(tmp_path):
    journal = measured(tmp_path, lambda unit: FakeChild(good_lines()))
    cold = next(r for r in campaign.records(header(), journal.done()) if r.case.scope == "cold")
    assert cold.runs[0].samples[0].wall_seconds == pytest.approx(3.0)


def test_the_parent_times_the_samples_by_its_own_clock():
    case = factory.record().case
    task = Task(cases=(case,), dataset="mnist", seed=0, plan=PLAN, flow=PLAN)
    start = worker_of(lambda unit: FakeChild(good_lines()))
    (done,) = collect.run_child(task, 0, 0, lambda stage: None, start)
    assert len(done.run.samples) == 3
    assert done.run.elapsed_seconds == 3


def test_only_the_first_round_of_the_steps_replays(tmp_path):
    asked = []

    class Listening(FakeChild):
        def tell(self, line):
            asked.append(msgspec.json.decode(line, type=Task).replay)

    measured(tmp_path, lambda unit: Listening(good_lines()))
    assert asked == [True] * 2 + [False] * 7, "a cold start compiles the program that the steps replay"


@pytest.mark.parametrize(
    ("child", "words"),
    [
        (lambda: FakeChild([]), "killed by SIGKILL, in stage 'start'"),
        (lambda: FakeChild([], TimeoutError()), "no word from the worker for 120 s in stage 'start'"),
        (lambda: FakeChild([b"nonsense\n"]), "not understood"),
        (lambda: FakeChild([msgspec.json.encode(Message(stage="failed", reason="MemoryError: no"))]), "MemoryError"),
    ],
)
def test_a_failed_process_is_a_run_with_its_reason_and_is_not_tried_again(tmp_path, child, words):
    started = []

    def make(unit):
        started.append(unit)
        return child()

    records = campaign.records(header(), measured(tmp_path, make).done())
    assert all(words in r.reason for r in records)
    assert len(started) == 3


@pytest.mark.parametrize(("experiment", "first_call"), [("as_written", 120.0), ("", 600.0)])
def test_an_experiment_may_limit_how_long_a_first_call_is_silent(tmp_path, experiment, first_call):
    silent = {}

    class Hanging(FakeChild):
        stage = "start"

        def line(self, timeout_seconds):
            silent[self.stage] = timeout_seconds
            self.stage = msgspec.json.decode(self.lines[0], type=Message).stage if self.lines else self.stage
            return super().line(timeout_seconds)

    def make(unit):
        stages = [Message(stage=name) for name in ("compile", "first_step")]
        return Hanging(map(msgspec.json.encode, stages), TimeoutError())

    plan = msgspec.structs.replace(header(), experiment=experiment)
    records = campaign.records(plan, measured(tmp_path, make, plan).done())
    assert silent == {"start": 120.0, "compile": 1200.0, "first_step": first_call}
    assert all(f"no word from the worker for {first_call:.0f} s in stage 'first_step'" in r.reason for r in records)


def test_a_loss_that_is_not_finite_fails_the_run(tmp_path):
    runs = dict.fromkeys(factory.FACTS.runs, factory.told(last_loss=None))
    bad = msgspec.json.encode(Message(stage="done", report=msgspec.structs.replace(factory.FACTS, runs=runs)))
    records = campaign.records(header(), measured(tmp_path, lambda unit: FakeChild([bad])).done())
    assert all("not finite" in r.reason for r in records)


def test_a_worker_has_no_say_in_what_its_parent_alone_sees():
    own = Run(round=1, position=2, seed=3, started="2026-01-01T00:00:00Z", host="0123456789abcdef")
    lies = {
        "round": 8,
        "position": 8,
        "seed": 8,
        "started": "2027-01-01T00:00:00Z",
        "reason": "nothing",
        "stages": (Stage(name="init", wall_seconds=8.0, process_seconds=8.0),),
        "host": "8888888888888888",
        "kernel": ReferenceKernel(matmul_flop_per_second=8.0, copy_bytes_per_second=8.0, seconds=8.0),
        "telemetry": Telemetry(seconds=8.0, readings=8),
        "energy": Energy(seconds=8.0),
        "elapsed_seconds": 8.0,
    }
    told = factory.run(0, 0.01, **lies)
    facts = msgspec.structs.replace(factory.FACTS, runs={"step": told})
    found = collect.completed(own, factory.record().case, facts, None)
    for name in Run.__struct_fields__:
        assert getattr(found, name) == getattr(own if name in lies else told, name), name


def test_a_scope_that_the_worker_says_nothing_of_fails_its_run():
    facts = msgspec.structs.replace(factory.FACTS, runs={})
    found = collect.completed(factory.run(0, 0.01, samples=0), factory.record().case, facts, None)
    assert found.reason == "the worker said nothing of scope 'step'"


def test_a_resumed_campaign_measures_only_what_is_missing(tmp_path):
    started = []

    def make(unit):
        if len(started) == 3:
            raise KeyboardInterrupt
        started.append(unit)
        return FakeChild(good_lines())

    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path, make)
    before = Journal(tmp_path / "journal.jsonl").done()

    def rest(unit):
        started.append(unit)
        return FakeChild(good_lines())

    after = measured(tmp_path, rest).done()
    assert after[: len(before)] == before
    assert len(started) == 9


def test_a_journal_cut_anywhere_keeps_every_whole_line(tmp_path):
    journal = measured(tmp_path, lambda unit: FakeChild(good_lines()))
    content = journal.path.read_bytes()
    for cut in range(len(content), 0, -211):
        journal.path.write_bytes(content[:cut])
        whole = content[:cut].count(b"\n")
        assert whole <= len(list(journal.entries())) <= whole + 1


def test_what_is_added_after_a_line_cut_short_is_kept(tmp_path):
    journal = measured(tmp_path, lambda unit: FakeChild(good_lines()))
    before = journal.done()
    journal.path.write_bytes(journal.path.read_bytes()[:-20])
    assert journal.done() == before[:-1]
    journal.append(before[-1])
    assert journal.done() == before


def test_a_process_of_which_a_part_is_missing_is_run_again_and_nothing_comes_twice(tmp_path):
    journal = measured(tmp_path, lambda unit: FakeChild(good_lines()))
    lines = journal.path.read_bytes().splitlines(keepends=True)
    cold = next(number for number, line in enumerate(lines[1:], 1) if b'"scope":"cold"' in line)
    journal.path.write_bytes(b"".join(lines[: cold + 1]))  # without the step of the same process
    again = measured(tmp_path, lambda unit: FakeChild(good_lines())).done()
    assert len(again) == len({(entry.case, entry.run.round) for entry in again}) == 9


def test_a_run_whose_sibling_was_lost_within_a_write_stays_the_only_one_of_its_round(tmp_path):
    cases = [factory.record(scope=scope).case for scope in ("step", "transfer")]
    plan = campaign.planned(cases, [factory.description()], "quick", factory.HOST, datetime(2026, 1, 1, tzinfo=UTC))
    runs = {**factory.FACTS.runs, "transfer": factory.FACTS.runs["step"]}
    report = msgspec.structs.replace(factory.FACTS, runs=runs)
    lines = [*good_lines()[:-1], msgspec.json.encode(Message(stage="done", report=report))]
    journal = measured(tmp_path, lambda unit: FakeChild(lines), plan)
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[: content.index(b'"scope":"transfer"', content.index(b'"type":"run"'))])
    (kept,) = (entry for entry in journal.entries() if isinstance(entry, CompletedRun))
    measured(tmp_path, lambda unit: FakeChild(lines), plan)
    entries = [entry for entry in journal.entries() if isinstance(entry, CompletedRun)]
    assert entries[0] == kept
    assert sorted((entry.case.scope, entry.run.round) for entry in entries) == [
        (scope, number) for scope in ("step", "transfer") for number in range(3)
    ]


def sessions(tmp_path, places, cut):
    """A journal of two rounds in one place, then `cut` cases of the third, then another place or the same."""
    journal, plan = Journal(tmp_path / "journal.jsonl"), header()
    entries = [
        CompletedRun(case=case, software=factory.record().software, run=factory.run(number, 0.01))
        for number in range(3)
        for case in plan.cases
    ]
    journal.append(plan, Session(place=places[0]), *entries[: 6 + cut], Session(place=places[1]))
    return journal


@pytest.mark.parametrize(
    ("places", "cut", "left"), [("aa", 1, 7), ("ab", 1, 6), ("ab", 0, 6), ("ab", 3, 9), ("aa", 3, 9)]
)
def test_on_another_machine_the_round_that_was_cut_is_measured_from_its_beginning(tmp_path, places, cut, left):
    assert len(sessions(tmp_path, places, cut).done()) == left


def test_a_round_that_has_fewer_cases_is_whole_with_those(tmp_path):
    plan = msgspec.structs.replace(header(), case_rounds=(1, 3, 3))
    entries = [
        CompletedRun(case=case, software=factory.record().software, run=factory.run(number, 0.01))
        for number in range(3)
        for case, rounds in zip(plan.cases, plan.case_rounds, strict=True)
        if number < rounds
    ]
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(plan, Session(place="a"), *entries[:6], Session(place="b"))  # the last case of round 2 is missing
    assert [entry.run.round for entry in journal.done()] == [0, 0, 0, 1, 1]


def test_a_case_that_failed_does_not_make_later_rounds_look_cut(tmp_path):
    journal, plan = Journal(tmp_path / "journal.jsonl"), header()
    software = factory.record().software
    bad = CompletedRun(case=plan.cases[0], software=software, run=factory.run(0, 0.01, samples=0, reason="killed"))
    good = [
        CompletedRun(case=case, software=software, run=factory.run(number, 0.01))
        for number in range(2)
        for case in plan.cases[1:]
    ]
    journal.append(plan, Session(place="a"), bad, *good, Session(place="b"))
    assert len(journal.done()) == 5


def test_where_it_was_measured_is_the_same_again_and_differs_between_campaigns():
    assert boot_id.place("one") == boot_id.place("one") != boot_id.place("other")


def test_an_entry_of_another_version_is_said(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(header())
    body = b'{"type":"future"}'
    journal.path.write_bytes(journal.path.read_bytes() + b"%08x %s\n" % (zlib.crc32(body), body))
    with pytest.raises(ValueError, match="written by another version of the suite"):
        journal.done()


def test_rounds_of_different_software_are_no_whole_result(tmp_path):
    first, second = (factory.record().software, msgspec.structs.replace(factory.record().software, python="3.99"))
    done = [
        CompletedRun(case=header().cases[0], software=software, run=factory.run(number, 0.01))
        for number, software in enumerate((first, second))
    ]
    (record,) = campaign.records(header(), done)
    assert "software was changed" in record.reason


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (({"XLA_FLAGS": "--xla_a"}, {"XLA_FLAGS": "--xla_a"}), ""),
        (({"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "1"}), ""),
        (({"XLA_FLAGS": "--xla_a"}, {}), "its setting XLA_FLAGS was changed between two rounds; measure anew"),
        (
            ({"XLA_FLAGS": "--xla_a"}, {"XLA_FLAGS": "--xla_b", "OMP_NUM_THREADS": "1"}),
            "its settings OMP_NUM_THREADS, XLA_FLAGS were changed between two rounds; measure anew",
        ),
    ],
)
def test_rounds_of_different_settings_are_no_whole_result(settings, words):
    software = factory.record().software
    done = [
        CompletedRun(
            case=header().cases[0],
            software=msgspec.structs.replace(software, settings=each),
            run=factory.run(number, 0.01),
        )
        for number, each in enumerate(settings)
    ]
    (record,) = campaign.records(header(), done)
    assert record.reason == words


def test_a_campaign_notes_the_settings_that_its_processes_have(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_a")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "7")  # which no process keeps
    noted = header().settings
    assert noted["XLA_FLAGS"] == "--xla_a"
    assert "MALLOC_ARENA_MAX" not in noted
    monkeypatch.delenv("XLA_FLAGS")
    assert "XLA_FLAGS" not in header().settings


@pytest.mark.parametrize("wall", [0.0, -3600.0])
def test_a_clock_that_goes_backwards_fails_the_run(tmp_path, wall):
    sample = Message(stage="samples", sample=Sample(wall_seconds=wall, process_seconds=0.1))
    bad = [
        msgspec.json.encode(line)
        for line in (Message(stage="samples"), *[sample] * 3, Message(stage="done", report=factory.FACTS))
    ]
    records = campaign.records(header(), measured(tmp_path, lambda unit: FakeChild(bad)).done())
    assert [r.case.scope for r in records if "went backwards" in r.reason] == ["step", "step"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("cannot write '/home/ann/my data/x': no", "cannot write '<path>': no"),
        ("in ~/secret/x.py and C:\\Users\\ann\\x.py: bad", "in <path> and <path>: bad"),
        ("device GPU-8932f937-d72c-4106-c12f-20bd9faed9f6 is lost", "device <uuid> is lost"),
        ("serial number: 1320-A", "<serial>"),
        ("https://ann@example.org/x?y refused", "<address> refused"),
        ("10.1.2.3:80, [fe80::1] and 00:11:22:aa:bb:cc", "<address>, [<address>] and <address>"),
        ("ann.lee@example.org", "<address>"),
        ("two\nlines\x1b[31m", "two lines [31m"),
        ("RESOURCE_EXHAUSTED: Failed to allocate 4.00GiB", "RESOURCE_EXHAUSTED: Failed to allocate 4.00GiB"),
        (
            "float32[N,64]/s, examples/s, 3 / 4, 12:30:11, jax 0.10.2",
            "float32[N,64]/s, examples/s, 3 / 4, 12:30:11, jax 0.10.2",
        ),
    ],
)
def test_a_reason_keeps_its_words_and_loses_what_names_a_machine(text, left):
    assert anonymous(text) == left


def test_user_host_and_home_are_taken_out(monkeypatch):
    for function in (_folders, _names):
        function.cache_clear()
    monkeypatch.setenv("LOGNAME", "annlee")
    monkeypatch.setenv("HOME", "/srv/ann lee")
    monkeypatch.setattr("platform.node", lambda: "ann-laptop.example.org")
    found = anonymous("annlee on ann-laptop: /srv/ann lee/x is full")
    for function in (_folders, _names):
        function.cache_clear()
    assert found == "<user> on <host>: <path> is full"


def test_every_stage_of_a_worker_has_a_limit():
    modules = (main, steady, epoch, whole_run, recorder, serving, grid_search)
    source = "".join(inspect.getsource(module) for module in modules)
    said = {
        *re.findall(r'(?:stage(?:\(|=)|result\()"(\w+)"', source),
        *(row.samples_stage for row in SCOPES.values() if row.streamed),
    }
    assert said - {"done", "failed", "lesson", "run_end"} <= set(collect.STAGE_TIMEOUT_SECONDS)
    assert {"import", "compile", "samples", "collect", "predictions", "doubling"} <= said


def test_a_changed_journal_line_is_passed_over(tmp_path):
    journal = measured(tmp_path, lambda unit: FakeChild(good_lines()))
    count = len(journal.done())
    journal.path.write_bytes(journal.path.read_bytes().replace(b'"wall_seconds":0.2', b'"wall_seconds":0.1', 1))
    assert len(journal.done()) == count - 1


def test_a_full_disk_stops_the_campaign_with_what_to_do(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    journal = Journal(tmp_path / "j")
    journal.append(header())
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(RuntimeError, match="free some space, then run --resume"):
        journal.append(Session(place="here"))


def test_a_plan_that_is_not_whole_leaves_no_journal(tmp_path, monkeypatch):
    def killed(*_):
        raise SystemExit

    journal = Journal(tmp_path / "j")
    monkeypatch.setattr("os.fsync", killed)
    with pytest.raises(SystemExit):
        journal.append(header())
    assert not journal.path.exists()
    monkeypatch.undo()
    journal.append(header())
    assert journal.header() == header()


def test_a_folder_that_cannot_be_written_to_keeps_nothing(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RuntimeError, match="choose another folder with --out") as refused:
        Journal(tmp_path / "file" / "j").append(header())
    assert "kept" not in str(refused.value)


def test_two_runs_at_once_are_refused_and_the_holder_named(tmp_path):
    with (
        lock.measuring("first", tmp_path),
        pytest.raises(RuntimeError, match=f"process {os.getpid()}, campaign first"),
        lock.measuring("second", tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("cores", "gpus", "campaign", "refused"),
    [
        ({0, 1}, ("GPU-a",), "second", False),
        ({1, 2}, ("GPU-b",), "second", True),
        ({0, 1}, ("GPU-a", "GPU-b"), "second", True),
        ({0, 1}, (), "first", True),
    ],
)
def test_two_runs_that_share_no_core_and_no_gpu_may_measure_side_by_side(
    tmp_path, monkeypatch, cores, gpus, campaign, refused
):
    def on(granted, uuids):
        monkeypatch.setattr(lock, "granted", lambda: granted)
        monkeypatch.setattr(lock, "Gpus", lambda: SimpleNamespace(uuids=uuids))

    on({2, 3}, ("GPU-b",))
    with lock.measuring("first", tmp_path):
        on(cores, gpus)
        with pytest.raises(RuntimeError, match="campaign first") if refused else nullcontext():  # noqa: SIM117
            with lock.measuring(campaign, tmp_path):
                pass


def test_to_look_for_another_run_takes_nothing_that_runs_on_other_cores_share(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "granted", lambda: {1})
    monkeypatch.setattr(lock, "Gpus", lambda: SimpleNamespace(uuids=("GPU-a",)))
    lock.check_nothing_measures(tmp_path)
    assert {path.name for path in tmp_path.rglob("*.lock")} == {"core-1.lock", "GPU-a.lock"}
    with lock.measuring("first", tmp_path), pytest.raises(RuntimeError, match="campaign first"):
        lock.check_nothing_measures(tmp_path)


def test_a_lock_that_was_refused_leaves_the_others_free(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "granted", lambda: {1})
    with lock.measuring("first", tmp_path):
        monkeypatch.setattr(lock, "granted", lambda: {0, 1})
        with pytest.raises(RuntimeError, match="campaign first"), lock.measuring("second", tmp_path):
            pass
        monkeypatch.setattr(lock, "granted", lambda: {0})
        with lock.measuring("third", tmp_path):
            pass


def test_campaigns_begun_at_the_same_time_on_one_machine_have_seconds_of_their_own(tmp_path):
    begin = "import pathlib, sys; from suite.processes import lock; print(lock.moment(pathlib.Path(sys.argv[1])))"
    beside = [
        subprocess.Popen([sys.executable, "-c", begin, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    seen = [process.communicate(timeout=60)[0].strip() for process in beside]
    assert all(seen)
    assert len(set(seen)) == 3


def test_only_in_the_second_of_another_campaign_the_next_one_is_waited_for(tmp_path, monkeypatch):
    slept = []
    half = datetime(2026, 1, 1, 12, 0, 0, 500_000, UTC)
    monkeypatch.setattr(lock, "datetime", SimpleNamespace(now=lambda zone: half + timedelta(seconds=sum(slept))))
    monkeypatch.setattr("time.sleep", slept.append)
    first = lock.moment(tmp_path)
    assert (first, slept) == (half.replace(microsecond=0), [])
    assert lock.moment(tmp_path) == first + timedelta(seconds=1)
    assert slept == [0.5]


def test_a_change_anywhere_in_the_package_marks_its_commit(tmp_path, monkeypatch):
    monkeypatch.delenv("SUITE_COMMIT", raising=False)
    assert inspect.signature(software.commit).parameters["folder"].default == Path(suite.__file__).parent
    model = tmp_path / "suite" / "models" / "net.py"
    model.parent.mkdir(parents=True)
    model.write_text("")
    (tmp_path / "suite" / "__init__.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "gpu-speedup-suite"\n')
    named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*named, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    (tmp_path / "notes.md").write_text("beside it")
    assert re.fullmatch("[0-9a-f]{12}", software.commit(tmp_path / "suite"))
    model.write_text("another")
    assert re.fullmatch(r"[0-9a-f]{12}\+changed", software.commit(tmp_path / "suite"))


@pytest.mark.parametrize(("visible", "count"), [(None, 2), ("1", 1), ("GPU-1", 1), ("", 0), ("7", 0)])
def test_the_machine_has_the_gpus_that_cuda_may_use(monkeypatch, visible, count):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    for name, given in {
        "nvmlInit": None,
        "nvmlShutdown": None,
        "nvmlDeviceGetCount": 2,
        "nvmlSystemGetCudaDriverVersion_v2": 13000,
        "nvmlSystemGetDriverVersion": "580.1",
        "nvmlDeviceGetCudaComputeCapability": (9, 0),
    }.items():
        monkeypatch.setattr(pynvml, name, lambda *_, given=given: given)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: index)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetUUID", lambda handle: f"GPU-{handle}")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetName", lambda handle: f"card {handle}")
    for name in ("MemoryInfo", "EnforcedPowerLimit", "MaxClockInfo"):
        monkeypatch.setattr(pynvml, f"nvmlDeviceGet{name}", lambda *_: None)
    assert len(machine.gpus()) == count
    assert bool(machine.why_no_gpu()) == (count == 0)
    if count == 0:
        assert machine.why_no_gpu().startswith(f"CUDA_VISIBLE_DEVICES is '{visible}'")
    if count == 1:
        assert machine.gpus()[0].name == "card 1"


def test_a_child_and_its_children_are_gone_afterwards():
    env = {**os.environ}
    with children.child("suite.worker.probe", "jax", python=sys.executable, env=env) as child:
        pid = child._process.pid
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)


def test_ending_a_child_is_quick():
    with children.child("suite.worker.main", python=sys.executable, env={**os.environ}) as child:
        began = time.monotonic()
        child.end()
        assert time.monotonic() - began < 2


def test_a_worker_ends_when_its_parent_is_gone():
    with children.child("suite.worker.main", python=sys.executable, env={**os.environ}) as child:
        child._process.stdin.close()
        child._process.wait(60)


class Interrupted(queue.Queue):
    """A queue whose lock a second interrupt keeps the first from taking back: one of Python's own, of any version."""

    def get(self, block=True, timeout=None):
        with self.mutex:
            self.mutex.release()
            raise KeyboardInterrupt


def test_a_line_is_stamped_when_it_comes_not_when_it_is_asked_for():
    with children.child("this", python=sys.executable, env={**os.environ}) as child:
        child._reader.join()
        asked = clock.Clock().wall()
        stamps = [child.heard for _ in iter(lambda: child.line(1.0), None)]
        assert len(stamps) > 10
        assert sorted(stamps) == stamps
        assert stamps[0] > 0
        assert child.heard < asked


def test_an_interrupt_within_an_interrupt_is_one():
    with children.child("suite.worker.main", python=sys.executable, env={**os.environ}) as child:
        child._lines = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            child.line(1.0)


def offer(*backends, **changes):
    made = Offer(
        implementation="jax",
        backends={name: (name,) for name in backends},
        packages={"jax": "0.12"},
        workloads=(factory.description("mnist_mlp"), factory.description("cifar10_mlp")),
        names=("mnist_mlp", "cifar10_mlp"),
    )
    return msgspec.structs.replace(made, **changes)


def baseline(name, *backends):
    return Offer(implementation=name, backends={b: (b,) for b in backends}, names=("mnist_mlp", "cifar10_mlp"))


def answered(jax, here=factory.PLAIN, **asked):
    offers = {"jax": jax, "torch": baseline("torch", *jax.backends), "keras": baseline("keras", "cpu")}
    return plan.make_plan(Request(**asked), here, offers)


CEILING = factory.description("ceiling_matmul", batch=8192, family="ceiling")


def test_an_experiment_brings_its_own_cases_and_workloads():
    found = answered(offer("cpu", of_experiments=(CEILING,)), experiment="roofline").cases
    assert [(case.workload, case.batch) for case in found] == [("ceiling_matmul", 1024)]
    found = answered(offer("cpu", of_experiments=(CEILING,)), experiment="threads", workloads=("cifar10_mlp",)).cases
    assert {(case.workload, case.threads) for case in found} == {("cifar10_mlp", n) for n in (1, 2, None)}


def test_no_ceiling_is_timed_unless_the_roofline_is_asked_for():
    found = answered(offer("cpu", of_experiments=(CEILING,)), every_workload=True).cases
    assert {case.workload for case in found} == {"mnist_mlp", "cifar10_mlp"}
    with pytest.raises(LookupError, match="no workload 'ceiling_matmul'"):
        answered(offer("cpu", of_experiments=(CEILING,)), workloads=("ceiling_matmul",))


def test_the_headline_experiment_takes_the_cases_of_a_run_that_names_nothing():
    both = offer("cpu", "gpu")
    every = answered(both, factory.HOST)
    assert {case.scope for case in every.cases} == {"step", "transfer", "cold"}
    assert answered(both, factory.HOST, experiment="headline").cases == every.cases


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_either_the_user_s_with_an_experiment_or_refused(name):
    row, usual = OPTIONS[name], getattr(Request(), name)
    value = {int: usual + 1 if isinstance(usual, int) else 1, tuple: ("x",)}.get(type(usual), "x")
    if row.decided_by:
        with pytest.raises(ValueError, match=f"^{row.name} asked for with --reference, which decides that itself"):
            plan.experiment_of(replace(Request(reference=True), **{name: value}))
    if "experiment" in row.decided_by:
        with pytest.raises(ValueError, match=f"^{row.name} asked for with experiment 'threads', which decides that"):
            plan.experiment_of(replace(Request(experiment="threads"), **{name: value}))


def test_an_experiment_decides_its_axes_itself():
    with pytest.raises(ValueError, match="--precision asked for with experiment 'threads', which decides that itself"):
        answered(offer("cpu"), experiment="threads", precisions=("tf32",))


def test_of_an_experiment_some_scopes_can_be_asked_for():
    both = offer("cpu", "gpu")
    every = answered(both, factory.HOST, experiment="depth", workloads=("mnist_mlp",)).cases
    scopes = {case.scope for case in every}
    assert {"step", "epoch"} <= scopes
    some = answered(both, factory.HOST, experiment="depth", workloads=("mnist_mlp",), scopes=("epoch",)).cases
    assert some == tuple(case for case in every if case.scope == "epoch")
    with pytest.raises(ValueError, match="--scope cold asked for with experiment 'threads', which has: step"):
        answered(offer("cpu"), experiment="threads", scopes=("step", "cold"))


def test_a_named_workload_that_an_experiment_does_not_take_is_said_to_be_left_out():
    served = factory.description("serve_mobilenet_v2", family="inference")
    there = offer("cpu", workloads=(*offer("cpu").workloads, served))

    def told(**asked):
        return answered(there, experiment="serving", **asked).remarks

    said = "experiment 'serving' has no case of {}; skipped"
    names = ("mnist_mlp", "serve_mobilenet_v2", "cifar10_mlp")
    assert told(workloads=names[:2]) == (said.format("mnist_mlp"),)
    assert told(workloads=names) == (said.format("mnist_mlp, cifar10_mlp"),)
    assert told(workloads=names, assigned_workloads=names[1:2]) == ()
    assert told(workloads=names[:2], scopes=("step",)) == (said.format("mnist_mlp in scope step"),)
    assert told() == told(every_workload=True) == told(workloads=names[1:2]) == ()
    with pytest.raises(RuntimeError, match="'run_length' has no case of mnist_mlp; skipped; nothing is left"):
        answered(there, experiment="run_length", workloads=("mnist_mlp",))


def test_a_gpu_is_asked_for_the_precisions_that_it_has():
    old = msgspec.structs.replace(factory.H100, compute_capability="7.5")
    here = msgspec.structs.replace(factory.HOST, gpus=(old,))
    found = answered(offer("cpu", "gpu", of_experiments=(CEILING,)), here, experiment="roofline").cases
    assert [(case.backend, case.precision) for case in found] == [
        ("cpu", "float32-highest"), ("gpu", "float32-highest")
    ]  # fmt: skip
    found = answered(offer("cpu", "gpu", of_experiments=(CEILING,)), factory.HOST, experiment="roofline").cases
    assert len(found) == 4


def test_a_campaign_says_which_experiment_asked_for_it():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    about = factory.description()
    made = campaign.planned([factory.record().case], [about], "quick", factory.HOST, now, "threads")
    done = CompletedRun(case=made.cases[0], software=factory.record().software, run=factory.run(0, 0.01))
    assert [record.experiment for record in campaign.records(made, [done])] == ["threads"]


def test_an_unknown_workload_names_what_there_is():
    with pytest.raises(
        LookupError, match=r"no workload 'mnist_mpl' \(did you mean 'mnist_mlp'\?\); there are: cifar10"
    ):
        answered(offer("cpu"), workloads=("mnist_mpl",))


def test_another_size_of_a_family_names_those_that_an_experiment_times():
    with pytest.raises(
        LookupError, match=r"^no workload 'crossover_trees_7'; .* times: crossover_trees_5, crossover_t"
    ):
        answered(offer("cpu"), workloads=("crossover_trees_7",))


def test_a_workload_in_capitals_is_near_its_own_name():
    with pytest.raises(LookupError, match=r"no workload 'MNIST_MLP' \(did you mean 'mnist_mlp'\?\)"):
        answered(offer("cpu"), workloads=("MNIST_MLP",))


def test_every_workload_beside_some_by_name_is_an_error():
    with pytest.raises(ValueError, match="--all asked for beside mnist_mlp; leave out --all, or the names"):
        answered(offer("cpu"), workloads=("mnist_mlp",), every_workload=True)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"devices": 2, "scopes": ("step", "epoch", "run", "calls")}, "scope epoch, run is not timed with --devices 2"),
        ({"implementations": ("torch",), "scopes": ("step", "cold")}, "scope cold is not timed with --implementation"),
        ({"variants": ("scan",), "scopes": ("step", "cold")}, "scope cold is not timed with --variant scan"),
        (
            {"variants": ("scan",), "devices": 2, "scopes": ("step", "epoch")},
            "scope epoch is not timed with --devices 2 and --variant scan",
        ),
        ({"backends": ("gpu",), "scopes": ("step", "input")}, "scope input is not timed with --backend gpu"),
        (
            {"variants": ("scan",), "devices": 2, "scopes": ("step", "run")},
            "scope run is not timed with --devices 2 and --variant scan; skipped",
        ),
        (
            {"implementations": ("torch",), "baseline_backends": ("gpu",), "backends": (), "scopes": ("step", "input")},
            "scope input is not timed with --implementation torch; skipped",
        ),
        ({"devices": 2, "scopes": ("step", "calls")}, ""),
    ],
)
def test_a_scope_that_nothing_is_timed_in_is_named_with_what_keeps_it_out(asked, words):
    about = factory.description("mnist_mlp", run=WholeRun(epochs=1, train=100))
    there = offer("cpu", "gpu", workloads=(about,))
    here = msgspec.structs.replace(factory.HOST, cores=4)
    found = answered(there, here, **{"backends": ("cpu",), **asked}).remarks
    assert [remark.startswith(words) and remark.endswith("; skipped") for remark in found] == [True] * bool(words)


def test_an_option_that_was_not_given_is_not_said_to_keep_a_scope_out():
    about = factory.description("mnist_mlp")
    one = Combination(about, "cpu", "float32-highest", "jax", "nnx-jit", "system", "run")
    walked = ((one, ("variants",)), (one, ("devices", "variants")))
    assert list(scopes_skipped(Request(scopes=("run",), devices=2), walked)) == []
    (said,) = scopes_skipped(Request(scopes=("run",), variants=("plain",)), walked)
    assert said == "scope run is not timed with --variant plain; skipped"


def test_where_nothing_is_left_what_keeps_the_scope_out_is_said():
    with pytest.raises(RuntimeError, match="scope epoch is not timed with --devices 2; skipped; nothing is left"):
        answered(offer("cpu"), scopes=("epoch",), devices=2)


def test_the_way_in_which_a_scope_is_timed_on_several_devices_is_named():
    run = WholeRun(epochs=1, train=100)
    grid = factory.description("mnist_grid_search", run=run, grid=models.load("mnist_grid_search").description.grid)
    four = msgspec.structs.replace(factory.HOST, cores=4)
    here = {"here": four, "devices": 2, "backends": ("cpu",)}
    words = "scope run is not timed with --devices 2, but with --variant stacked; skipped; nothing"
    with pytest.raises(RuntimeError, match=words):
        answered(offer("cpu", workloads=(grid,)), scopes=("run",), **here)
    found = answered(offer("cpu", workloads=(grid,)), scopes=("run",), variants=("stacked",), **here)
    assert {case.variant for case in found.cases} == {"stacked"}


def test_a_backend_that_is_not_there_is_an_error_and_no_cpu_run():
    with pytest.raises(RuntimeError, match="backend 'gpu' asked for, JAX sees only 'cpu'"):
        answered(offer("cpu"), backends=("gpu",))


def test_a_precision_that_the_cpu_lacks_is_an_error():
    with pytest.raises(ValueError, match="--precision asked for without backend gpu; add"):
        answered(offer("cpu"), precisions=("tf32",))


def test_the_cpu_side_is_float32_whatever_the_gpu_has():
    found = answered(offer("cpu", "gpu"), precisions=("tf32", "bfloat16"), scopes=("step",)).cases
    assert {(c.backend, c.precision) for c in found} == {
        ("cpu", "float32-highest"),
        ("gpu", "tf32"),
        ("gpu", "bfloat16"),
    }


def test_a_precision_that_the_cpu_lacks_is_an_error_beside_one_that_it_has():
    with pytest.raises(ValueError, match="--precision asked for without backend gpu"):
        answered(offer("cpu"), precisions=("float32-highest", "bfloat16"))


def test_a_precision_that_the_gpu_lacks_is_an_error_that_names_it():
    old = msgspec.structs.replace(factory.H100, name="Tesla T4", compute_capability="7.5")
    here = msgspec.structs.replace(factory.HOST, gpus=(old,))
    with pytest.raises(ValueError, match=r"precision 'tf32' .*'Tesla T4' has compute capability 7.5 and .* needs 8.0"):
        answered(offer("cpu", "gpu"), here, precisions=("tf32",))
    assert answered(offer("cpu", "gpu"), factory.HOST, precisions=("tf32",)).cases


def ways(found, implementation, backend):
    return {(c.variant, c.allocator) for c in found if (c.implementation, c.backend) == (implementation, backend)}


def test_every_implementation_is_timed_with_both_allocators_beside_a_baseline(monkeypatch):
    monkeypatch.setattr(children, "allocators", lambda: ("tuned-malloc", "default-malloc"))
    found = answered(offer("cpu", "gpu"), scopes=("step",), implementations=("jax", "torch", "keras")).cases
    both = {("plain", "tuned-malloc"), ("plain", "default-malloc")}
    assert ways(found, "jax", "cpu") == both
    assert ways(found, "keras", "cpu") == both
    assert ways(found, "torch", "cpu") == both | {("compile", "tuned-malloc"), ("compile", "default-malloc")}
    assert ways(found, "jax", "gpu") == {("plain", "tuned-malloc")}
    assert ways(found, "torch", "gpu") == {(v, "tuned-malloc") for v in ("plain", "compile", "graph", "compile-graph")}
    assert ways(found, "keras", "gpu") == set()


def test_baselines_are_timed_where_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(children, "allocators", lambda: ("tuned-malloc", "default-malloc"))
    asked = {"scopes": ("step",), "implementations": ("jax", "torch"), "baseline_backends": ("cpu",)}
    found = answered(offer("cpu", "gpu"), **asked).cases
    assert ways(found, "torch", "cpu") == {
        (v, a) for v in ("plain", "compile") for a in ("tuned-malloc", "default-malloc")
    }
    assert ways(found, "torch", "gpu") == set()
    assert ways(found, "jax", "gpu") == {("plain", "tuned-malloc")}
    with pytest.raises(ValueError, match="--baseline-backend asked for without a baseline; add --implementation"):
        answered(offer("cpu", "gpu"), baseline_backends=("cpu",))
    with pytest.raises(ValueError, match="--baseline-backend gpu asked for, which is not measured; add --backend gpu"):
        answered(offer("cpu"), implementations=("jax", "torch"), baseline_backends=("gpu",))
    with pytest.raises(RuntimeError, match="implementation 'keras' asked for on backend 'gpu', it runs only on 'cpu'"):
        answered(offer("cpu", "gpu"), implementations=("jax", "keras"), baseline_backends=("gpu",))


def test_jax_alone_is_timed_once_and_started_as_programs_are(monkeypatch):
    monkeypatch.setattr(children, "allocators", lambda: ("tuned-malloc", "default-malloc"))

    def allocators(**asked):
        return {c.backend + " " + c.scope: c.allocator for c in answered(offer("cpu", "gpu"), **asked).cases}

    steps = {f"{side} {scope}": "tuned-malloc" for side in ("cpu", "gpu") for scope in ("step", "transfer")}
    assert allocators() == {**steps, "cpu cold": "default-malloc", "gpu cold": "tuned-malloc"}
    assert allocators(scopes=("calls",)) == {"cpu calls": "default-malloc", "gpu calls": "tuned-malloc"}
    assert set(allocators(allocators=("tuned-malloc",)).values()) == {"tuned-malloc"}
    beside = answered(offer("cpu"), implementations=("jax", "torch")).cases
    assert len({c.workload for c in beside}) == len(starts := [c for c in beside if c.scope == "cold"])
    assert {c.allocator for c in starts} == {"default-malloc"}


def test_another_c_library_has_no_tuned_allocator(monkeypatch):
    monkeypatch.setattr(children, "allocators", lambda: ("default-malloc",))
    found = answered(offer("cpu"), implementations=("jax", "torch")).cases
    assert {c.allocator for c in found} == {"default-malloc"}
    with pytest.raises(ValueError, match="allocator 'tuned-malloc' asked for, which needs glibc"):
        answered(offer("cpu"), allocators=("tuned-malloc",))


def test_a_process_of_the_gpu_keeps_memory_in_every_threads_arena_and_has_the_newer_client(monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "4")
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=3")
    client = "XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT"
    cpu, gpu = (children.environment(side, "tuned-malloc") for side in ("cpu", "gpu"))
    assert (cpu["MALLOC_ARENA_MAX"], gpu.get("MALLOC_ARENA_MAX")) == ("1", None)
    assert (cpu["GLIBC_TUNABLES"], gpu.get("GLIBC_TUNABLES")) == ("glibc.malloc.hugetlb=1", None)
    assert cpu["MALLOC_MMAP_MAX_"] == gpu["MALLOC_MMAP_MAX_"] == "0"
    assert (cpu.get(client), gpu[client]) == (None, "1")
    monkeypatch.setenv(client, "0")
    assert children.environment("gpu")[client] == "0"


@pytest.mark.parametrize(("backend", "seen"), [(None, None), ("cpu", "cpu"), ("gpu", "cuda")])
def test_what_the_users_environment_has_jax_see_decides_nothing(monkeypatch, backend, seen):
    monkeypatch.setenv("JAX_PLATFORMS", "rocm")
    assert children.environment(backend).get("JAX_PLATFORMS") == seen


def test_children_share_bytecode_where_python_may_not_write_it_beside_the_modules(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("SUITE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "imported.py").touch()
    env = children.environment("cpu") | {"PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import imported"], env=env, check=True)
    assert [path.parts[len(tmp_path.parts)] for path in tmp_path.rglob("imported.*.pyc")] == ["data"]
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert "PYTHONPYCACHEPREFIX" not in children.environment("cpu")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "chosen"))  # the user's own
    assert children.environment("cpu")["PYTHONPYCACHEPREFIX"] == str(tmp_path / "chosen")


def test_a_named_variant_is_taken_by_those_that_have_it():
    found = answered(offer("cpu"), variants=("nnx-jit", "compile"), implementations=("jax", "torch")).cases
    assert {(c.implementation, c.variant) for c in found} == {("jax", "nnx-jit"), ("torch", "compile")}


def test_a_variant_that_nobody_asked_has_is_an_error_that_names_what_there_is():
    with pytest.raises(LookupError, match=r"'jax' on cpu has: plain, nnx-jit, scan, stacked, resident$"):
        answered(offer("cpu"), variants=("graph",))
    with pytest.raises(LookupError, match=r"'torch' on cpu has: plain, compile$"):
        answered(offer("cpu"), variants=("graph",), implementations=("torch",))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"variants": ("scan",), "scopes": ("cold",)},
            "in scope cold, .* have it in: step; add --scope step",
        ),
        (
            {"variants": ("nnx-jit",), "scopes": ("epoch",)},
            "in scope epoch, .* it in: cold, step, transfer, calls;",
        ),
        ({"variants": ("plain", "resident")}, "in scope .*step.*, these workloads have it in: run; add --scope run"),
        (
            {"variants": ("plain",), "scopes": ("run",), "devices": 2, "workloads": ("mnist_mlp",)},
            "in scope run, these workloads have it with --devices 2 in: cold, step, transfer",
        ),
        (
            {"variants": ("resident",), "scopes": ("run",), "workloads": ("cifar10_mlp",)},
            "none of these .* leave it out",
        ),
        (
            {"variants": ("resident",), "scopes": ("run",), "devices": 2},
            "with --devices 2, none of these .* leave one of the two out",
        ),
        ({"variants": ("scan",), "workloads": ("gbdt_mortgage",)}, "none of these workloads has it on"),
    ],
)
def test_a_variant_without_the_scopes_asked_for_is_an_error_that_names_those_it_has(asked, words):
    run = WholeRun(epochs=1, train=100)
    networks = (factory.description("mnist_mlp", run=run), factory.description("cifar10_mlp"))
    trees = factory.description("gbdt_mortgage", family="trees")
    with pytest.raises(ValueError, match=f"variant '{asked['variants'][-1]}' asked for.*{words}"):
        answered(offer("cpu", workloads=(*networks, trees)), **asked)


def test_an_implementation_that_runs_on_no_backend_asked_for_is_an_error():
    with pytest.raises(RuntimeError, match="implementation 'keras' asked for on backend 'gpu', it runs only on 'cpu'"):
        answered(offer("cpu", "gpu"), backends=("gpu",), implementations=("jax", "keras"))


def test_devices_that_are_not_there_are_an_error():
    with pytest.raises(RuntimeError, match="8 devices asked for on backend 'cpu', there are 4 cores"):
        answered(offer("cpu"), devices=8)
    with pytest.raises(RuntimeError, match="2 devices asked for on backend 'gpu', there is 1 that JAX sees"):
        answered(offer("cpu", "gpu"), devices=2)
    with pytest.raises(RuntimeError, match="2 devices asked for on backend 'cpu', there is 1 core, one device each"):
        answered(offer("cpu"), msgspec.structs.replace(factory.PLAIN, cores=1), devices=2)
    with pytest.raises(ValueError, match=r"^1 device asked for on 2 hosts"):
        answered(offer("cpu"), hosts=2)


def test_a_batch_that_does_not_divide_over_the_devices_is_an_error():
    with pytest.raises(ValueError, match="batch 129 of 'mnist_mlp' does not divide over 2 devices"):
        answered(offer("cpu"), devices=2, batch=129)
    assert {c.devices for c in answered(offer("cpu"), devices=2).cases} == {2}


def test_a_baseline_on_several_devices_is_an_error():
    with pytest.raises(ValueError, match="2 devices asked for, implementation 'torch' runs on one"):
        answered(offer("cpu"), devices=2, implementations=("jax", "torch"))


def test_a_workload_that_a_baseline_lacks_is_left_out_and_named():
    offers = {"jax": offer("cpu"), "keras": msgspec.structs.replace(baseline("keras", "cpu"), names=("mnist_mlp",))}
    found = plan.make_plan(Request(implementations=("jax", "keras")), factory.PLAIN, offers)
    assert {c.workload for c in found.cases if c.implementation == "keras"} == {"mnist_mlp"}
    assert "keras cannot run: cifar10_mlp on cpu; skipped" in found.remarks


def test_a_record_names_the_implementations_that_ran(tmp_path):
    cases = tuple(factory.record(implementation=name).case for name in ("jax", "torch", "keras"))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    plan = campaign.planned(cases, [factory.description()], "smoke", factory.HOST, now)

    def make(unit):
        return FakeChild(good_lines() if unit[0].implementation != "keras" else [])

    records = campaign.records(plan, measured(tmp_path, make, plan).done())
    assert {r.implementations for r in records} == {("jax", "torch")}


def test_a_chain_of_several_steps_stays_a_multiple_of_a_call():
    fake = FakeTime(0.004)
    assert clock.steps_per_sample(fake.chain, PLAN, fake.clock, least=16) == 32
    assert clock.steps_per_sample(fake.chain, PLAN, fake.clock, least=48) == 48


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("RESOURCE_EXHAUSTED: Failed to allocate 4.00GiB"),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        MemoryError("Unable to allocate 80 TiB"),
    ],
)
def test_no_memory_is_said_as_such(error):
    assert ": out of memory: " in main.reason(error)


@pytest.mark.parametrize(("asked", "scope"), [({"cold_starts": ("warm",)}, "cold"), ({"epochs_times": 2}, "run")])
def test_what_no_scope_asked_for_has_is_refused(asked, scope):
    with pytest.raises(ValueError, match=f"asked for without scope {scope}; add"):
        answered(offer("cpu"), scopes=("step",), **asked)


@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_exactly_as_many_rounds_as_asked_for_are_planned(rounds):
    offers, now = offer("cpu"), datetime(2026, 1, 1, tzinfo=UTC)
    usual, longer = (answered(offers, workloads=("mnist_mlp",), rounds=each) for each in (None, rounds))
    assert longer.seconds == pytest.approx(rounds * usual.seconds), "without rounds it is one pass that is guessed"
    cases = (*longer.cases, factory.record(scope="run").case)
    made = campaign.planned(cases, longer.descriptions, "quick", factory.HOST, now, asked=rounds)
    assert set(made.rounds_by_case().values()) == {rounds}
    assert made.rounds_by_case() == {case: made.rounds_of(case) for case in cases}
    assert not made.adaptive


@pytest.mark.parametrize(
    ("asked", "adaptive", "rounds"),
    [
        ({}, True, 1),
        ({"profile": "smoke"}, False, 1),
        ({"rounds": 4}, False, 4),
        ({"assigned_workloads": ("mnist_mlp",)}, False, 3),
        ({"experiment": "size"}, False, 3),
    ],
)
def test_smoke_experiments_and_jobs_of_a_cluster_keep_planned_rounds(asked, adaptive, rounds):
    request, now = Request(**asked), datetime(2026, 1, 1, tzinfo=UTC)
    assert request.adaptive is adaptive
    within = 0.1 if request.adaptive else None
    made = campaign.planned(
        [factory.record().case], [factory.description()], request.profile, factory.HOST, now,
        request.experiment or "", asked=request.rounds, within=within,
    )  # fmt: skip
    assert (made.rounds, made.adaptive) == (rounds, adaptive)


@pytest.mark.parametrize(
    ("asked", "seconds", "budget"),
    [
        ({}, 100.0, 480.0),
        ({}, 1000.0, 480.0),  # the headline set has its eight minutes whatever a pass is guessed to take
        ({"backends": ("cpu",), "within": 0.05}, 1000.0, 480.0),
        ({"every_workload": True}, 1000.0, 2100.0),
        ({"scopes": ("run",)}, 1000.0, 2100.0),
        ({"implementations": ("jax", "torch")}, 100.0, 480.0),
        ({"implementations": ("jax", "torch")}, 1000.0, 2100.0),
        ({"every_workload": True, "budget_minutes": 3.0}, 1000.0, 180.0),
        ({"rounds": 3}, 1000.0, None),
        ({"profile": "smoke"}, 1000.0, None),
        ({"experiment": "size"}, 1000.0, None),
        ({"experiment": "size", "budget_minutes": 3.0}, 1000.0, 180.0),
    ],
)
def test_a_campaign_has_eight_minutes_and_more_than_the_headline_set_two_passes(asked, seconds, budget):
    assert bench.budget_seconds(Request(**asked), seconds, reserved=60.0) == budget


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rounds": 3}, "--within asked for with --rounds 3, which fixes the number"),
        ({"profile": "smoke"}, "--within asked for with --profile smoke, which plans its rounds"),
        ({"experiment": "threads"}, "--within asked for with --experiment threads, which plans its rounds"),
    ],
)
def test_how_certain_a_number_has_to_be_is_refused_where_rounds_are_planned(asked, words):
    with pytest.raises(ValueError, match=words):
        answered(offer("cpu"), within=0.1, **asked)


@pytest.mark.parametrize("reserved", [0.0, 60.0])
def test_a_budget_too_short_for_any_process_names_the_shortest_and_a_budget_that_works(reserved):
    cases = [factory.record(name, scope=scope).case for name in ("a", "b") for scope in ("cold", "step")]
    about = [factory.description("a", flop_per_example=10**9), factory.description("b")]
    plan = campaign.planned(cases, about, "quick", factory.HOST, datetime(2026, 1, 1, tzinfo=UTC), within=0.1)

    def refused(minutes):
        bench.check_budget(plan, Deadline(60 * minutes, reserved, began=90.0, now=lambda: 100.0))

    with pytest.raises(ValueError, match=r"--budget 0.01 asked for; the shortest process here, of b, takes ") as no:
        refused(0.01)
    words = str(no.value)
    assert ("starting and the site 70.0 s" in words) is bool(reserved)
    enough = int(re.search(r"take --budget (\d+) or more$", words).group(1))
    refused(enough)
    with pytest.raises(ValueError, match="take --budget"):
        refused(enough - 1 or 0.1)


def test_a_missing_implementation_says_what_to_install(monkeypatch):
    monkeypatch.setenv("SUITE_TORCH_PYTHON", "/nowhere/python")
    with pytest.raises(RuntimeError, match="SUITE_TORCH_PYTHON is '/nowhere/python'"):
        probing.offer("torch")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "which cannot be run"),
        ("#!/bin/sh\necho hello\n", "does not answer like a Python"),
        ("no script\n", "does not answer like a Python"),
    ],
)
def test_what_is_no_python_is_told_in_a_line(monkeypatch, tmp_path, content, words):
    python = tmp_path / "python"
    if content is None:
        python.mkdir()
    else:
        python.write_text(content)
        python.chmod(0o755)
    monkeypatch.setenv("SUITE_TORCH_PYTHON", str(python))
    with pytest.raises(RuntimeError, match=words):
        probing.offer("torch")


@pytest.mark.parametrize(
    ("driver", "capability", "extra"),
    [
        ("580.1", "9.0", "cuda13"),
        ("580.1", "7.0", "cuda12"),
        ("535.2", "8.0", "cuda12"),
        ("470.1", "8.0", None),
        ("580.1", "3.5", None),
    ],
)
def test_the_cuda_extra_suits_driver_and_architecture(driver, capability, extra):
    gpu = msgspec.structs.replace(factory.H100, driver=driver, compute_capability=capability)
    assert cuda_extra(gpu) == extra


def test_an_old_driver_is_said_with_what_to_do():
    old = msgspec.structs.replace(factory.H100, driver="470.1")
    here = msgspec.structs.replace(factory.HOST, gpus=(old,))
    assert "driver 470.1" in missing_backend("gpu", here, offer("cpu"))
    assert "needs driver 525" in missing_backend("gpu", here, offer("cpu"))


def test_the_doctor_finds_a_busy_machine_unfit():
    found = {check.name: check for check in checks(factory.PLAIN, offer("cpu"), 2.0)}
    assert found["load"].verdict == "bad"
    assert found["JAX"].verdict == "good"


@pytest.mark.parametrize(
    ("version", "slow"), [("0.10.2", True), ("0.11.0", False), ("0.12.0.1", False), ("1.0", False), ("0", False)]
)
def test_a_jax_that_is_slow_on_a_cpu_is_named_by_the_doctor_and_before_a_campaign_that_times_it_there(version, slow):
    told = f"JAX {version} is the last for Python 3.11" if slow else ""
    jax = offer("cpu", "gpu", packages={"jax": version})
    found = {check.name: check for check in checks(factory.HOST, jax, 0.0)}["JAX"]
    assert (found.verdict, found.advice.split(",")[0]) == ("remark" if slow else "good", told)
    assert [line.split(",")[0] for line in answered(jax, factory.HOST).remarks] == [told] * slow
    assert not answered(jax, factory.HOST, backends=("gpu",)).remarks
    of_torch = {"implementations": ("torch",), "scopes": ("step",)}
    assert not answered(jax, factory.HOST, backends=("cpu",), **of_torch).remarks


@pytest.mark.parametrize(
    ("cpu", "gpus", "name"),
    [
        ("Intel(R) Xeon(R) CPU @ 2.50GHz", (), "intel-xeon-2.50ghz, 8 cores"),
        ("AMD EPYC 7B13 64-Core Processor", (), "amd-epyc-7b13, 8 cores"),
        ("Intel(R) Xeon(R) Processor, family 6 model 143", (), "intel-xeon-6-143, 8 cores"),
        ("x", (factory.H100,), "h100-80gb, 8 cores"),
        ("x", (factory.H100,) * 2, "2x h100-80gb, 8 cores"),
    ],
)
def test_a_machine_is_named_after_its_processors(cpu, gpus, name):
    assert machine.short_name(cpu, 8, gpus) == name


def test_a_machine_with_one_core_has_no_several():
    assert machine.short_name("AMD EPYC 7B13 64-Core Processor", 1, ()) == "amd-epyc-7b13, 1 core"


@pytest.mark.parametrize(
    ("said", "model"),
    [
        ("AMD EPYC", "AMD EPYC, family 26 model 2"),
        ("Intel(R)  Xeon(R) Processor @ 2.50GHz", "Intel(R) Xeon(R) Processor @ 2.50GHz, family 26 model 2"),
        ("AMD EPYC 9575F 64-Core Processor", "AMD EPYC 9575F 64-Core Processor"),
    ],
)
def test_a_processor_that_hides_its_number_is_told_by_family_and_model(said, model, tmp_path):
    path = tmp_path / "cpuinfo"
    core = f"vendor_id\t: X\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: {said}\nstepping\t: 1\n"
    path.write_text(core + "\n" + core)
    assert machine.cpu_model(path) == model
    path.write_text(f"model name\t: {said}\n")  # other architectures have no family
    assert machine.cpu_model(path) == " ".join(said.split())


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/slice/job\n", {"cpu.max": "max 100000", "slice/cpu.max": "200000 100000"}, 2.0),
        ("0::/slice/job\n", {"slice/cpu.max": "200000 100000", "slice/job/cpu.max": "400000 100000"}, 2.0),
        ("0::/slice/job\n", {"slice/job/cpu.max": "max 100000", "other/cpu.max": "100000 100000"}, None),
        ("4:cpu,cpuacct:/job\n", {"cpu/job/cpu.cfs_quota_us": "50000", "cpu/job/cpu.cfs_period_us": "100000"}, 0.5),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ("0::/\n", {"cpu.max": "nonsense"}, None),
        ("", {}, None),
    ],
)
def test_the_smallest_quota_of_the_own_control_group_and_those_around_it_counts(tmp_path, own, files, cores):
    for name, said in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(f"{said}\n")
    (tmp_path / "own").write_text(own)
    found = counters.control_groups(tmp_path / "groups", tmp_path / "own")
    assert machine.cpu_quota_cores(found) == cores


def test_done_entries_are_plain_data():
    assert issubclass(CompletedRun, msgspec.Struct)


@pytest.mark.parametrize(
    ("backend", "scopes", "cached"),
    [("gpu", ("step",), True), ("gpu", ("cold", "step"), False), ("cpu", ("step",), False)],
)
def test_a_compile_cache_serves_a_gpu_whose_compile_time_does_not_count(monkeypatch, tmp_path, backend, scopes, cached):
    started = []
    monkeypatch.setattr(children, "child", lambda *_, env, **__: started.append(env))
    unit = tuple(Case(workload="mnist_mlp", backend=backend, scope=s, batch=8) for s in scopes)
    runner.worker(unit, tmp_path / "own", tmp_path / "shared")
    (env,) = started
    assert env["JAX_ENABLE_COMPILATION_CACHE"] == ("true" if cached else "false")
    assert (env.get("JAX_COMPILATION_CACHE_DIR") == str(tmp_path / "shared")) == cached


@pytest.mark.parametrize(("family", "arenas"), [("trees", None), ("dense", "1")])
def test_only_boosted_trees_keep_memory_on_the_cpu_in_an_arena_of_each_thread(monkeypatch, tmp_path, family, arenas):
    started = []

    def child(*_, env, **__):
        started.append(env)
        return nullcontext(FakeChild(good_lines()))

    monkeypatch.setattr(children, "child", child)
    plan = header(cases=(factory.record().case,), case_rounds=(3,), descriptions=(factory.description(family=family),))
    journal = Journal(tmp_path / "campaign" / "journal.jsonl")
    journal.append(plan)
    runner.run(plan, journal, Silent())
    assert {env.get("MALLOC_ARENA_MAX") for env in started} == {arenas}
    assert {env["MALLOC_MMAP_MAX_"] for env in started} == {"0"}


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_compiled_goes_with_the_campaign_or_stays_where_it_was_asked_for(monkeypatch, tmp_path, kept):
    def worker(unit, cache, shared, in_parts):
        (shared / "compiled").mkdir(parents=True, exist_ok=True)
        return nullcontext(FakeChild(good_lines()))

    monkeypatch.setattr(runner, "worker", worker)
    journal = Journal(tmp_path / "campaign" / "journal.jsonl")
    journal.append(header())
    runner.run(header(), journal, Silent(), shared_cache=tmp_path / "kept" if kept else None)
    bench.write(journal, tmp_path, partial=True)
    assert (tmp_path / "kept" / "compiled").is_dir() == kept
    assert (tmp_path / "campaign" / "compile-cache" / "compiled").is_dir() != kept, "who goes on needs it"
    bench.write(journal, tmp_path)
    assert (tmp_path / "kept" / "compiled").is_dir() == kept
    assert not (tmp_path / "campaign" / "compile-cache").exists()


def test_published_data_is_refused_where_none_has_any_and_said_where_some_have_none():
    drawn = factory.description("drawn", data="random")
    both = offer("cpu", workloads=(factory.description("mnist_mlp"), drawn))
    with pytest.raises(ValueError, match="--data tfds asked for, none of drawn has a published data set; leave it out"):
        answered(both, workloads=("drawn",), data="tfds")
    found = answered(both, workloads=("drawn", "mnist_mlp"), data="tfds")
    assert "no published data set: drawn; their batches are drawn at random" in found.remarks
    assert {(case.workload, case.data) for case in found.cases} == {("drawn", "random"), ("mnist_mlp", "tfds")}
    assert not any("published" in remark for remark in answered(both, workloads=("drawn", "mnist_mlp")).remarks)
    assert not any("published" in remark for remark in answered(both, workloads=("mnist_mlp",), data="tfds").remarks)

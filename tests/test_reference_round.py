"""One reference round: a process a case, the chosen baseline alone, CPU before GPU; and how choices are made."""

import hashlib

import factory
import msgspec
import pytest
from campaigns import case, plan
from test_measure import answered, offer
from test_schedule import turns

from suite.analysis.capabilities import MachineCapabilities
from suite.driver import reference_round
from suite.results.records import choices as chosen
from suite.results.records.choices import Choices, Threads, Way
from suite.results.single.paired_speedup import baselines_of, speedups
from suite.results.single.summary import summary

ABOUT = (factory.description("mnist_mlp"), factory.description("cifar10_mlp"))
COMPILED = Way(workload="mnist_mlp", backend="cpu", on="16 cores", implementation="torch", variant="compile")
EAGER = Way(workload="mnist_mlp", backend="cpu", on="", implementation="torch")
GRAPH = Way(workload="mnist_mlp", backend="gpu", on="", implementation="torch", variant="graph", layout="contiguous")
FEWER = Threads(workload="mnist_mlp", on="16 cores", implementation="jax", threads=4)
CHOICES = Choices(baselines=(COMPILED, EAGER, GRAPH), threads=(FEWER,))


def cases(machine=factory.HOST, backends=("cpu", "gpu"), there=("torch",), about=ABOUT):
    here = MachineCapabilities(backends=backends, cores=machine.cores)
    return reference_round.cases(about, here, machine, CHOICES, there)


def test_it_times_jax_and_the_chosen_baseline_alone():
    ways = {(c.backend, c.scope, c.implementation, c.variant) for c in cases() if c.workload == "mnist_mlp"}
    steps = {(side, "step", "jax", "plain") for side in ("cpu", "gpu")}
    assert ways == steps | {("cpu", "step", "torch", "compile"), ("gpu", "step", "torch", "graph")}
    assert {c.implementation for c in cases() if c.workload == "cifar10_mlp"} == {"jax"}


def test_another_kind_of_machine_takes_the_baseline_chosen_for_all():
    ways = {c.variant for c in cases(factory.PLAIN, ("cpu",)) if c.implementation == "torch"}
    assert ways == {"plain"}


def test_chosen_threads_stand_in_the_case():
    mine = {c.threads for c in cases(backends=("cpu",)) if (c.workload, c.implementation) == ("mnist_mlp", "jax")}
    others = {c.threads for c in cases() if c.backend == "gpu" or c.workload != "mnist_mlp"}
    assert mine == {4}
    assert others == {None}


def test_a_layout_is_of_pictures_alone():
    pictures = (factory.description("mnist_mlp", family="convolution"),)
    assert {c.layout for c in cases(about=pictures) if c.variant == "graph"} == {"contiguous"}
    assert {c.layout for c in cases(about=pictures) if c.implementation == "jax"} == {"channels-last"}
    assert {c.layout for c in cases() if c.variant == "graph"} == {"channels-last"}


def test_a_baseline_that_is_not_installed_is_left_out_and_said(monkeypatch):
    assert {c.implementation for c in cases(there=())} == {"jax"}
    (said,) = reference_round.not_compared(ABOUT, ("cpu",), factory.HOST, CHOICES, ())
    assert said == (
        "torch is not installed: 1 workload without a baseline; install it, or set SUITE_TORCH_PYTHON to "
        "a Python that has it"
    )


def test_every_workload_is_measured_unless_some_are_named():
    found = answered(offer("cpu"), reference=True)
    assert {c.workload for c in found.cases} == {"mnist_mlp", "cifar10_mlp"}
    assert {c.workload for c in answered(offer("cpu"), reference=True, workloads=("mnist_mlp",)).cases} == {"mnist_mlp"}


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        ({"rounds": 3}, "--rounds"),
        ({"within": 0.05}, "--within"),
        ({"scopes": ("cold",)}, "--scope"),
        ({"variants": ("plain",)}, "--variant"),
        ({"implementations": ("jax", "torch")}, "--implementation"),
        ({"threads": (2,)}, "--threads"),
        ({"profile": "smoke"}, "--profile"),
        ({"experiment": "threads"}, "--experiment"),
        ({"energy": True}, "--energy"),
        ({"data": "tfds"}, "--data"),
    ],
)
def test_what_a_round_decides_itself_is_refused(asked, option):
    with pytest.raises(ValueError, match=rf"^{option} asked for with --reference, which decides that itself"):
        answered(offer("cpu"), reference=True, **asked)


def test_a_round_is_foretold_as_one_process_a_case():
    ways = {"implementations": ("jax", "torch"), "variants": ("plain",), "allocators": ("tuned-malloc",)}
    three = answered(offer("cpu"), rounds=3, scopes=("step",), **ways)
    assert answered(offer("cpu"), reference=True).seconds == pytest.approx(three.seconds / 3)


def test_the_cpu_comes_first_then_jax_on_the_gpu_each_cheapest_first_and_torch_compile_last():
    flop = {"big": 9_000_000_000, "small": 1_000_000}
    every = [case(name, side) for name in flop for side in ("gpu", "cpu")]
    every += [case("small", "gpu", implementation="torch")]
    every += [case("small", side, implementation="torch", variant="compile") for side in ("cpu", "gpu")]
    header = plan(
        *every,
        about=lambda name: factory.description(name, flop_per_example=flop[name]),
        within=None,
        is_reference=True,
    )
    found = [
        (turn.number, unit[0].backend, unit[0].implementation, unit[0].workload)
        if unit[0].variant == "plain"
        else (turn.number, "compiled")
        for turn in turns(header)
        for unit in turn.groups
    ]
    jax = [(side, "jax", name) for side in ("cpu", "gpu") for name in ("small", "big")]
    once = [*jax, ("gpu", "torch", "small")]
    compiled = [("compiled",)] * 2
    assert found == [(number, *each) for number in range(header.rounds) for each in (*once, *compiled)]


def test_one_campaign_in_five_takes_two_rounds_by_its_name_alone():
    names = [f"202601{day:02d}-{hour:02d}0000-h100-80gb-16-cores" for day in range(1, 31) for hour in range(24)]
    twice = sum(reference_round.rounds(name) == 2 for name in names)
    assert {reference_round.rounds(name) for name in names} == {1, 2}
    assert 0.16 < twice / len(names) < 0.24
    numbers = [int.from_bytes(hashlib.sha256(name.encode()).digest()) for name in names]
    assert [reference_round.rounds(name) for name in names] == [1 if number % 5 else 2 for number in numbers]


def test_no_energy_is_counted():
    assert not plan(case(), within=None, is_reference=True).energy
    assert plan(case(), within=None).energy


@pytest.fixture
def fewer(monkeypatch):
    """Let four threads be chosen for the CPU step of mnist_mlp on 16 cores."""
    chosen.choices.cache_clear()
    monkeypatch.setattr("suite.results.records.record.choices", lambda: CHOICES)


def sides(campaign="a", **changes):
    options = {"campaign": campaign, **changes}
    return (
        factory.record(backend="cpu", step_seconds=(0.010,), **options),
        factory.record(backend="cpu", step_seconds=(0.005,), threads=4, **options),
        factory.record(backend="cpu", step_seconds=(0.004,), threads=2, **options),
        factory.record(backend="gpu", step_seconds=(0.001,), **options),
    )


def test_a_speedup_has_the_chosen_threads_whatever_others_were_timed(fewer):
    (found,) = speedups(sides())
    assert found.cpu.record.case.threads == 4
    assert found.ratio.value == pytest.approx(5.0)


def test_without_chosen_threads_a_speedup_has_all_cores():
    (found,) = speedups(sides())
    assert found.cpu.record.case.threads is None
    assert found.ratio.value == pytest.approx(10.0)


def test_a_baseline_with_other_threads_is_compared_where_both_were_chosen(fewer):
    mine = sides()[1]
    baseline = factory.record(backend="cpu", step_seconds=(0.020,), implementation="torch", campaign="a")
    ((_, ratio),) = baselines_of(summary(mine), map(summary, (mine, baseline)))
    assert ratio.value == pytest.approx(4.0)


def test_one_process_replaces_no_record_of_several():
    older = factory.record(created="2026-01-01T00:00:00Z", campaign="a")
    newer = factory.record(created="2026-01-02T00:00:00Z", campaign="b", step_seconds=(0.01,))
    assert max((older, newer), key=lambda record: record.current_key) is older


def test_the_committed_table_names_what_there_is():
    table = chosen.choices()
    assert len({(way.workload, way.backend, way.on) for way in table.baselines}) == len(table.baselines)
    assert {way.implementation for way in table.baselines} == set(reference_round.IMPLEMENTATIONS)
    assert msgspec.json.decode(msgspec.json.encode(table), type=Choices) == table

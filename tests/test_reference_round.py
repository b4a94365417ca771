"""One reference round: a process a side, the chosen baseline alone, CPU before GPU; and how choices are made."""

import hashlib

import factory
import msgspec
import pytest
from campaigns import case, plan
from msgspec.structs import replace
from test_measure import answered, offer
from test_schedule import turns

from suite.analysis.capabilities import MachineCapabilities
from suite.case import STARTING
from suite.driver import campaign, reference_round
from suite.results.records import choices as chosen
from suite.results.records.choices import Choices, Threads, Way
from suite.results.single.paired_speedup import baselines_of, speedups
from suite.results.single.summary import summary
from suite.workload import WholeRun

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
    mine = {(side, scope, "jax", "plain") for side in ("cpu", "gpu") for scope in ("step", "transfer", "cold")}
    assert ways == mine | {("cpu", "step", "torch", "compile"), ("gpu", "step", "torch", "graph")}
    assert {c.implementation for c in cases() if c.workload == "cifar10_mlp"} == {"jax"}


def test_another_kind_of_machine_takes_the_baseline_chosen_for_all():
    ways = {c.variant for c in cases(factory.PLAIN, ("cpu",)) if c.implementation == "torch"}
    assert ways == {"plain"}


def test_chosen_threads_stand_in_the_case():
    mine = {c for c in cases(backends=("cpu",)) if (c.workload, c.implementation) == ("mnist_mlp", "jax")}
    others = {c.threads for c in cases() if c.backend == "gpu" or c.workload != "mnist_mlp"}
    assert {c.threads for c in mine if c.scope != "cold"} == {4}
    assert others == {c.threads for c in mine if c.scope == "cold"} == {None}


def test_the_headline_set_is_timed_from_storage_and_in_its_documented_runs_with_all_cores():
    run = WholeRun(epochs=3, train=1280, test=100)
    about = (factory.description("mnist_mlp", headline=True, run=run), factory.description("cifar10_mlp", run=run))
    wider = [c for c in cases(about=about) if c.scope in ("epoch", "run")]
    assert {(c.workload, c.implementation) for c in wider} == {("mnist_mlp", "jax")}
    assert {(c.backend, c.scope) for c in wider} == {(side, s) for side in ("cpu", "gpu") for s in ("epoch", "run")}
    assert {c.threads for c in wider} == {None}, "threads are chosen for steps"


def test_a_cold_start_is_that_of_a_user_and_on_a_gpu_costs_no_process():
    starts = {c.backend: c for c in cases(about=ABOUT[1:]) if c.scope == "cold"}
    assert starts["cpu"].allocator == STARTING
    groups = campaign.process_groups(cases(about=ABOUT[1:], there=()), start_too=True)
    assert {(unit[0].backend, tuple(c.scope for c in unit)) for unit in groups} == {
        ("cpu", ("step", "transfer")),
        ("cpu", ("cold",)),
        ("gpu", ("step", "transfer", "cold")),
    }
    assert [unit for unit in groups if campaign.compiles_anew(unit)] == [groups[1], groups[2]]


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
    both = answered(offer("cpu"), rounds=3, scopes=("step",), **ways)
    alone = answered(offer("cpu"), rounds=3, scopes=("step",))
    more = answered(offer("cpu"), rounds=3, scopes=("step", "transfer", "cold"))
    three = both.seconds - alone.seconds + more.seconds
    assert answered(offer("cpu"), reference=True).seconds == pytest.approx(three / 3)


def groups_in_order(known):
    """The processes of a round, part by part, of cases and the published hosts of each."""
    every = {case(name, side, **options): hosts for (name, side, options), hosts in known}
    header = plan(*every, within=None, is_reference=True, known_hosts=tuple(every.values()))
    assert header.rounds == 1
    return [turn.groups for turn in turns(header)]


def in_order(known):
    """What a round runs, part by part, in words."""
    return [{(unit[0].workload, unit[0].backend, unit[0].label) for unit in part} for part in groups_in_order(known)]


def test_what_lacks_the_largest_share_of_its_hosts_comes_first_and_what_has_them_all_last():
    eager, compiled = {"implementation": "torch"}, {"implementation": "torch", "variant": "compile"}
    known = [
        (("many", "cpu", {}), 5),
        (("many", "cpu", eager), 5),
        (("many", "gpu", {}), 4),
        (("many", "gpu", eager), 0),
        (("few", "cpu", {}), 5),
        (("few", "cpu", compiled), 0),
        (("few", "gpu", {}), 2),
        (("few", "gpu", compiled), 0),
        (("new", "gpu", {}), 1),
        (("known", "cpu", {}), 12),
    ]
    parts = [{(name, side) for name, side, _ in part} for part in in_order(known)]
    lacking = [("few", "cpu"), ("new", "gpu"), ("many", "cpu"), ("few", "gpu")]
    baselines, enough = [("many", "gpu"), ("few", "gpu")], [("known", "cpu"), ("many", "gpu")]
    assert parts == [{each} for each in (*lacking, *baselines, *enough)]


def test_cold_starts_of_the_cpu_wait_for_steps_that_lack_hosts_and_the_baselines_of_the_gpu_for_both():
    known = [
        (("a", "cpu", {"scope": "cold", "allocator": STARTING}), 0),
        (("a", "gpu", {"implementation": "torch"}), 0),
        (("a", "cpu", {}), 9),
        (("a", "cpu", {"scope": "transfer"}), 3),
        (("b", "cpu", {}), 10),
        (("b", "cpu", {"scope": "transfer"}), 2),
        (("c", "cpu", {}), 10),
        (("a", "gpu", {}), 3),
        (("a", "gpu", {"scope": "cold"}), 0),
        (("b", "gpu", {}), 3),
        (("b", "gpu", {"scope": "cold"}), 3),
    ]
    parts = groups_in_order(known)
    assert [[(unit[0].workload, unit[0].backend, tuple(c.scope for c in unit)) for unit in part] for part in parts] == [
        [("a", "gpu", ("step", "cold"))],
        [("b", "cpu", ("step", "transfer"))],
        [("a", "cpu", ("step", "transfer"))],
        [("a", "cpu", ("cold",))],
        [("a", "gpu", ("step",))],
        [("c", "cpu", ("step",))],
        [("b", "gpu", ("step", "cold"))],
    ]


def test_on_a_new_kind_of_machine_the_cpu_comes_first():
    known = [(("a", "gpu", {}), 0), (("a", "cpu", {}), 0), (("b", "gpu", {}), 0), (("b", "cpu", {}), 0)]
    assert [{side for _, side, _ in part} for part in in_order(known)] == [{"cpu"}, {"cpu"}, {"gpu"}, {"gpu"}]


def test_a_published_host_counts_once_where_case_kind_of_machine_and_method_agree():
    cases = [case("mnist_mlp", "cpu"), case("mnist_mlp", "gpu"), case("cifar10_mlp", "cpu")]
    run = factory.run(0, 0.01, host="a" * 16, program="b" * 16)
    published = [
        factory.record(machine=factory.KNOWN, runs=(replace(run, host=host * 16),), campaign=name, **changes)
        for host, name, changes in (
            ("a", "one", {}),
            ("a", "two", {}),
            ("c", "three", {}),
            ("d", "smoke", {"profile": "smoke"}),
            ("f", "another", {"variant": "scan"}),
        )
    ]
    published += [replace(published[0], method=0, campaign="old", digest="e" * 64)]
    assert reference_round.known_hosts(cases, factory.KNOWN, published) == (2, 0, 0)
    assert reference_round.known_hosts(cases, replace(factory.KNOWN, cpu_number=1), published) == (0, 0, 0)
    names = "JAX_ENABLE_COMPILATION_CACHE", "xla_gpu_enable_command_buffer"
    for cache, hosts in (("true", 1), ("false", 0)):
        one = factory.record(backend="gpu", machine=factory.KNOWN)
        settings = dict(zip(names, (cache, "FUSION,CONVOLUTION"), strict=True))
        graph = factory.sealed(replace(one, software=replace(one.software, settings=settings), digest=""))
        assert reference_round.known_hosts([graph.case], factory.KNOWN, [graph]) == (hosts,)


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

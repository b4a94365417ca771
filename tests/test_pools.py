"""Which records are evidence of the same time, and of how many hosts; what is left out; which pool counts."""

import math

import factory
import msgspec
import pytest

from suite.results.pooled import baselines, kinds, pools
from suite.results.pooled.grouping import case_of, kind_of, lacks_kernels, likeness_of, usable
from suite.results.pooled.machine_evidence import evidence
from suite.results.pooled.pools import current
from suite.results.records import identity
from suite.results.records.choices import Choices, Threads
from suite.results.records.choices import kind as choice_of
from suite.results.records.run import Sample
from suite.results.stats import pooling, variance_components

A, B, C, D = (letter * 16 for letter in "abcd")
replace = msgspec.structs.replace
KNOWN = replace(factory.HOST, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=143, virtual=True)
H200 = replace(factory.H100, name="NVIDIA H200")
JAX = {"jax": "0.12.0"}


def made(host=A, seconds=(0.01, 0.0101, 0.0099), campaign="", machine=KNOWN, program="e" * 16, day=1, **changes):
    """A record of processes on a host, in a campaign of that host."""
    packages, settings = changes.pop("packages", JAX), changes.pop("settings", {})
    runs = changes.pop("runs", None) or tuple(
        factory.run(number, value, host=host, program=program) for number, value in enumerate(seconds)
    )
    record = factory.record(
        step_seconds=seconds,
        campaign=campaign or f"of-{host}",
        machine=machine,
        runs=runs,
        created=f"2026-01-{day:02}T00:00:00Z",
        **changes,
    )
    software = replace(record.software, packages=packages, settings=settings)
    return factory.sealed(replace(record, software=software, digest=""))


def old(host, **changes):
    """A record of method 0."""
    return factory.sealed(replace(made(host, **changes), method=0, schema="result/1", digest=""))


def alike(*records):
    """Whether all records are in one pool."""
    return len(pools.pools(records)) == 1


def changed(record, *runs, **changes):
    return factory.sealed(replace(record, runs=runs or record.runs, digest="", **changes))


# What pools


def test_records_of_one_case_on_two_hosts_are_one_pool_of_two_hosts():
    (pool,) = pools.pools([made(A), made(B, (0.02,), day=2)])
    assert pool.hosts == 2
    assert pool.cell == (pytest.approx((0.01, 0.0101, 0.0099), rel=0.01), pytest.approx((0.02,), rel=0.01))
    assert pool.campaigns == (f"of-{A}", f"of-{B}")
    assert pool.machines == {KNOWN.slug}
    assert pool.newest.campaign == f"of-{B}"
    assert pool.pooled == pooling.pooled(pool.cell, pool.among)
    assert pool.pooled.processes == 4
    assert not pool.wild


def test_records_stand_in_the_order_in_which_they_were_made():
    (pool,) = pools.pools([made(C, day=3), made(A, day=1), made(B, day=2)])
    assert [record.created[8:10] for record in pool.records] == ["01", "02", "03"]


def test_two_campaigns_of_one_host_count_as_one_host():
    (pool,) = pools.pools([made(A, (0.01,)), made(A, (0.02,), campaign="later", day=2)])
    assert pool.hosts == 1
    assert len(pool.cell[0]) == 2
    assert pool.campaigns == (f"of-{A}", "later")


@pytest.mark.parametrize(
    "changes",
    [
        {"program": "f" * 16},
        {"workload": "cifar10_mlp"},
        {"batch": 64},
        {"precision": "bfloat16"},
        {"threads": 1},
        {"scope": "cold"},
        {"implementation": "torch"},
        {"packages": {"jax": "0.12.1"}},
        {"packages": JAX | {"jaxlib": "0.12.1"}},
        {"packages": JAX | {"flax": "1"}},
        {"packages": JAX | {"optax": "1"}},
        {"machine": replace(KNOWN, cpu_number=85)},
        {"machine": replace(KNOWN, cores=8)},
        {"machine": replace(KNOWN, virtual=False)},
    ],
)
def test_another_time_is_not_pooled(changes):
    assert alike(made(A), made(B))
    assert not alike(made(A), made(B, **changes))


def test_another_method_is_not_pooled():
    assert not alike(made(A), old(B))


@pytest.mark.parametrize(
    "changes",
    [
        {"packages": JAX | {"numpy": "9"}},
        {"packages": JAX | {"torch": "9"}},
        {"settings": {"xla_gpu_autotune_level": "4"}},  # is in the digest of the program
        {"machine": replace(KNOWN, memory_bytes=2**40)},
        {"machine": replace(KNOWN, name="another name")},
        {"profile": "standard"},
    ],
)
def test_what_has_no_bearing_on_the_time_is_pooled(changes):
    assert alike(made(A), made(B, **changes))


@pytest.mark.parametrize(
    ("implementation", "names", "other"),
    [
        ("torch", ("torch", "torch-cuda", "torch-cudnn"), "jax"),
        ("keras", ("keras", "tensorflow", "jax", "torch"), "xgboost"),
        ("xgboost", ("xgboost",), "torch"),
        ("openvino", ("openvino", "torch"), "jax"),
    ],
)
def test_each_implementation_is_known_by_its_own_packages(implementation, names, other):
    def of(host, **packages):
        return made(host, implementation=implementation, packages=packages)

    for name in names:
        assert not alike(of(A, **{name: "1"}), of(B, **{name: "2"}))
    assert alike(of(A, **{other: "1"}), of(B, **{other: "2"}))


def test_settings_of_older_records_stand_beside_their_program(monkeypatch):
    plain, same = old(A), old(B, settings={"told_of_itself": "x", "CUDA_VISIBLE_DEVICES": "3"})
    others = [old(C, settings={name: "1"}) for name in ("xla_gpu_autotune_level", "TF_ENABLE_ONEDNN_OPTS")]
    others.append(old(D, settings={"TF_ENABLE_ONEDNN_OPTS": "2"}))
    rows = {record.digest[:16]: (place, 0) for place, record in enumerate((plain, same, *others))}
    table = identity.Table(hosts=("~1", "~2", "~3", "~4", "~5"), programs=("e" * 16,), records=rows)
    monkeypatch.setattr(identity, "table", lambda: table)
    assert sorted(pool.hosts for pool in pools.pools([plain, same, *others])) == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("cache", "graph", "known", "scope", "lacks"),
    [
        ("false", "FUSION,CONVOLUTION", None, "step", True),
        ("true", "FUSION,CONVOLUTION", None, "step", False),
        ("false", "FUSION", None, "step", False),
        ("false", "FUSION,CONVOLUTION", "True", "transfer", True),
        ("false", "FUSION,CONVOLUTION", "False", "transfer", False),
        ("false", "FUSION,CONVOLUTION", "True", "cold", False),
        ("false", "FUSION,CONVOLUTION", None, "cold", False),
    ],
)
def test_a_graph_of_convolutions_made_before_its_kernels_ran_is_another_time(cache, graph, known, scope, lacks):
    def of(host, **settings):
        return made(host, backend="gpu", scope=scope, settings=settings)

    stated = {} if known is None else {"jax_graph_lacks_kernels": known}
    one = of(A, JAX_ENABLE_COMPILATION_CACHE=cache, xla_gpu_enable_command_buffer=graph, **stated)
    assert lacks_kernels(one) is lacks
    whole = of(B, JAX_ENABLE_COMPILATION_CACHE="true", xla_gpu_enable_command_buffer=graph)
    assert alike(one, whole) is not lacks


@pytest.mark.parametrize(("scope", "program"), [("step", "e" * 16), ("epoch", "f" * 16)])
def test_what_waits_for_its_host_is_current_by_the_machine_s_own_hosts(scope, program):
    other = replace(KNOWN, name="another of this CPU")
    old_pool = [made(A, scope=scope), *(made(host, machine=other, scope=scope) for host in (B, C, D))]
    new = made("9" * 16, program="f" * 16, day=2, scope=scope)
    (pool,) = {id(each): each for (name, _), each in pools.current(pools.pools([*old_pool, new])).items()
               if name == KNOWN.slug}.values()  # fmt: skip
    assert pool.newest.program == program


def test_hosts_that_timed_the_other_side_of_another_case_do_not_come_first():
    both = [made(A, backend=side, scope="epoch") for side in ("cpu", "gpu")]
    newer = made(B, program="f" * 16, day=2, scope="epoch")
    for workload, program in (("cifar10_mlp", "e" * 16), ("mnist_mlp", "f" * 16)):
        gpu = made(B, backend="gpu", workload=workload, scope="epoch")
        found = current(pools.pools([*both, newer, gpu]))
        assert found[KNOWN.slug, newer.case].newest.program == program


def test_content_drawn_at_random_stands_in_for_the_published():
    assert alike(made(A, data="random"), made(B))


def test_chosen_threads_stand_for_all_cores_but_are_another_time(monkeypatch):
    chosen = Threads(workload="mnist_mlp", on=choice_of("cpu", 16), implementation="jax", threads=1)
    monkeypatch.setattr("suite.results.records.record.choices", lambda: Choices(threads=(chosen,)))
    two, one, every = made(A, threads=2), made(B, threads=1), made(C)
    assert [case_of(record).threads for record in (two, one, every)] == [2, None, None]
    assert len(pools.pools([one, every])) == 2
    (found,) = (pool for pool in pools.pools([one]))
    assert found.case == every.case


def test_runs_without_a_program_are_pooled_with_their_own_campaign_alone():
    assert not alike(made(A, program=""), made(B, program=""))
    assert not alike(made(A, program=""), made(A, program="", campaign="later"))
    assert alike(made(A, program=""), made(A, program="", day=2))


# Kinds of machine


def test_a_cpu_is_of_one_kind_whatever_gpus_stand_beside_it():
    plain, other = replace(KNOWN, gpus=()), replace(KNOWN, gpus=(H200,))
    assert alike(made(A), made(B, machine=plain), made(C, machine=other))


@pytest.mark.parametrize(
    "gpus",
    [
        (H200,),
        (factory.H100, factory.H100),
        (replace(factory.H100, slice="1g.10gb"),),
        (replace(factory.H100, power_limit_watts=310.0),),
    ],
)
def test_a_gpus_times_need_equal_gpus(gpus):
    assert alike(made(A, backend="gpu"), made(B, backend="gpu"))
    assert not alike(made(A, backend="gpu"), made(B, backend="gpu", machine=replace(KNOWN, gpus=gpus)))
    assert alike(made(A), made(B, machine=replace(KNOWN, gpus=gpus)))


def test_a_gpus_driver_and_memory_are_no_kind():
    other = replace(factory.H100, driver="1", memory_bytes=1)
    assert kind_of(KNOWN, "gpu") == kind_of(replace(KNOWN, gpus=(other,)), "gpu")


def test_a_gpus_host_is_part_of_its_kind():
    assert kind_of(KNOWN, "gpu") != kind_of(replace(KNOWN, cores=8), "gpu")


def test_a_cpu_that_hides_its_model_is_of_the_kind_of_its_name_alone():
    hidden = replace(factory.HOST, cpu_model="Some CPU", gpus=())
    same = replace(hidden, memory_bytes=1)
    assert kind_of(hidden, "cpu") == kind_of(same, "cpu")
    for other in (replace(hidden, name="other"), replace(hidden, cpu_model="Other CPU"), replace(hidden, cores=2)):
        assert kind_of(hidden, "cpu") != kind_of(other, "cpu")
    known = [replace(KNOWN, name=name, cpu_model=name) for name in ("one", "other")]
    assert kind_of(known[0], "cpu") == kind_of(known[1], "cpu")


# What is no evidence


def test_what_is_sound_is_evidence():
    assert usable(made())
    assert usable(made(seconds=(0.01, 0.05)))  # however wide


@pytest.mark.parametrize(
    "record",
    [
        made(profile="smoke"),
        made(packages={"jax": "0.10.2"}),
        made(backend="gpu", settings={"CUDA_LAUNCH_BLOCKING": "1"}),
        changed(made(), *(replace(run, other_load_cores=9.0) for run in made().runs)),
        changed(made(), replace(made().runs[0], compilations=1), *made().runs[1:]),
        changed(made(), *(replace(run, reason="killed") for run in made().runs)),
        changed(made(), *(replace(run, samples=run.samples[:2]) for run in made().runs)),
        changed(made(), *(replace(run, samples=()) for run in made().runs)),
    ],
    ids=["smoke", "old JAX", "blocking", "busy", "invalid", "failed", "short", "without samples"],
)
def test_what_is_no_evidence_is_left_out(record):
    assert not usable(record)
    assert pools.pools([record]) == ()


def test_processes_that_failed_or_were_short_do_not_count_beside_others():
    runs = made().runs
    record = changed(made(), replace(runs[0], reason="killed"), replace(runs[1], samples=runs[1].samples[:2]), runs[2])
    (pool,) = pools.pools([record])
    assert [len(host) for host in pool.cell] == [1]
    assert pool.cell[0][0] == pytest.approx(0.0099, rel=0.01)


def test_method_0_takes_the_median_of_samples_and_later_ones_the_mean():
    times = (0.04, 0.04, 0.04, 0.04, 0.08)
    run = replace(made().runs[0], samples=tuple(Sample(wall_seconds=each, process_seconds=each) for each in times))
    for record, seconds in ((made(runs=(run,)), 0.012), (old(A, runs=(run,)), 0.01)):
        (pool,) = pools.pools([record])
        assert pool.cell == ((pytest.approx(seconds),),)


# How much hosts differ


def several(distance=0.1, workloads="stuv", hosts=(A, B, C), **changes):
    """Records of workloads whose hosts are so far apart, another one ahead in each."""
    return [
        made(host, (math.exp(distance * ((place + number) % 3)) / 100,), workload=name, **changes)
        for number, name in enumerate(workloads)
        for place, host in enumerate(hosts)
    ]


def test_pools_of_a_kind_share_what_is_known_of_hosts():
    found = pools.pools(several())
    assert len(found) == 4
    assert len({pool.among for pool in found}) == 1
    assert not any(pool.borrowed for pool in found)
    assert found[0].among.cells == 4
    cells = [pool.cell for pool in found]
    assert found[0].among.tau2 == pytest.approx(variance_components.components(cells).tau2)


def test_cells_of_the_same_hosts_that_agree_count_for_fewer_degrees():
    hosts = (A, B, C, D)
    steps = [made(host, (1.1**place / 100,), workload=name) for name in "stuv" for place, host in enumerate(hosts)]
    (first, *_) = pools.pools(steps)
    assert first.among.degrees == pytest.approx(0.8 * 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"backend": "gpu"},
        {"scope": "cold"},
        {"machine": replace(KNOWN, cores=8)},
    ],
)
def test_another_kind_backend_or_scope_has_components_of_its_own(changes):
    found = pools.pools([*several(), *several(0.3, **changes)])
    assert len({pool.among.tau2 for pool in found}) == 2


def test_steps_bound_by_dispatch_are_a_class_of_their_own():
    short = [
        made(host, (math.exp(0.3 * place) * 2e-5,), workload=name)
        for name in "wxyz"
        for place, host in enumerate((A, B, C))
    ]
    found = pools.pools([*several(), *short])
    assert len({pool.among.tau2 for pool in found}) == 2
    assert len({pool.among.tau2 for pool in pools.pools([*several(), *several(0.3, "wxyz")])}) == 1


def test_a_class_is_by_the_middle_process():
    slow, quick = 3e-4, 5e-5
    for count, short in ((4, True), (3, True), (2, False), (1, False)):
        assert likeness_of([made(seconds=[quick] * count + [slow] * (5 - count))]).short is short
    assert likeness_of([made(seconds=(2e-4,))]).short is False
    assert likeness_of([made(seconds=(quick,), scope="cold")]).short is False


def test_a_kind_with_too_few_hosts_borrows_and_says_so():
    lonely = made(A, (0.01,), machine=replace(KNOWN, cores=8), workload="lonely")
    found = {pool.case.workload: pool for pool in pools.pools([*several(), lonely])}
    assert found["lonely"].borrowed
    assert found["lonely"].among.tau2 == pytest.approx(found["s"].among.tau2)
    assert found["lonely"].pooled.low is not None
    assert not found["s"].borrowed


def test_where_no_cell_has_two_hosts_there_is_no_interval():
    (pool,) = pools.pools([made()])
    assert not pool.borrowed
    assert pool.pooled.low is None


def test_a_pool_whose_hosts_are_far_further_apart_than_others_is_wild():
    odd = [made(A, (0.01,), workload="odd"), made(B, (0.1,), workload="odd")]
    found = {pool.case.workload: pool.wild for pool in pools.pools([*several(), *odd])}
    assert found == {"odd": True, "s": False, "t": False, "u": False, "v": False}


def test_pools_stand_in_the_order_of_their_case_and_then_of_their_newest_record():
    records = [
        made(workload="z", day=1),
        made(workload="a", day=4, program="d" * 16),
        made(workload="a", day=3),
    ]
    found = [(pool.case.workload, pool.newest.created[9]) for pool in pools.pools(records)]
    assert found == [("a", "3"), ("a", "4"), ("z", "1")]


# Which counts


def pooled_of(program, hosts, day, **changes):
    return [made(host, campaign=f"{program}-{host}", program=program * 16, day=day, **changes) for host in hosts]


def test_the_newest_pool_of_three_hosts_counts():
    older, newer = pooled_of("1", (A, B, C, D), 1), pooled_of("2", (A, B, C), 2)
    (found,) = current(pools.pools([*older, *newer])).values()
    assert found.newest.program == "2" * 16


def test_an_older_pool_of_three_hosts_counts_before_a_newer_of_two():
    older, newer = pooled_of("1", (A, B, C), 1), pooled_of("2", (A, B), 2)
    (found,) = current(pools.pools([*older, *newer])).values()
    assert found.newest.program == "1" * 16


def test_while_none_has_three_hosts_that_of_most_counts():
    older, newer = pooled_of("1", (A, B), 1), pooled_of("2", (A,), 2)
    (found,) = current(pools.pools([*newer, *older])).values()
    assert found.newest.program == "1" * 16
    (found,) = current(pools.pools([*newer, *older]), fewest_hosts=1).values()
    assert found.newest.program == "2" * 16


def test_chosen_threads_count_before_all_cores_timed_later(monkeypatch):
    chosen = Threads(workload="mnist_mlp", on=choice_of("cpu", 16), implementation="jax", threads=1)
    monkeypatch.setattr("suite.results.records.record.choices", lambda: Choices(threads=(chosen,)))
    fewer, every = pooled_of("1", (A, B, C), 1, threads=1), pooled_of("1", (A, B, C), 2)
    for hosts, counts in ((3, {None: 1, 16: None}), (2, {None: None, 1: 1})):  # two hosts are not enough
        found = current(pools.pools([*fewer[:hosts], *every]))
        assert {case.threads: pool.newest.case.threads for (_, case), pool in found.items()} == counts
        assert all(pool.case == case for (_, case), pool in found.items())


def test_the_other_number_of_threads_is_no_headline_step(monkeypatch):
    chosen = Threads(workload="mnist_mlp", on=choice_of("cpu", 16), implementation="jax", threads=1)
    monkeypatch.setattr("suite.results.records.record.choices", lambda: Choices(threads=(chosen,)))
    fewer, every = pooled_of("1", (A, B, C), 1, threads=1), pooled_of("1", (A, B, C), 2)
    for hosts, threads in ((3, 1), (2, None)):
        records = [*fewer[:hosts], *every]
        found, (own,) = current(pools.pools(records)), evidence(records).values()
        assert len(found) == 2
        steps = [
            *(each.mine for each in baselines.of_pools(found)),
            *kinds.headline_steps(found, "cpu")[KNOWN.slug].values(),
            *own.fitting(lambda record: record.headline_step()),
        ]
        assert [pool.newest.case.threads for pool in steps] == [threads] * 3
        ((*swept,),) = own.sides(lambda record: record.headline_step("threads"), least=2, any_threads=True)
        assert {pool.newest.case.threads for pool in swept} == {1, None}


def test_a_pool_counts_for_each_machine_and_case_that_it_has():
    other = replace(KNOWN, name="other")
    found = current(pools.pools([made(A), made(B, machine=other), made(A, workload="cifar10_mlp")]))
    assert {(machine, case.workload) for machine, case in found} == {
        (KNOWN.slug, "mnist_mlp"),
        ("other", "mnist_mlp"),
        (KNOWN.slug, "cifar10_mlp"),
    }
    assert found[KNOWN.slug, made().case] is found["other", made().case]

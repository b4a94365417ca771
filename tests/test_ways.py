"""Other ways of a step: which there are, how their ratio is paired by host, and faster CPUs with fewer cores."""

import dataclasses

import factory
import msgspec
import pytest

from suite.report.parts import lead, rungs
from suite.results.pooled import ways as module
from suite.results.pooled.pools import current, pools
from suite.results.pooled.speedup import of_pools
from suite.results.pooled.ways import fewer_cores, ways
from suite.results.views.rows import slow_cpu_notes, state_cells

NOISE = (1.0, 1.01, 0.99)
replace = msgspec.structs.replace


def step(seconds=0.010, backend="cpu", **axes):
    return factory.record("mnist_mlp", backend, [seconds * share for share in NOISE], **axes)


def found(*records, shares=NOISE):
    """Return the current pools of records that were taken on as many hosts."""
    return current(pools(factory.on_hosts(records, shares)))


def others(found, **axes):
    """Return the ways beside the plain step of JAX, or beside the one with these axes."""
    (key,) = [key for key, pool in found.items() if pool.case == replace(step().case, **axes)]
    return ways(found)(key[0], found[key])


def cores(count, seconds, shares=NOISE):
    """Return the pool of a CPU with so many cores."""
    machine = replace(factory.PLAIN, cores=count, name=f"test-cpu, {count} cores")
    (pool,) = pools(factory.on_hosts([step(seconds, machine=machine)], shares))
    return pool


def among(*counts):
    """Return pools that share their components: of each count of cores and its seconds."""
    made = []
    for count, seconds in counts:
        machine = replace(factory.PLAIN, cores=count, name=f"test-cpu, {count} cores")
        made += factory.on_hosts([step(seconds, machine=machine)])
    return {pool.newest.machine.cores: pool for pool in pools(made)}


def test_ways_come_fastest_first_with_their_time_over_the_steps():
    table = others(found(step(), step(0.02, implementation="torch"), step(0.005, implementation="keras")))
    assert [(way.words, way.over.value) for way in table] == [
        ("keras", pytest.approx(0.5)),
        ("torch eager", pytest.approx(2.0)),
    ]


def test_a_way_of_another_batch_or_precision_or_of_stacked_fits_is_none():
    table = others(
        found(
            step(),
            step(0.02, batch=64, implementation="torch"),
            step(0.02, variant="stacked"),
            step(0.02, variant="nnx-jit"),
        )
    )
    assert [way.words for way in table] == ["jax nnx-jit"]


def test_stacked_fits_have_baselines_and_no_other_way_of_jax():
    table = others(found(step(), step(0.02, variant="stacked"), step(0.03, implementation="torch")), variant="stacked")
    assert [way.words for way in table] == ["torch eager"]


def test_a_ratio_is_paired_by_host_so_that_slow_hosts_do_not_widen_it():
    shares = (1.0, 3.0, 0.4, 2.0)
    (way,) = others(found(step(), step(0.02, implementation="torch"), shares=shares))
    assert way.over.value == pytest.approx(2.0)
    assert way.over.high / way.over.low < 1.1


def test_a_kind_of_one_host_borrows_how_much_ratios_differ_from_other_kinds():
    one = replace(factory.PLAIN, name="test-cpu, 4 cores")
    lone = factory.on_hosts([step(machine=one), step(0.03, implementation="torch", machine=one)], (1.0,))
    lone = [factory.sealed(replace(record, campaign="20260301-000000-lone", digest="")) for record in lone]
    several = factory.on_hosts([step()], (1.0, 3.0, 0.4))
    several += factory.on_hosts([step(0.02, implementation="torch")], (1.01, 2.98, 0.399))
    table = current(pools([*several, *lone]))
    (pool,) = [pool for (machine, case), pool in table.items() if machine == one.slug and case.implementation == "jax"]
    (way,) = ways(table)(one.slug, pool)
    assert way.over.value == pytest.approx(3.0)
    assert 1.0 < way.over.high / way.over.low < 1.2  # as ratios of the other kind do, whose times differ sevenfold


def in_own_campaigns(records):
    """Return the records, each implementation of a host in a campaign of its own."""
    return current(
        pools(
            factory.sealed(replace(record, campaign=f"{record.campaign}-{record.case.implementation}", digest=""))
            for record in records
        )
    )


def test_a_ratio_is_paired_by_host_where_the_sides_are_of_different_campaigns():
    records = factory.on_hosts([step(), step(0.02, implementation="torch")], (1.0, 3.0, 0.4, 2.0))
    (way,) = others(in_own_campaigns(records))
    assert way.over.value == pytest.approx(2.0)
    assert (way.over.hosts, way.over.high / way.over.low < 1.1) == (4, True)


def test_sides_of_different_campaigns_and_unknown_hosts_are_not_paired():
    records = [
        factory.sealed(replace(r, runs=tuple(replace(run, host="") for run in r.runs), digest=""))
        for r in factory.on_hosts([step(), step(0.02, implementation="torch")], (1.0, 3.0, 0.4, 2.0))
    ]
    (way,) = others(in_own_campaigns(records))
    assert way.over.value == pytest.approx(2.0)
    assert (way.over.hosts, way.over.processes) == (1, 12)  # all processes of a side as one host, no pair


def test_only_rounds_that_both_have_are_paired():
    longer = factory.record("mnist_mlp", "cpu", [0.02, 0.02, 0.02, 9.0], implementation="torch")
    (way,) = others(found(step(), longer))
    assert way.over.value == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize(
    ("others_of", "wanted"),
    [
        ([(2, 0.004)], 2),
        ([(2, 0.004), (1, 0.002)], 1),
        ([(2, 0.004), (1, 0.006)], 2),
        ([(2, 0.020)], None),  # slower
        ([(8, 0.001)], None),  # more cores
        ([(4, 0.001)], None),  # as many
        ([(2, 0.0099)], None),  # not surely faster
    ],
)
def test_the_fastest_cpu_with_fewer_cores_counts_if_it_is_surely_faster(others_of, wanted):
    calm = among((4, 0.010), *((count, seconds) for count, seconds in others_of if count != 4))
    rivals = [pool for count, pool in calm.items() if count != 4]
    rivals += [cores(4, seconds) for count, seconds in others_of if count == 4]
    way = fewer_cores(calm[4], rivals)
    assert (way and way.pool.newest.machine.cores) == wanted
    if way is not None:
        assert way.over.value == pytest.approx(dict(others_of)[wanted] / 0.010, rel=0.01)


def test_a_cpu_that_an_earlier_method_timed_makes_none_slow():
    calm = among((4, 0.010), (2, 0.004))
    earlier = [replace(record, method=0) for record in calm[2].records]
    assert fewer_cores(calm[4], [calm[2]]) is not None
    assert fewer_cores(calm[4], [dataclasses.replace(calm[2], records=tuple(earlier))]) is None


@pytest.mark.parametrize(("scope", "marked"), [("step", True), ("cold", False)])
def test_a_speed_up_beside_a_slow_cpu_says_so_in_its_row_its_note_and_the_first_sentences(scope, marked):
    few = replace(factory.PLAIN, name="few, 2 cores", cores=2, cpu_model="B few")
    sides = [step(scope=scope), step(0.001, "gpu", scope=scope), step(0.004, scope=scope, machine=few)]
    hosts = factory.on_hosts(sides[:2], NOISE) + factory.on_hosts(sides[2:], NOISE)
    (item,) = of_pools(current(pools(hosts)))
    assert item.slow_cpu.startswith("2 cores of B few")
    assert " take 0.40 (" in item.slow_cpu
    assert item.slow_cpu.endswith(") of the time of these 16")
    assert state_cells(item)[0].text == item.state + ", slow CPU" * marked
    notes = list(slow_cpu_notes([item, item]))
    assert ["0.40 (" in note and "2 cores of B few" in note for note in notes] == [True] * marked
    assert [note.endswith(" (step, copied).") for note in notes] == [scope == "transfer"] * marked
    (alone,) = of_pools(current(pools(factory.on_hosts(sides[:2], NOISE))))
    assert (alone.slow_cpu, state_cells(alone)[0].text) == ("", alone.state)
    if marked:
        words = [lead.of_model(rungs.rungs([one]), "mnist_mlp") for one in (item, alone)]
        assert ["The CPU beside it is slow: 2 cores of B few" in each for each in words] == [True, False]


def test_where_nothing_says_how_much_hosts_differ_no_cpu_with_fewer_cores_counts():
    alone = cores(2, 0.001, shares=(1.0,))
    assert alone.pooled.low is None
    assert fewer_cores(cores(4, 0.010, shares=(1.0,)), [alone]) is None


def test_what_a_way_takes_has_an_interval_if_there_is_one():
    known, alone = (
        others(found(step(), step(0.02, implementation="torch"), shares=shares))[0] for shares in (NOISE, (1.0,))
    )
    assert known.takes.startswith("torch eager takes 2.00 (")
    assert alone.takes == "torch eager takes 2.00"


def test_the_words_of_a_way_name_threads_and_the_systems_allocator():
    assert module.way_words(step(threads=8).case) == "jax with 8 threads"
    assert module.way_words(step(allocator="default-malloc").case) == "jax, default-malloc"
    assert module.way_words(step(backend="gpu", allocator="default-malloc").case) == "jax"


def test_a_certificate_without_a_baseline_is_undecided_for_that_reason():
    assert module.undecided(()) == "no baseline was timed on this CPU"

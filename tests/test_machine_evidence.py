"""What is known of a machine: its own records, pools and speed-ups, by workload, side and share of a time."""

import factory
import msgspec
import pytest

from suite.results.pooled import machine_evidence
from suite.results.pooled.machine_evidence import Evidence

SHARES = (1.0, 1.01, 0.99)
OTHER = msgspec.structs.replace(factory.HOST, name="another, 8 cores", cores=8, cpu_model="Another CPU 8")


def both_sides(name, machine=factory.HOST):
    return [factory.record(name, backend, [0.01 * noise for noise in SHARES], machine=machine)
            for backend in ("cpu", "gpu")]  # fmt: skip


@pytest.fixture
def two():
    """Evidence of two machines; the first measured two workloads."""
    records = [*both_sides("mnist_mlp"), *both_sides("mnist_cnn"), *both_sides("mnist_mlp", OTHER)]
    return machine_evidence.evidence(factory.on_hosts(records, SHARES))


def test_a_machine_has_its_own_records_pools_and_speed_ups_alone(two):
    assert len(two) == 2
    for slug, found in two.items():
        assert {record.machine.slug for record in found.records} == {slug}
        assert {pool.newest.machine.slug for pool in found.pools.values()} == {slug}
        assert {item.machine for item in found.speedups} == {slug}


def test_the_evidence_of_a_workload_has_nothing_of_others(two):
    found = two[factory.HOST.slug].of("mnist_cnn")
    assert {record.workload for record in found.records} == {"mnist_cnn"}
    assert {case.workload for case in found.pools} == {"mnist_cnn"}
    assert [item.workload for item in found.speedups] == ["mnist_cnn"]
    assert two[factory.HOST.slug].of() == Evidence(records=[], speedups=[])


def test_sides_are_those_that_fit_and_have_enough_pools(two):
    found = two[factory.HOST.slug]
    every = [pools[0].case for pools in found.sides(lambda record: True)]
    assert [(case.workload, case.backend) for case in every] == [
        ("mnist_cnn", "cpu"), ("mnist_cnn", "gpu"), ("mnist_mlp", "cpu"), ("mnist_mlp", "gpu"),
    ]  # fmt: skip
    assert [pools[0].case.workload for pools in found.sides(lambda record: record.workload == "mnist_mlp")] == [
        "mnist_mlp", "mnist_mlp",
    ]  # fmt: skip
    assert list(found.sides(lambda record: True, least=2)) == []


@pytest.mark.parametrize(("shares", "value", "has_interval"), [
    ((0.2, 0.2, 0.2), 0.2, True), ((0.0, 0.3, 0.9), 0.4, False), ((0.0, 0.0, 0.0), 0.0, False),
])  # fmt: skip
def test_a_share_is_the_mean_over_processes_without_an_interval_if_one_has_none(two, shares, value, has_interval):
    (pool, *_) = next(two[factory.HOST.slug].sides(lambda record: True))
    found = machine_evidence.share(pool, lambda record: shares[record.runs[0].round % 3])
    assert found.value == pytest.approx(value)
    assert (found.low is not None) is has_interval
    assert found.processes == 9


def test_a_share_counts_no_process_that_failed_and_none_without_it(two):
    (pool, *_) = next(two[factory.HOST.slug].sides(lambda record: True))
    assert machine_evidence.share(pool, lambda record: None) is None
    one = machine_evidence.share(pool, lambda record: 0.0 if record.runs[0].round else None)
    assert one.processes == 6

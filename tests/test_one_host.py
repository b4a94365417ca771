"""What one campaign on one host gives under its keys, and what speaks against each number."""

import factory
import msgspec
import pytest

from suite.results.cite import one_host

NOISE = (1.0, 1.01, 0.99)
replace = msgspec.structs.replace


def step(seconds=0.010, backend="cpu", **axes):
    return factory.record("mnist_mlp", backend, [seconds * share for share in NOISE], **axes)


CPU, GPU, TORCH = step(), step(0.001, "gpu"), step(0.009, implementation="torch")


def given(*records):
    """Return the numbers of records by backend and metric, JAX's alone."""
    return {
        (number.record.backend, number.key.metric): number
        for number in one_host.numbers(records)
        if number.record.case.implementation == "jax"
    }


def with_runs(record, **changes):
    runs = tuple(replace(run, **changes) for run in record.runs)
    return factory.sealed(replace(record, runs=runs, digest=""))


def test_a_speed_up_is_of_one_host_and_open_with_nothing_against_it():
    number = given(CPU, GPU, TORCH)["gpu", "speedup"]
    assert (number.state, number.reasons, number.pooled) == ("open", (), False)
    assert (number.value.value, number.value.hosts) == (pytest.approx(10), 1)


def test_a_speed_up_whose_cpu_is_not_used_well_says_so_and_its_times_do_not():
    numbers = given(CPU, GPU, step(0.005, implementation="torch"))
    assert "not certified" in numbers["gpu", "speedup"].reasons
    assert numbers["gpu", "seconds"].reasons == ()
    assert "not certified" not in given(CPU, GPU, TORCH)["gpu", "speedup"].reasons


def test_sides_that_did_not_compute_the_same_make_the_speed_up_invalid_and_no_time():
    numbers = given(CPU, with_runs(GPU, first_loss=9.0), TORCH)
    assert numbers["gpu", "speedup"].state == "invalid"
    assert any(reason.startswith("not the same") for reason in numbers["gpu", "speedup"].reasons)
    assert numbers["gpu", "seconds"].state == "open"


def test_one_process_has_no_interval_and_says_so():
    number = given(factory.record("mnist_mlp", "cpu", [0.010]))["cpu", "seconds"]
    assert number.reasons == ("one process, no interval",)


def test_a_number_of_a_provisional_schema_says_so():
    number = given(replace(CPU, schema="result/0"))["cpu", "seconds"]
    assert "result/0 was provisional" in number.reasons


def test_a_speed_up_with_a_side_that_lacks_rounds_says_what_that_side_lacks():
    lacking = factory.sealed(replace(CPU, rounds=4, digest=""))
    number = given(lacking, GPU, TORCH).get(("gpu", "speedup"))
    assert number is None or any("missing" in reason for reason in number.reasons)
    (seconds,) = [n for n in one_host.numbers([lacking]) if n.key.metric == "seconds"]
    assert any("missing" in reason for reason in seconds.reasons)


def test_a_record_gives_its_number_beside_its_own_campaign_alone():
    elsewhere = factory.sealed(replace(CPU, campaign="20260202-000000-other", digest=""))
    assert one_host.of_record(GPU, "speedup", [elsewhere]) is None
    assert one_host.of_record(GPU, "speedup", [CPU, elsewhere]).value.value == pytest.approx(10)


def test_a_metric_that_a_record_does_not_have_is_none():
    assert one_host.of_record(CPU, "latency-p50", []) is None

"""A reference kernel is tried as a covariate: what explains how hosts differ narrows the spread, else nothing does."""

import random

import factory
import msgspec
import pytest

from suite.report.pages import trust as report
from suite.results.compare.covariates import covariates
from suite.results.compare.reproducibility import reproducibility
from suite.results.pooled import pools
from suite.results.records.run import ReferenceKernel

MACHINE = msgspec.structs.replace(factory.HOST, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=143)
WORKLOADS = ("mnist_mlp", "cifar10_mlp", "mnist_cnn", "imdb_text_cnn")


def process(number, host, seconds, speed):
    kernel = ReferenceKernel(matmul_flop_per_second=1e12, copy_bytes_per_second=speed, seconds=1.0)
    return factory.run(number, seconds, host=f"{host:016x}", kernel=kernel)


def world(times, speeds):
    """Pools of all workloads on hosts with these step times and speeds of the copy kernel."""
    return pools.pools(
        factory.record(
            name,
            "cpu",
            machine=MACHINE,
            campaign=f"2026010{host}",
            created=f"2026-01-01T00:00:0{host}Z",
            runs=tuple(process(n, host, (1 + place) * time * (1 + n / 1000), speed) for n in range(2)),
        )
        for place, name in enumerate(WORKLOADS)
        for host, (time, speed) in enumerate(zip(times, speeds, strict=True))
    )


def copy_of(found):
    (one,) = (each for each in covariates(found) if each.kernel == "copy")
    return one


def test_a_kernel_that_is_as_fast_as_the_steps_explains_all_that_hosts_differ_by():
    speeds = [1e10, 1.1e10, 1.2e10, 0.9e10, 1.05e10]
    one = copy_of(world([0.01 * 1e10 / speed for speed in speeds], speeds))
    assert one.slope == pytest.approx(-1, abs=0.01)
    assert (one.hosts, len(one.pools)) == (5, 4)
    assert one.before > 0.05
    assert one.after < 0.01
    assert one.worth_it


def test_a_kernel_that_has_nothing_to_do_with_the_steps_is_not_worth_it():
    rng = random.Random(1)
    times, speeds = ([scale * rng.lognormvariate(0, 0.1) for _ in range(6)] for scale in (0.01, 1e10))
    one = copy_of(world(times, speeds))
    assert one.after > 0.8 * one.before
    assert not one.worth_it


def test_a_host_is_corrected_by_the_slope_of_the_others_alone():
    """One host makes the slope; the others agree. Fitted to itself it would be explained, and nothing foretells it."""
    one = copy_of(world([0.01, 0.01, 0.01, 0.02], [1e10, 1e10, 1e10, 2e10]))
    assert one.slope == pytest.approx(1, abs=0.01)
    assert one.after > 0.7 * one.before


def test_two_models_are_too_few_to_trust_a_kernel(monkeypatch):
    monkeypatch.setattr(f"{__name__}.WORKLOADS", WORKLOADS[:2])
    speeds = [1e10, 1.1e10, 1.2e10, 0.9e10]
    one = copy_of(world([0.01 * 1e10 / speed for speed in speeds], speeds))
    assert one.after < 0.01
    assert not one.worth_it


def test_a_kernel_of_one_speed_has_no_slope():
    (matmul,) = (each for each in covariates(world([0.01, 0.011, 0.012], [1e10] * 3)) if each.kernel != "copy")
    assert (matmul.slope, matmul.after) == (0.0, matmul.before)


def test_two_hosts_tell_nothing_of_a_kernel():
    assert not list(covariates(world([0.01, 0.011], [1e10, 1.1e10])))


def test_hosts_without_a_kernel_are_not_counted():
    assert not list(covariates(pools.pools(factory.record("mnist_mlp", "cpu", machine=MACHINE) for _ in range(3))))


def test_pools_without_a_kernel_are_not_counted_either():
    speeds = [1e10, 1.1e10, 1.2e10]
    bare = [
        factory.record("gbdt_mortgage", "cpu", machine=MACHINE, campaign=f"2026020{host}",
                       runs=tuple(factory.run(n, 0.01, host=f"{host:016x}") for n in range(2)))
        for host in range(3)
    ]  # fmt: skip
    one = copy_of([*world([0.01, 0.011, 0.012], speeds), *pools.pools(bare)])
    assert {pool.case.workload for pool in one.pools} == set(WORKLOADS)


def test_short_steps_have_rows_that_say_so():
    speeds = [1e10, 1.1e10, 1.2e10]
    found = [*covariates(world([0.01, 0.011, 0.012], speeds)), *covariates(world([1e-5, 1.1e-5, 1.2e-5], speeds))]
    assert [row[2].text for row in report.covariates(found).rows] == ["–", "–", "below 200 µs", "below 200 µs"]


@pytest.mark.parametrize(("explains", "said"), [(True, "it is worth using"), (False, "no number is corrected")])
def test_the_page_says_whether_a_kernel_is_used(explains, said):
    speeds = [1e10, 1.1e10, 1.2e10, 0.9e10]
    times = [0.01 * 1e10 / speed for speed in speeds] if explains else [0.01, 0.011, 0.009, 0.0105]
    page = report.page([], reproducibility(world(times, speeds)))
    assert said in page
    assert "Reference kernels as covariates" in page

"""Whole runs on a machine that lacks something: one clear line or a record with a reason, nothing made smaller."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from suite.results.records import store
from suite.results.single.summary import summary

ROOT = Path(__file__).parent.parent


def ran(folder, *arguments, workload="dp_linear_mirrored", **env):
    """Run the smallest workload in a process of its own; return its exit code, what it said, and its records."""
    command = [sys.executable, "-m", "suite", "run", workload, "--profile", "smoke", "--backend", "cpu"]
    answer = subprocess.run(
        [*command, "--out", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
        # A lock of its own: another run on this machine is no matter of the test's.
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder), **env},
        cwd=folder,
    )
    records, problems = store.load([folder])
    assert problems == ()
    return answer.returncode, " ".join((answer.stdout + answer.stderr).split()), records


def test_no_memory_is_a_record_with_its_reason_and_its_batch(tmp_path):
    batch = 10**13  # 80 TB, which no machine gives
    code, said, records = ran(tmp_path, "--batch", str(batch))
    assert code == 1, "nothing has a result"
    assert records
    for record in records:
        assert "out of memory" in record.reason
        assert record.case.batch == batch
        assert all(not run.samples for run in record.runs)
    assert "out of memory" in said


@pytest.mark.slow
def test_a_run_of_which_nothing_makes_sense_fails(tmp_path):
    code, said, records = ran(tmp_path, "--batch", "1", "--scope", "step", workload="gbdt_mortgage")
    assert [summary(record).state for record in records] == ["invalid"]
    assert code == 1, said


@pytest.mark.parametrize("variant", ["scan", pytest.param("nnx-jit", marks=pytest.mark.slow)])
def test_a_variant_gives_a_record_of_its_own(tmp_path, variant):
    code, _, records = ran(tmp_path, "--variant", variant, "--scope", "step")
    assert code == 0
    assert [(r.case.variant, r.reason, len(r.runs)) for r in records] == [(variant, "", 1)]
    assert f"variant-{variant}" in records[0].name


@pytest.mark.slow
def test_a_home_that_cannot_be_written_does_not_matter(tmp_path):
    nowhere = "/dev/null/home"  # which refuses even root
    env = {"HOME": nowhere, "XDG_CACHE_HOME": f"{nowhere}/.cache", "XDG_CONFIG_HOME": f"{nowhere}/.config"}
    code, said, records = ran(tmp_path, "--scope", "step", **env)
    assert code == 0, said
    assert [r.reason for r in records] == [""]


def test_data_without_a_home_to_keep_it_in_names_the_variable(tmp_path):
    from suite.data import store as data

    code = "from suite.data import store; store.prepare('mnist')"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": "/dev/null/home", "XDG_CACHE_HOME": "/dev/null/home/.cache"}
    env.pop(data.VARIABLE, None)
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    last = answer.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: cannot write dataset 'mnist' to '/dev/null/home")
    assert "set SUITE_DATA to a folder you may write to" in last


@pytest.fixture
def two_cores():
    """The process and its children on two cores, where steps made ahead would wait for each other for ever."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("cores cannot be chosen here")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:2])
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.slow
@pytest.mark.usefixtures("two_cores")
def test_devices_are_split_over_in_a_whole_run_on_as_few_cores(tmp_path):
    code, said, records = ran(tmp_path, "--devices", "2", "--scope", "step")
    assert code == 0, said
    assert [(r.case.devices, r.reason) for r in records] == [(2, "")]


def test_a_batch_that_does_not_divide_ends_the_run_before_anything_is_measured(tmp_path):
    code, said, records = ran(tmp_path, "--devices", "2", "--batch", "9")
    assert code == 1
    assert "batch 9 of 'dp_linear_mirrored' does not divide over 2 devices" in said
    assert records == ()

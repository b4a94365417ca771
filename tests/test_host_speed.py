"""What fixed kernels reach before a process on the CPU: of a child of its own, whatever the user's BLAS is told."""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import campaigns
import factory
import msgspec
import pytest

from suite.case import Case
from suite.driver import collect, forecast, profiles, runner
from suite.results.records.run import ReferenceKernel
from suite.telemetry import host_speed, kernel
from suite.worker_api.protocol import Message, Task

REACHED = ReferenceKernel(matmul_flop_per_second=1e11, copy_bytes_per_second=2e10, seconds=1.0)
PLAN = profiles.plan("quick", "cpu")


class FakeClock:
    def __init__(self):
        self.now = 0.0

    def wall(self):
        return self.now

    process = wall


class Ends:
    """A worker that ends well as soon as it has its task."""

    pid, heard = 1, 0.0

    def __init__(self, at, order):
        self.at, self.order = at, order

    def tell(self, line):
        self.order.append("task")

    def line(self, timeout_seconds):
        self.heard = self.at.now
        return msgspec.json.encode(Message(stage="done", report=factory.FACTS))


def process(reference):
    """Return the run, the order of things and what was told, of a process with that reference kernel."""
    at, order, told = FakeClock(), [], []

    @contextmanager
    def start(unit):
        order.append("started")
        at.now += 3.0
        yield Ends(at, order)

    def waits():
        order.append("quiet")
        at.now += 5.0

    def runs():
        order.append("kernel")
        at.now += 7.0
        return reference()

    task = Task(cases=(factory.record().case,), dataset="mnist", seed=0, plan=PLAN, flow=PLAN)
    (done,) = collect.run_child(
        task, 0, 0, told.append, start, clocks=at, wait=waits, kernel=runs if reference else None
    )
    return done.run, order, told, at.now


def test_the_kernels_run_while_the_worker_waits_for_its_task_in_a_stage_of_their_own():
    run, order, told, lived = process(lambda: REACHED)
    assert order == ["started", "quiet", "kernel", "task"]
    stages = {stage.name: stage.wall_seconds for stage in run.stages}
    assert [stages[name] for name in ("quiet", "kernel", "start")] == [5.0, 7.0, 3.0]
    assert sum(stages.values()) == pytest.approx(lived)
    assert (run.kernel, told) == (REACHED, ["kernel"])


def test_kernels_that_fail_are_told_and_stop_nothing():
    def fails():
        raise RuntimeError("the reference kernels took more than 20 s")

    run, order, told, _ = process(fails)
    assert (run.kernel, run.reason, order[-1]) == (None, "", "task")
    assert told == ["kernel", "no reference kernel: the reference kernels took more than 20 s"]


def test_without_kernels_there_is_no_stage_of_theirs():
    run, order, told, _ = process(None)
    assert run.kernel is None
    assert "kernel" not in {*order, *told, *(stage.name for stage in run.stages)}


@pytest.mark.parametrize(
    ("backend", "profile", "has"), [("cpu", "quick", True), ("cpu", "smoke", False), ("gpu", "quick", False)]
)
def test_processes_on_the_cpu_have_kernels_but_not_in_smoke(backend, profile, has):
    case = Case(workload="mnist_mlp", backend=backend, scope="step", batch=128)
    assert runner.has_kernel(campaigns.plan(case, profile=profile), (case,)) is has
    about, effort = factory.description(), profiles.EFFORTS[profile]
    less = forecast.process_seconds((case,), about, replace(effort, kernel=False), 4)
    assert forecast.process_seconds((case,), about, effort, 4) - less == pytest.approx(1.3 if has else 0.0)


def test_the_child_has_the_threads_that_it_is_told_and_none_of_the_users_settings(monkeypatch):
    theirs = {"OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem", "MALLOC_ARENA_MAX": "1", "LD_PRELOAD": "x"}
    monkeypatch.setattr(host_speed.os, "environ", theirs | {"HOME_OF_MINE": "y", "LD_PRELOADED": "z"})
    blas = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    told = dict.fromkeys(blas, "3")
    assert host_speed.environment(3) == {"HOME_OF_MINE": "y", "LD_PRELOADED": "z", **told}


@pytest.mark.parametrize(
    ("cores", "quota", "threads"), [(8, None, 8), (8, 2.5, 3), (2, 8.0, 2), (4, 0.5, 1), (4, 0.0, 1)]
)
def test_a_thread_runs_on_each_granted_core_that_a_quota_leaves(monkeypatch, cores, quota, threads):
    monkeypatch.setattr(host_speed, "granted_cores", lambda: cores)
    monkeypatch.setattr(host_speed, "cpu_quota_cores", lambda groups: quota)
    assert host_speed.granted_threads() == threads


def test_small_kernels_reach_something_and_are_repeated_for_at_least_so_long():
    assert kernel.matmul_flop_per_second(side=64, seconds=0.0) > 0
    assert kernel.copy_bytes_per_second(2, copied_bytes=2**16, seconds=0.0) > 0
    at = FakeClock()

    def run():
        at.now += 0.25

    assert kernel.repeated(run, 0.75, at) == (3, 0.75)
    assert kernel.repeated(run, 0.0, at) == (1, 0.25)


def test_the_kernels_run_in_a_child_without_jax_of_the_python_that_runs_jax(monkeypatch):
    asked = []
    monkeypatch.setattr(host_speed.children, "interpreter", lambda name: asked.append(name) or sys.executable)
    found = host_speed.measured(limit_seconds=60.0)
    assert asked == ["jax"]
    assert found.matmul_flop_per_second > 1e8
    assert found.copy_bytes_per_second > 1e7
    assert 0 < found.seconds < 60


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("raise SystemExit('no BLAS')", "^the reference kernels' process ended with exit code 1: no BLAS$"),
        ("import time; time.sleep(60)", "^the reference kernels took more than 0 s$"),
        ("print('something else')", "^the reference kernels failed: "),
        (
            'print(\'{"matmul_flop_per_second": 0, "copy_bytes_per_second": 1.0, "seconds": 1.0}\')',
            "^the reference kernels reached 0 FLOP/s and 1 bytes/s$",
        ),
    ],
)
def test_kernels_that_cannot_be_had_say_why(tmp_path, monkeypatch, source, error):
    (tmp_path / "own_kernel.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError, match=error):
        host_speed.measured(0.0 if "sleep" in source else 60.0, "own_kernel")


def test_any_rate_above_nothing_is_one(tmp_path, monkeypatch):
    said = '{"matmul_flop_per_second": 1, "copy_bytes_per_second": 0.5, "seconds": 1.0}'
    (tmp_path / "slow_kernel.py").write_text(f"print({said!r})")
    monkeypatch.syspath_prepend(tmp_path)
    found = host_speed.measured(60.0, "slow_kernel")
    assert (found.matmul_flop_per_second, found.copy_bytes_per_second) == (1, 0.5)


def test_the_child_imports_no_jax():
    code = (
        "import sys, suite.telemetry.kernel; sys.exit(not {'jax', 'suite.processes.children'}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

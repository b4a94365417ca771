"""A whole run of the tests that costs too much is said, whatever the machine; a part of it is not."""

import subprocess
import sys
from types import SimpleNamespace

import cost
import pytest
from cost import LIMIT_SECONDS, LONG_SECONDS, YARDSTICK_SECONDS, Cost


def counted(seconds, slower=1, **chosen):
    usual = {"file_or_dir": [], "keyword": "", "markexpr": "not slow"}
    found = Cost(SimpleNamespace(option=SimpleNamespace(**(usual | chosen))))
    half = [slower * seconds / 2, [slower * YARDSTICK_SECONDS] * 3]
    found.add(*half, {"one": slower * (LONG_SECONDS + 1.0)})
    found.add(*half, {"two": slower * (LONG_SECONDS - 1.0)})
    return found


@pytest.mark.parametrize("slower", [0.5, 1, 3])
def test_processes_together_may_take_so_much_on_any_machine(slower):
    assert counted(LIMIT_SECONDS + 1, slower).over
    assert not counted(LIMIT_SECONDS - 1, slower).over


@pytest.mark.parametrize("part", [{"file_or_dir": ["tests/test_cost.py"]}, {"keyword": "cost"}, {"markexpr": "slow"}])
def test_a_part_of_the_tests_has_no_limit(part):
    assert not counted(9 * LIMIT_SECONDS, **part).over


def test_the_dearest_come_first_and_of_what_takes_long_it_is_asked_whether_it_is_slow():
    one, two, together = counted(LIMIT_SECONDS, slower=2).lines()
    assert one.split() == [f"{LONG_SECONDS + 1:.1f}", "s", "one", "-", "slow?"]
    assert two.split() == [f"{LONG_SECONDS - 1:.1f}", "s", "two"]
    assert together.split()[:4] == ["780", "s", "of", "780"]


@pytest.mark.parametrize(("ci", "seconds", "status"), [("true", 1e5, 1), ("", 1e5, 0), ("true", 1, 0)])
def test_a_whole_run_that_costs_too_much_fails_where_changes_are_judged(monkeypatch, ci, seconds, status):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(cost, "cpu_seconds", lambda: 0.0)
    session = SimpleNamespace(exitstatus=0)
    counted(seconds).pytest_sessionfinish(session)
    assert session.exitstatus == status


def test_what_a_process_of_the_tests_counted_is_added_up_in_the_first_one(monkeypatch):
    monkeypatch.setattr(cost, "cpu_seconds", lambda: 5.0)
    worker, first = counted(2.0), counted(1.0)
    worker.config.workeroutput = {}
    worker.pytest_sessionfinish(SimpleNamespace(exitstatus=0))
    first.pytest_testnodedown(SimpleNamespace(workeroutput=worker.config.workeroutput))
    first.pytest_testnodedown(SimpleNamespace())  # one that crashed
    assert (first.seconds, len(first.yards)) == (8.0, 12)


def test_the_time_of_children_counts():
    before = cost.cpu_seconds()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass"], check=True)
    assert cost.cpu_seconds() - before > 0.15

"""Whatever a run has started ends with it, even if the run is killed and its worker hangs."""

import io
import os
import select
import subprocess
import sys
from pathlib import Path

import factory
import msgspec
import pytest

from suite.driver import profiles
from suite.worker import main
from suite.worker_api.protocol import Task

ROOT = Path(__file__).parent.parent
PARENT = """
import os, signal, sys
from suite.processes.children import Child

child = Child("worker", *sys.argv[1:], python=sys.executable, env=dict(os.environ))
child.tell(b"{}")
assert child.line(60) == b"begun\\n"
os.kill(os.getpid(), signal.SIGKILL)
"""
WORKER = """
import ctypes, os, signal, subprocess, sys
from suite.processes import parent_death

how, alive = sys.argv[1], int(sys.argv[2])  # whoever lives holds `alive`, the end of a pipe to the test
alive = os.open(f"/proc/{os.getppid()}/fd/{alive}", os.O_WRONLY)
sys.stdin.buffer.readline()
parent_death.exit_when_parent_exits()
if "processes" in how:
    parent_death.end_group_with_parent()
    subprocess.Popen(["sleep", "1000"], pass_fds=[alive])
print("begun", flush=True)
if "ignores" in how:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "stopped" in how:
    os.kill(os.getpid(), signal.SIGSTOP)
if "holds" in how:
    ctypes.PyDLL(None).sleep(1000)  # without letting another thread of Python run
signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends a worker that is stopped on Linux alone")
@pytest.mark.parametrize("processes", ["", " and has processes of its own"])
@pytest.mark.parametrize("how", ["waits", "ignores SIGTERM", "is stopped", "holds the interpreter"])
def test_a_worker_ends_when_the_run_is_killed(tmp_path, how, processes):
    (tmp_path / "worker.py").write_text(WORKER)
    read, write = os.pipe()
    subprocess.run(
        [sys.executable, "-c", PARENT, how + processes, str(write)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"},
        pass_fds=[write],
        check=False,
    )
    os.close(write)
    ended = select.select([read], [], [], 20)[0]
    assert ended, "something holds the pipe"
    assert os.read(read, 1) == b""
    os.close(read)


@pytest.mark.parametrize(("scope", "whole_group"), [("input", True), ("epoch", True), ("step", False), ("cold", False)])
def test_a_worker_takes_its_processes_along_if_its_loader_may_start_some(monkeypatch, scope, whole_group):
    calls = []
    plan, flow = profiles.plan("smoke", "cpu"), profiles.flow("smoke")
    task = Task(cases=(factory.record(scope=scope).case,), dataset="mnist", seed=0, plan=plan, flow=flow)
    lines = io.TextIOWrapper(io.BytesIO(msgspec.json.encode(task) + b"\n"))
    for place, name, value in (
        (main.sys, "stdin", lines),
        (main.os, "dup", lambda number: number),
        (main.os, "dup2", lambda *_: None),
        (main.os, "fdopen", lambda *_, **__: io.BytesIO()),
        (main.os, "_exit", calls.append),
        (main, "measure", lambda *_: calls.append("measure")),
        (main.parent_death, "exit_when_parent_exits", lambda: calls.append("worker")),
        (main.parent_death, "end_group_with_parent", lambda: calls.append("group")),
    ):
        monkeypatch.setattr(place, name, value)
    main.main()
    assert calls == ["worker", *(["group"] if whole_group else []), "measure", 0]

"""One step over several hosts, which are processes on loopback here: the same training as on one."""

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, cast

import jax
import msgspec
import numpy as np
import psutil
import pytest

from suite.case import Case
from suite.driver.plan import experiment_of
from suite.driver.request import Request
from suite.driver.validation import check_hosts
from suite.multihost import follower, hosts, messages
from suite.multihost.messages import Call, Hello, HostFailed, packed, send, unpacked
from suite.results.records import store
from suite.results.single.summary import summary

ROOT = Path(__file__).parent.parent


@pytest.fixture
def address():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


def suite(*words, lock="/tmp"):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": lock}
    return subprocess.Popen([sys.executable, "-m", "suite", *words], env=env, stderr=subprocess.PIPE, text=True)


def run(out, *words):
    """Start a run; the lock that lets one measure at a time lies in its own folder."""
    usual = ("--backend", "cpu", "--profile", "smoke", "--scope", "step", "--out", str(out))
    return suite("run", "dp_linear_mirrored", *usual, *words, lock=str(out.parent))


@pytest.mark.slow
def test_two_hosts_train_as_one_does(tmp_path, address):
    """Two processes of two devices each; the loss after all steps that the audit replays is that of one device."""
    with (
        run(tmp_path / "two", "--hosts", "2", "--devices", "4", "--address", address) as first,
        suite("join", address, "--patience", "4") as second,
    ):
        said, followed = first.communicate(timeout=300)[1], second.communicate(timeout=60)[1]
    assert (first.returncode, second.returncode) == (0, 0), said + followed
    waiting = f"waiting for '{address}'"
    part = "taking part in dp_linear_mirrored cpu step, as host 2 of 2"
    assert followed.splitlines() == [waiting, part, waiting, "took part in 1 process"]
    assert "did not hear" not in said
    with run(tmp_path / "one") as alone:
        said = alone.communicate(timeout=300)[1]
    assert alone.returncode == 0, said
    ((two,), none), ((one,), also_none) = (store.load([tmp_path / name]) for name in ("two", "one"))
    assert not none
    assert not also_none
    assert not two.reason
    assert (two.case.hosts, two.case.devices) == (2, 4)
    replays = [audit.replay for record in (two, one) if (audit := record.runs[0].audit)]
    for name in ("first", "once", "twice", "together", "other_inputs", "other_seed", "other_seed_twice"):
        assert math.isclose(*(getattr(replay, name) for replay in replays), rel_tol=1e-5), name


def test_nobody_who_follows_is_said(tmp_path, address):
    case = Case(workload="cifar10_mlp", backend="cpu", scope="step", batch=32, devices=2, hosts=2)
    with pytest.raises(RuntimeError, match=f"1 came within 0 s; run 'suite join {address}' on each"):
        hosts.gathered(case, address, 0.05)


TWO = Case(workload="cifar10_mlp", backend="cpu", scope="step", batch=32, devices=2, hosts=2)


@contextmanager
def said_to(address, *messages):
    """Say to the host at an address, from a thread, one message after another, each over its own connection."""

    def speak():
        for message in messages:
            with hosts.connected(address, 10) as connection, suppress(EOFError, OSError):
                if isinstance(message, bytes):
                    os.write(connection.fileno(), message)
                else:
                    send(connection, message)
                connection.recv_bytes()

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    yield
    speaker.join(timeout=20)
    assert not speaker.is_alive()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"software": {"commit": "abc"}}, "has other software: commit==abc there.*; install the same on all"),
        ({"machine": {"cores": "999"}}, "is another machine: cores==999 there.*; take hosts that are alike"),
        ({"machine": {"GPUs": "T4"}}, "is another machine: GPUs==T4 there.*; take hosts that are alike"),
    ],
)
def test_a_host_that_is_not_alike_is_refused(address, changes, said):
    mine = messages.hello()
    assert all(getattr(mine, name).keys() >= other.keys() for name, other in changes.items())
    there = {name: getattr(mine, name) | changes.get(name, {}) for name in ("software", "machine")}
    with said_to(address, Hello(host="b", **there)), pytest.raises(RuntimeError, match=f"host 'b' {said}"):
        hosts.gathered(TWO, address, 10)


def test_a_host_that_is_refused_says_why(address):
    """Its first host tells it, and it ends with that in one line."""
    with suite("join", address, "--patience", "0.2") as follower:
        host, _, port = address.rpartition(":")
        with socket.create_server((host, int(port))) as server:
            server.settimeout(60)
            connection, there = messages.greeted(server.accept()[0]) or (None, None)
        assert connection
        assert there
        first = msgspec.structs.replace(there, software=there.software | {"jax": "0.1"})
        with connection:
            send(connection, HostFailed(reason=messages.unlike(there, first)))
            said = follower.communicate(timeout=60)[1]
    assert follower.returncode == 1
    assert f"'{address}' refuses this host: host '" in said
    assert "jax==0.1 here; install the same on all" in said


def test_who_finds_the_port_by_chance_is_no_host(address, monkeypatch):
    monkeypatch.setattr(messages, "_SECONDS", 0.2)  # that each may take to say who it is
    strays = (b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00\x00\x02{}", b"", Call(name="chain"))
    with said_to(address, *strays), pytest.raises(RuntimeError, match="2 hosts asked for, 1 came within"):
        hosts.gathered(TWO, address, 8)


def taking_part(follower, patience_seconds=60):
    """Return the process of a follower that has joined the first host's, in JAX too."""
    end = time.monotonic() + patience_seconds
    while time.monotonic() < end:
        for process in psutil.Process(follower.pid).children():
            with suppress(psutil.NoSuchProcess):
                if sum(c.status == psutil.CONN_ESTABLISHED for c in process.net_connections()) > 1:
                    return process
        time.sleep(0.02)
    raise AssertionError("no process has joined")


@pytest.mark.slow
def test_a_host_that_is_lost_ends_what_it_took_part_in_and_no_number_comes_of_it(tmp_path, address):
    words = ("--hosts", "2", "--devices", "2", "--address", address)
    with run(tmp_path / "two", *words) as first, suite("join", address, "--patience", "4") as second:
        taking_part(second).kill()
        said = first.communicate(timeout=120)[1]
        second.terminate()
        second.communicate(timeout=60)
    assert first.returncode == 1
    assert "Traceback" not in said
    (found,), none = store.load([tmp_path / "two"])
    assert not none
    assert "another host failed: its connection closed" in found.runs[0].reason
    assert (summary(found).lacking, summary(found).seconds) == (True, None)


def test_nobody_who_leads_is_said(address):
    with suite("join", address, "--patience", "0.01") as follower:
        said = follower.communicate(timeout=60)[1]
    assert follower.returncode == 1
    assert said.splitlines()[-1].startswith(f"Error: nobody answered at '{address}'")


def test_a_first_host_that_ends_before_a_case_is_no_case_taken_part_in(address):
    def leaves(server):
        connection, _ = messages.greeted(server.accept()[0]) or (None, None)
        assert connection
        connection.close()

    host, _, port = address.rpartition(":")
    with socket.create_server((host, int(port))) as server:
        server.settimeout(60)
        there = threading.Thread(target=leaves, args=(server,))
        there.start()
        with pytest.raises(hosts.LeftError, match="ended before a case began; see its messages"):
            hosts.follow(address, 0.2, print)
        there.join()


def test_who_comes_when_all_has_ended_is_told_so(address):
    with suite("join", address, "--patience", "1") as late:
        assert hosts.shut_down(2, address, 15) == 1
        said = late.communicate(timeout=60)[1]
    assert late.returncode == 1
    assert said.splitlines()[-1] == f"Error: '{address}' ended without this host; run both again"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (hosts.NobodyError("nobody answered"), hosts.NOBODY),
        (hosts.LeftError("it left"), hosts.LEFT),
        (jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED"), 1),
    ],
)
def test_only_a_host_that_nobody_answers_ends_as_one(monkeypatch, error, code):
    def follow(*_):
        raise error

    ended = []
    monkeypatch.setattr(follower.hosts, "follow", follow)
    monkeypatch.setattr(follower.parent_death, "exit_when_parent_exits", lambda: None)
    monkeypatch.setattr(follower.sys, "argv", ["follower", "127.0.0.1:1", "1"])
    monkeypatch.setattr(follower.os, "_exit", ended.append)
    follower.main()
    assert ended[0] == code


def test_who_says_half_of_a_hello_is_not_waited_for(address, monkeypatch):
    monkeypatch.setattr(messages, "_SECONDS", 0.2)
    begun = time.monotonic()
    with said_to(address, b"\x00\x00\x00\x20{"), pytest.raises(RuntimeError, match="2 hosts asked for, 1 came within"):
        hosts.gathered(TWO, address, 2)
    assert time.monotonic() - begun < 60  # not for ever


def test_arrays_travel_as_they_are():
    for array in (np.arange(6, dtype=np.uint8).reshape(2, 3), np.float32(3), np.zeros((0, 2), np.int64)):
        again = unpacked(packed(np.asarray(array)))
        assert again.dtype == np.asarray(array).dtype
        np.testing.assert_array_equal(again, array)


class Wire:
    """A connection that hands over what it is given."""

    def __init__(self, *messages):
        self.messages = list(messages)

    def recv_bytes(self):
        return msgspec.msgpack.encode(self.messages.pop(0))


def test_what_no_program_of_several_hosts_does_is_refused():
    told = hosts.calls(cast(Any, Wire(Call(name="chain", number=3), Call(name="__class__"))))
    assert next(told).number == 3
    with pytest.raises(ValueError, match="is not a call that hosts share"):
        next(told)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((2, 3, ("step",), (), ()), "choose a multiple of 2"),
        ((2, 1, ("step",), (), ()), "choose a multiple of 2"),
        ((2, 4, ("epoch",), (), ()), "--scope 'epoch' asked for on 2 hosts, which have: step, transfer, cold"),
        ((2, 4, ("step",), ("nnx-jit",), ()), "--variant 'nnx-jit' asked for on 2 hosts"),
        (
            (2, 4, ("step",), (), ("tuned-malloc",)),
            "--allocator 'tuned-malloc' asked for on 2 hosts, which have: default-malloc",
        ),
    ],
)
def test_what_several_hosts_cannot_do_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        check_hosts(Request(**dict(zip(("hosts", "devices", "scopes", "variants", "allocators"), given, strict=True))))


@pytest.mark.parametrize("words", [("--hosts", "2"), ("--address", "here:1"), ("--hosts", "2", "--address", "here")])
def test_hosts_need_an_address(tmp_path, words):
    with run(tmp_path / "out", *words) as refused:
        said = refused.communicate(timeout=60)[1]
    assert refused.returncode == 1
    assert "address" in said


@pytest.mark.parametrize("host", ["nobody.invalid", "203.0.113.7", "127.0.0.1"])
def test_an_address_at_which_this_machine_cannot_listen_is_refused_at_once(tmp_path, host):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ("--hosts", "2", "--devices", "2", "--address", f"{host}:{taken.getsockname()[1]}")
        with run(tmp_path / "out", *words) as refused:
            said = refused.communicate(timeout=60)[1]
    assert refused.returncode == 1
    assert "this machine cannot listen there (" in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_hosts_are_decided_by_no_experiment():
    with pytest.raises(ValueError, match="--hosts asked for with experiment"):
        experiment_of(Request(experiment="threads", hosts=2))


class Ended:
    """A process of a follower that has ended so."""

    def __init__(self, code, said=""):
        self._code, self._said = code, said

    def line(self, _):
        return None

    def code(self):
        return self._code

    def ended(self):
        return f"ended with {self._code}: {self._said}"

    def last_error(self):
        return self._said


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ((0, 0, hosts.SHUT_DOWN), None),
        ((hosts.LEFT, 0, hosts.LEFT, 0, hosts.SHUT_DOWN), None),
        ((hosts.SHUT_DOWN,), "'h:1' ended without this host"),
        ((hosts.NOBODY,), "^nobody answered$"),
        ((0, hosts.NOBODY), "^nobody answered; it had led 1 process$"),
        ((-signal.SIGABRT,), "'h:1' was lost during a process"),
        ((1,), "^following 'h:1': ended with 1"),
    ],
)
def test_who_follows_hears_how_it_ended(monkeypatch, codes, said):
    left = iter(codes)
    monkeypatch.setattr(follower.children, "child", lambda *_, **__: nullcontext(Ended(next(left), "nobody answered")))
    if said is None:
        assert follower.follow("h:1", 1.0, lambda _: None) == 2
        return
    with pytest.raises(RuntimeError, match=said):
        follower.follow("h:1", 1.0, lambda _: None)

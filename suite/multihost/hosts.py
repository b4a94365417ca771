"""One step over several hosts: the first drives its program, and the others repeat its calls on theirs.

Each host holds a part of the devices, joined by XLA's collectives, so all must dispatch the same programs in the same
order. The first host decides by its clock, such as the steps of a sample, and sends each call to the others.
"""

import os
import platform
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from suite.case import Case
from suite.multihost import messages
from suite.multihost.messages import Begin, Call, Finished, Hello, HostFailed, packed, receive, send, unpacked
from suite.processes import children
from suite.programs import load
from suite.worker_api.program import Program

ADDRESS = "SUITE_HOSTS_ADDRESS"  # of the first host, HOST:PORT, in the environment of its worker
TOGETHER = ("initialise", "put", "lower", "compile", "chain", "feed", "block")  # a program's methods on all hosts
NOBODY = 3  # exit code of a follower if the first host did not answer in time
SHUT_DOWN = 4  # exit code if the first host has no more work
LEFT = 5  # exit code if the first host ended before a case began, such as when a third host did not come
_PATIENCE_SECONDS = 120.0
_FAREWELL_SECONDS = 20.0  # for followers to ask for the next process


class NobodyError(RuntimeError):
    """The first host did not answer in time."""


class LeftError(RuntimeError):
    """The first host ended before a case began; it may begin another."""


class MultihostProgram:
    """A program spread over several hosts, driven like any other program."""

    def __init__(self, program: Program, others: Sequence[Connection]) -> None:
        self._program, self._others = program, others

    def __getattr__(self, name: str) -> Any:
        """Return the program's attribute; a method in TOGETHER is sent to the other hosts first."""
        own = getattr(self._program, name)
        return partial(self._everywhere, name, own) if name in TOGETHER else own

    def _everywhere(self, name: str, own: Any, *given: Any) -> Any:
        call = Call(name=name)
        if given and name == "put":
            call = Call(name=name, batches=tuple({key: packed(array) for key, array in b.items()} for b in given[0]))
        elif given:
            call = Call(name=name, number=given[0])
        for connection in self._others:
            send(connection, call)
        return own(*given)


def check_bindable(address: str) -> None:
    """Raise RuntimeError if this machine cannot listen at an address."""
    try:
        socket.create_server(_parts(address)).close()
    except OSError as error:
        raise RuntimeError(
            f"--address '{address}' asked for, this machine cannot listen there ({error.strerror}); give a name or "
            "number of this machine that the others can reach, and a free port"
        ) from None


def gathered(case: Case, address: str, patience_seconds: float = _PATIENCE_SECONDS) -> tuple[Connection, ...]:
    """Wait for the other hosts of a case, initialise JAX on all of them, and return the connections.

    From then on this process exits if one of them is lost. Raises RuntimeError if one does not come in time, or
    differs in software or kind of machine.
    """
    connections, first = list[Connection](), messages.hello()
    coordinator = f"{_parts(address)[0]}:{_free_port()}"
    for connection, other in _arriving(case.hosts - 1, address, patience_seconds):
        if reason := messages.unlike(other, first):
            send(connection, HostFailed(reason=reason))
            raise RuntimeError(reason)
        connections.append(connection)
    if len(connections) < case.hosts - 1:
        raise RuntimeError(
            f"{case.hosts} hosts asked for, {1 + len(connections)} came within {patience_seconds:.0f} s; "
            f"run 'suite join {address}' on each of the others"
        )
    for index, connection in enumerate(connections, 1):
        send(connection, Begin(case=case, coordinator=coordinator, index=index))
        threading.Thread(target=_listen, args=(connection,), daemon=True).start()
    join(case, coordinator, 0)
    return tuple(connections)


def _arriving(count: int, address: str, patience_seconds: float) -> Iterator[tuple[Connection, Hello]]:
    """Yield the connection and hello of each host that connects to an address, at most `count`."""
    end = time.monotonic() + patience_seconds
    with socket.create_server(_parts(address)) as server:
        while count:
            server.settimeout(max(end - time.monotonic(), 0.01))
            try:
                accepted, _ = server.accept()
            except TimeoutError:
                return
            if greeted := messages.greeted(accepted):
                count -= 1
                yield greeted


def shut_down(count: int, address: str, patience_seconds: float = _FAREWELL_SECONDS) -> int:
    """Tell `count` other hosts, as they connect, that the work is done; return how many connected."""
    told = 0
    for connection, _ in _arriving(count, address, patience_seconds):
        with connection, suppress(OSError):
            send(connection, Finished())
        told += 1
    return told


def follow(address: str, patience_seconds: float, begun: Callable[[Begin], object]) -> bool:
    """Take part in one case of the host at an address, until it ends; return False if that host has no more.

    `begun` is called with the case. Raises NobodyError if that host does not answer in time, LeftError if it ends
    before the case begins, RuntimeError if it refuses this host.
    """
    connection = connected(address, patience_seconds)
    send(connection, messages.hello())
    try:
        try:
            begin = receive(connection)
        except EOFError:
            raise LeftError(f"'{address}' ended before a case began; see its messages for the reason") from None
        if isinstance(begin, Finished):
            return False
        if isinstance(begin, HostFailed):
            raise RuntimeError(f"'{address}' refuses this host: {begin.reason}")
        if not isinstance(begin, Begin):
            raise ValueError(f"'{address}' begins with {type(begin).__name__}, not with a case")
        begun(begin)
        os.environ |= children.environment(begin.case.backend)
        join(begin.case, begin.coordinator, begin.index)
        program, _ = load.of_this_host(begin.case)
        for call in calls(connection):
            given = () if call.number is None else (call.number,)
            if call.batches is not None:
                given = ([{name: unpacked(array) for name, array in b.items()} for b in call.batches],)
            getattr(program, call.name)(*given)
    except EOFError:
        pass  # the first host has finished the case
    except Exception as error:
        with suppress(OSError):
            send(connection, HostFailed(reason=f"{platform.node()}: {type(error).__name__}: {error}"))
        raise
    return True


def connected(address: str, patience_seconds: float) -> Connection:
    """Return a connection to the first host, as soon as it listens.

    Raises NobodyError if it does not listen in time.
    """
    end = time.monotonic() + patience_seconds
    while True:
        try:
            sock = socket.create_connection(_parts(address), 5)
            sock.setblocking(True)
            return Connection(sock.detach())
        except OSError:
            if time.monotonic() > end:
                raise NobodyError(
                    f"nobody answered at '{address}' within {patience_seconds:.0f} s; start suite run --hosts there, "
                    "or give its address"
                ) from None
            time.sleep(0.2)


def join(case: Case, coordinator: str, index: int) -> None:
    """Initialise JAX's distributed runtime as process `index` of the case's hosts."""
    import jax

    if case.backend == "cpu":
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.config.update("jax_num_cpu_devices", case.devices // case.hosts)
    jax.distributed.initialize(coordinator, case.hosts, index)


def calls(connection: Connection) -> Iterator[Call]:
    """Yield the calls that the first host sends.

    Raises EOFError at the end, ValueError for a message that is not one of these calls.
    """
    while True:
        call = receive(connection)
        if not isinstance(call, Call) or call.name not in TOGETHER:
            raise ValueError(f"'{call}' is not a call that hosts share")
        yield call


def _listen(connection: Connection) -> None:
    """Exit if another host is lost: its collectives would block for ever."""
    try:
        message = receive(connection)
        reason = message.reason if isinstance(message, HostFailed) else str(message)
    except (EOFError, OSError):
        reason = "its connection closed"
    print(f"RuntimeError: another host failed: {reason}", file=sys.stderr, flush=True)
    os._exit(1)


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]

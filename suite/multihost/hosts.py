"""One step over several hosts: the first drives its program, and every other does to its own what it is told.

Each host holds a part of the devices, and XLA's collectives join them, so all must dispatch the same programs in the
same order. What the first decides by its clock, such as how many steps make a sample, the others cannot know.
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
from suite.multihost import handshake
from suite.multihost.messages import Begin, Call, Finished, Hello, HostFailed, packed, receive, send, unpacked
from suite.processes import children
from suite.programs import load
from suite.worker_api.program import Program

ADDRESS = "SUITE_HOSTS_ADDRESS"  # of the first host, HOST:PORT, in the environment of its worker
TOGETHER = ("initialise", "put", "lower", "compile", "chain", "feed", "block")  # of a program's methods
NOBODY = 3  # exit code of a process to which the first host has not answered in time
SHUT_DOWN = 4  # exit code of one to which it has said that there is no more to do
LEFT = 5  # exit code of one that it has left before a case began, as where a third host did not come
_PATIENCE_SECONDS = 120.0
_FAREWELL_SECONDS = 20.0  # within which who waits for the next process comes for it


class NobodyError(RuntimeError):
    """The first host has not answered in time."""


class LeftError(RuntimeError):
    """The first host has ended before a case began; it may begin another."""


class MultihostProgram:
    """A program of which every other host has another part; driven as any program is."""

    def __init__(self, program: Program, others: Sequence[Connection]) -> None:
        self._program, self._others = program, others

    def __getattr__(self, name: str) -> Any:
        """Return what the program has; a method that all hosts take part in tells the others first."""
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
            "number that the others know it by, and a port that is free"
        ) from None


def gathered(case: Case, address: str, patience_seconds: float = _PATIENCE_SECONDS) -> tuple[Connection, ...]:
    """Wait for the other hosts of a case, join them and this one under JAX, and return the connections to them.

    From then on this process ends if one of them is lost.

    Raises RuntimeError if one does not come in time, has other software or is another kind of machine.
    """
    found, mine = list[Connection](), handshake.hello()
    coordinator = f"{_parts(address)[0]}:{_free_port()}"
    for connection, there in _arriving(case.hosts - 1, address, patience_seconds):
        if reason := handshake.unlike(there, mine):
            send(connection, HostFailed(reason=reason))
            raise RuntimeError(reason)
        found.append(connection)
    if len(found) < case.hosts - 1:
        raise RuntimeError(
            f"{case.hosts} hosts asked for, {1 + len(found)} came within {patience_seconds:.0f} s; "
            f"run 'suite join {address}' on each of the others"
        )
    for index, connection in enumerate(found, 1):
        send(connection, Begin(case=case, coordinator=coordinator, index=index))
        threading.Thread(target=_listen, args=(connection,), daemon=True).start()
    join(case, coordinator, 0)
    return tuple(found)


def _arriving(count: int, address: str, patience_seconds: float) -> Iterator[tuple[Connection, Hello]]:
    """Yield the connection to each host that comes to an address, up to so many, and what it says of itself."""
    end = time.monotonic() + patience_seconds
    with socket.create_server(_parts(address)) as server:
        while count:
            server.settimeout(max(end - time.monotonic(), 0.01))
            try:
                accepted, _ = server.accept()
            except TimeoutError:
                return
            if greeted := handshake.greeted(accepted):
                count -= 1
                yield greeted


def shut_down(count: int, address: str, patience_seconds: float = _FAREWELL_SECONDS) -> int:
    """Tell the other hosts, so many, that this one has no more to do as they come to ask; return how many came."""
    came = 0
    for connection, _ in _arriving(count, address, patience_seconds):
        with connection, suppress(OSError):
            send(connection, Finished())
        came += 1
    return came


def follow(address: str, patience_seconds: float, begun: Callable[[Begin], object]) -> bool:
    """Take part in one case of the host at an address, until it has ended; return False if that host has no more.

    `begun` is told what it is. Raises NobodyError if that host does not answer in time, LeftError if it ends before
    the case begins, RuntimeError if it refuses this one.
    """
    connection = connected(address, patience_seconds)
    send(connection, handshake.hello())
    try:
        begin = first_word(connection, address)
        if isinstance(begin, Finished):
            return False
        if isinstance(begin, HostFailed):
            raise RuntimeError(f"'{address}' goes on without this host: {begin.reason}")
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
        pass  # the first host is done with the case
    except Exception as error:
        with suppress(OSError):
            send(connection, HostFailed(reason=f"{platform.node()}: {type(error).__name__}: {error}"))
        raise
    return True


def first_word(connection: Connection, address: str) -> object:
    """Return what the first host begins with. Raises LeftError if it ends before that."""
    try:
        return receive(connection)
    except EOFError:
        raise LeftError(f"'{address}' ended before a case began; what it says there tells why") from None


def connected(address: str, patience_seconds: float) -> Connection:
    """Return a connection to the first host, once it listens.

    Raises NobodyError if it does not in time.
    """
    end = time.monotonic() + patience_seconds
    while True:
        try:
            found = socket.create_connection(_parts(address), 5)
            found.setblocking(True)
            return Connection(found.detach())
        except OSError:
            if time.monotonic() > end:
                raise NobodyError(
                    f"nobody answered at '{address}' within {patience_seconds:.0f} s; start suite run --hosts there, "
                    "or give its address"
                ) from None
            time.sleep(0.2)


def join(case: Case, coordinator: str, index: int) -> None:
    """Make this process one of JAX's."""
    import jax

    if case.backend == "cpu":
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.config.update("jax_num_cpu_devices", case.devices // case.hosts)
    jax.distributed.initialize(coordinator, case.hosts, index)


def calls(connection: Connection) -> Iterator[Call]:
    """Yield what this host is told to do.

    Raises EOFError at the end, ValueError for something that no program of several hosts does.
    """
    while True:
        call = receive(connection)
        if not isinstance(call, Call) or call.name not in TOGETHER:
            raise ValueError(f"'{call}' is nothing that hosts do together")
        yield call


def _listen(connection: Connection) -> None:
    """End this process if another host is lost: what it was to add would be waited for without end."""
    try:
        said = receive(connection)
        reason = said.reason if isinstance(said, HostFailed) else str(said)
    except (EOFError, OSError):
        reason = "it has gone"
    print(f"RuntimeError: another host cannot go on: {reason}", file=sys.stderr, flush=True)
    os._exit(1)


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]

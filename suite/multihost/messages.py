"""The messages between hosts, numbers and names only, never code; and the handshake before a shared step."""

import os
import platform
import socket
import struct
from contextlib import suppress
from multiprocessing.connection import Connection

import msgspec
import numpy as np

from suite.case import Case
from suite.system import machine, software
from suite.workload import Plain

_SECONDS = 5.0  # for a host to send its hello
_LENGTH_BYTES, _LONGEST = 4, 2**16  # a message begins with its length


class Hello(Plain, frozen=True, kw_only=True, tag="hello"):
    """A follower introduces itself."""

    host: str
    software: dict[str, str]
    machine: dict[str, str]


class Begin(Plain, frozen=True, kw_only=True, tag="begin"):
    """The case that a follower takes part in, and its index among the hosts."""

    case: Case
    coordinator: str
    index: int


class Array(Plain, frozen=True, kw_only=True):
    """An array: its dtype string, shape and bytes in C order."""

    kind: str
    shape: tuple[int, ...]
    data: bytes


class Call(Plain, frozen=True, kw_only=True, tag="call"):
    """A call of a program's method, with a number or batches."""

    name: str
    number: int | None = None
    batches: tuple[dict[str, Array], ...] | None = None


class HostFailed(Plain, frozen=True, kw_only=True, tag="lost"):
    """A host failed or was refused, with the reason."""

    reason: str


class Finished(Plain, frozen=True, kw_only=True, tag="done"):
    """The first host has no more work."""


Message = Hello | Begin | Call | HostFailed | Finished


def send(connection: Connection, message: Message) -> None:
    """Send a message."""
    connection.send_bytes(msgspec.msgpack.encode(message))


def receive(connection: Connection) -> Message:
    """Return the next message.

    Raises EOFError if the other side has closed the connection.
    """
    try:
        return msgspec.msgpack.decode(connection.recv_bytes(), type=Message)
    except ConnectionResetError:
        raise EOFError from None


def packed(array: np.ndarray) -> Array:
    """Return an array as a message."""
    return Array(kind=array.dtype.str, shape=array.shape, data=np.ascontiguousarray(array).tobytes())


def unpacked(array: Array) -> np.ndarray:
    """Return the array of a message."""
    return np.frombuffer(array.data, np.dtype(array.kind)).reshape(array.shape)


def hello() -> Hello:
    """Return this host's hello."""
    here = machine.machine()
    gpus = ", ".join(gpu.name for gpu in here.gpus) or "none"
    hardware = {"processor": here.cpu_model, "cores": str(here.cores), "GPUs": gpus}
    return Hello(host=platform.node(), software=software.here(), machine=hardware)


def greeted(accepted: socket.socket) -> tuple[Connection, Hello] | None:
    """Return the connection and hello of a host; None, with the connection closed, for any other client."""
    accepted.setblocking(True)
    _wait_at_most(accepted, _SECONDS)
    with suppress(OSError):
        length = int.from_bytes(accepted.recv(_LENGTH_BYTES, socket.MSG_PEEK), signed=True)
        if 0 < length < _LONGEST:
            connection = Connection(accepted.detach())
            with suppress(EOFError, OSError, msgspec.DecodeError):
                message = receive(connection)
                if isinstance(message, Hello):
                    with socket.socket(fileno=os.dup(connection.fileno())) as same:
                        _wait_at_most(same, 0)
                    return connection, message
            connection.close()
    accepted.close()
    return None


def _wait_at_most(connected: socket.socket, seconds: float) -> None:
    """Set the receive timeout of a socket, also for reads by its file descriptor; 0 waits for ever."""
    timeval = struct.pack("ll", int(seconds), int(1e6 * (seconds % 1)))
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)


def unlike(other: Hello, first: Hello) -> str:
    """Return why a host may not take part, with the differences; '' if it may. Records name only the first host."""
    if differs := software.differences(other.software, first.software):
        return f"host '{other.host}' has other software: {differs}; install the same on all"
    if differs := software.differences(other.machine, first.machine):
        return f"host '{other.host}' is another machine: {differs}; take hosts that are alike"
    return ""

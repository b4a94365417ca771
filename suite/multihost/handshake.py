"""The handshake of hosts before a shared step: their descriptions, and refusals."""

import os
import platform
import socket
import struct
from contextlib import suppress
from multiprocessing.connection import Connection

import msgspec

from suite.multihost.messages import Hello, receive
from suite.system import machine, software

_SECONDS = 5.0  # for a host to send its hello
_LENGTH_BYTES, _LONGEST = 4, 2**16  # a message begins with its length


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

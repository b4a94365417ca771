"""What hosts say of themselves before they take one step together, and who is refused."""

import os
import platform
import socket
import struct
from contextlib import suppress
from multiprocessing.connection import Connection

import msgspec

from suite.multihost.messages import Hello, receive
from suite.system import machine, software

_SECONDS = 5.0  # within which a host says who it is
_LENGTH_BYTES, _LONGEST = 4, 2**16  # before a message comes its length


def hello() -> Hello:
    """Return what this host says of itself."""
    here = machine.machine()
    gpus = ", ".join(gpu.name for gpu in here.gpus) or "none"
    alike = {"processor": here.cpu_model, "cores": str(here.cores), "GPUs": gpus}
    return Hello(host=platform.node(), software=software.here(), machine=alike)


def greeted(accepted: socket.socket) -> tuple[Connection, Hello] | None:
    """Return the connection to a host that says hello; None, and it is closed, to who found the port by chance."""
    accepted.setblocking(True)
    _wait_at_most(accepted, _SECONDS)
    with suppress(OSError):
        length = int.from_bytes(accepted.recv(_LENGTH_BYTES, socket.MSG_PEEK), signed=True)
        if 0 < length < _LONGEST:
            connection = Connection(accepted.detach())
            with suppress(EOFError, OSError, msgspec.DecodeError):
                there = receive(connection)
                if isinstance(there, Hello):
                    with socket.socket(fileno=os.dup(connection.fileno())) as same:
                        _wait_at_most(same, 0)
                    return connection, there
            connection.close()
    accepted.close()
    return None


def _wait_at_most(connected: socket.socket, seconds: float) -> None:
    """Have what reads from a socket by its number fail where so long nothing comes; 0: wait for ever."""
    whole = int(seconds)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", whole, int(1e6 * (seconds - whole))))


def unlike(there: Hello, mine: Hello) -> str:
    """Return why a host may not take part, naming what differs; '' if it may: the record names the first host alone."""
    if differs := software.differences(there.software, mine.software):
        return f"host '{there.host}' has other software: {differs}; install the same on all"
    if differs := software.differences(there.machine, mine.machine):
        return f"host '{there.host}' is another machine: {differs}; take hosts that are alike"
    return ""

"""The messages between hosts: numbers and names only, never code."""

from multiprocessing.connection import Connection

import msgspec
import numpy as np

from suite.case import Case
from suite.workload import Plain


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

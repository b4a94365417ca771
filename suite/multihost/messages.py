"""What hosts say to each other: one message after another, of numbers and names; nothing that is sent is ever run."""

from multiprocessing.connection import Connection

import msgspec
import numpy as np

from suite.case import Case
from suite.workload import Plain


class Hello(Plain, frozen=True, kw_only=True, tag="hello"):
    """Another host is there."""

    host: str
    software: dict[str, str]
    machine: dict[str, str]


class Begin(Plain, frozen=True, kw_only=True, tag="begin"):
    """What another host takes part in, and as which of them."""

    case: Case
    coordinator: str
    index: int


class Array(Plain, frozen=True, kw_only=True):
    """An array of numbers."""

    kind: str
    shape: tuple[int, ...]
    data: bytes


class Call(Plain, frozen=True, kw_only=True, tag="call"):
    """A method of the program, with a number or batches."""

    name: str
    number: int | None = None
    batches: tuple[dict[str, Array], ...] | None = None


class HostFailed(Plain, frozen=True, kw_only=True, tag="lost"):
    """Another host cannot go on."""

    reason: str


class Finished(Plain, frozen=True, kw_only=True, tag="done"):
    """The first host has no more to do."""


Message = Hello | Begin | Call | HostFailed | Finished


def send(connection: Connection, message: Message) -> None:
    """Send a message."""
    connection.send_bytes(msgspec.msgpack.encode(message))


def receive(connection: Connection) -> Message:
    """Return the next message.

    Raises EOFError where there is none any more.
    """
    try:
        return msgspec.msgpack.decode(connection.recv_bytes(), type=Message)
    except ConnectionResetError:
        raise EOFError from None


def packed(array: np.ndarray) -> Array:
    """Return an array as it is sent."""
    return Array(kind=array.dtype.str, shape=array.shape, data=np.ascontiguousarray(array).tobytes())


def unpacked(array: Array) -> np.ndarray:
    """Return an array as it was."""
    return np.frombuffer(array.data, np.dtype(array.kind)).reshape(array.shape)

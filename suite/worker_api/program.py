"""The contract of a program: a step that the worker can drive and block on."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from suite.results.records.run import JaxprCost

Batch = dict[str, np.ndarray]


class Program(Protocol):
    """One workload of one implementation, driven through its stages in this order."""

    @property
    def steps_per_call(self) -> int:
        """How many steps one dispatch takes; chains are multiples of it."""
        ...

    def initialise(self, seed: int) -> None:
        """Put parameters, statistics, optimizer state and random keys on the device."""

    def put(self, batches: Sequence[Batch]) -> None:
        """Put the input sets on the device; steps rotate through them."""

    def lower(self) -> None:
        """Trace the step; do nothing if the implementation has no such stage."""

    def compile(self) -> None:
        """Compile the step; do nothing if the implementation has no such stage."""

    def chain(self, steps: int) -> None:
        """Dispatch `steps` dependent steps without blocking."""

    def block(self) -> None:
        """Block until inputs, state and the last output are ready."""

    def loss(self) -> float:
        """Return the last step's loss."""
        ...

    def compilations(self) -> int:
        """Return how many programs this process has compiled so far."""
        ...

    def cache_hits(self) -> int | None:
        """Return how many programs came from a compile cache so far; None without a cache."""
        ...

    def jaxpr_cost(self) -> JaxprCost | None:
        """Return what the step's results need; None if unsupported, and then nothing is replayed."""
        ...

    def program_digest(self) -> str:
        """Return a digest of what a step computes and how, independent of file locations and seed."""
        ...

    def state_digest(self) -> str | None:
        """Return a digest of the current state; None if replays are unsupported."""
        ...

    def platform(self) -> str | None:
        """Return the backend of the device that holds the arrays, as the framework reports it; None if it does not."""
        ...

    def device_memory_bytes(self) -> int | None:
        """Return the device's peak memory in bytes; None if unsupported."""

    def bytes_per_step(self) -> int | None:
        """Return the least bytes that a step reads and writes; None if unsupported."""

    def packages(self) -> dict[str, str]:
        """Return the versions of the packages that do the work."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return the options in force that affect speed."""
        ...


@runtime_checkable
class HostFed(Protocol):
    """A program that also takes its batches from the host."""

    def feed(self, steps: int) -> None:
        """Dispatch `steps` dependent steps, each with its batch copied to the device first."""

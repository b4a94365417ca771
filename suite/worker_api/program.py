"""What the worker needs from an implementation: a step that it can drive and wait for."""

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
        """Trace the step; nothing where the implementation has no such stage."""

    def compile(self) -> None:
        """Compile the step; nothing where the implementation has no such stage."""

    def chain(self, steps: int) -> None:
        """Dispatch that many dependent steps without waiting for them."""

    def block(self) -> None:
        """Return when every leaf of the inputs, the state and the last output, if there is one, is there."""

    def loss(self) -> float:
        """Return the last step's loss."""
        ...

    def compilations(self) -> int:
        """Return how many programs this process has compiled so far."""
        ...

    def cache_hits(self) -> int | None:
        """Return how many programs came from a compile cache so far; None where there is none."""
        ...

    def jaxpr_cost(self) -> JaxprCost | None:
        """Return what the results of the step need; None where it cannot be told, and then nothing is replayed."""
        ...

    def program_digest(self) -> str:
        """Return a digest of what a step computes and how, the same wherever its code lies and whatever the seed."""
        ...

    def state_digest(self) -> str | None:
        """Return a digest of what the steps so far have made of the state; None where nothing is replayed."""
        ...

    def platform(self) -> str | None:
        """Return the backend of the device that holds the arrays, as it says itself; None if it does not."""
        ...

    def device_memory_bytes(self) -> int | None:
        """Return the device's peak of memory in use; None where there is no counter."""

    def bytes_per_step(self) -> int | None:
        """Return what a step has to read and write at least; None where nobody counts."""

    def packages(self) -> dict[str, str]:
        """Return the versions of the packages that do the work."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return the options in force that bear on speed."""
        ...


@runtime_checkable
class HostFed(Protocol):
    """A program that can also take its batches from the host."""

    def feed(self, steps: int) -> None:
        """Dispatch that many dependent steps, each with its batch copied to the device first."""

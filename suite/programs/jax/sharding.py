"""Placement of a step's arrays: on one device, or the state on each device and the batch split between them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

from suite.case import Backend, Case


@dataclass(frozen=True, kw_only=True)
class Shardings:
    """The devices of a case and the sharding of its arrays."""

    devices: tuple[jax.Device, ...]  # pyright: ignore[reportInvalidTypeForm]
    state: Sharding  # replicated on each device
    batch: Sharding  # split along axis 0, the examples
    batches: Sharding  # of several batches stacked: split along axis 1

    @property
    def outputs(self) -> Sharding | None:
        """The sharding of a compiled step's outputs; None with one device."""
        return self.state if len(self.devices) > 1 else None

    @property
    def in_turn(self) -> bool:
        """Whether each call must end before the next is made.

        Parts of a CPU wait for each other on as many threads as there are cores. With two calls in flight all threads
        can wait for parts that get none, and XLA ends the process.
        """
        return len(self.devices) > 1 and self.devices[0].platform == "cpu"

    def apart(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs on each device with that device's part of axis 0 of every argument and result."""
        if not isinstance(self.batch, NamedSharding):
            return run
        mine = self.batch.spec
        return jax.shard_map(run, mesh=self.batch.mesh, in_specs=mine, out_specs=mine)


def shardings(case: Case, cpu_devices: int = 1) -> Shardings:
    """Return the placement of a case's arrays.

    A CPU asked for as one device is split into as many as the batch divides over, up to `cpu_devices`.

    Raises RuntimeError if the backend or that many devices are missing, ValueError if the batch does not divide.
    """
    if case.batch % case.devices:
        raise ValueError(f"batch {case.batch} does not divide over {case.devices} devices; change one of them")
    if case.backend == "cpu" and case.devices == 1 and cpu_devices > 1:
        parts = split_cpu(min(cpu_devices, case.threads or cpu_devices))
        return shardings_over(parts[: _most(len(parts), case.batch)])
    return shardings_over(devices(case.backend, case.devices, case.hosts))


def _most(parts: int, batch: int) -> int:
    """Return the largest number of parts, at most `parts`, that divides a batch."""
    return next(number for number in range(parts, 0, -1) if batch % number == 0)


def shardings_over(chosen: tuple[jax.Device, ...]) -> Shardings:  # pyright: ignore[reportInvalidTypeForm]
    """Return the placement over these devices."""
    if len(chosen) == 1:
        here = SingleDeviceSharding(chosen[0])
        return Shardings(devices=chosen, state=here, batch=here, batches=here)
    mesh = Mesh(np.array(chosen), ("data",))
    state, batch, batches = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("data",), (None, "data")))
    return Shardings(devices=chosen, state=state, batch=batch, batches=batches)


def split_cpu(count: int) -> tuple[jax.Device, ...]:  # pyright: ignore[reportInvalidTypeForm]
    """Return the devices made of the CPU's cores: `count`, unless JAX has already started with another number."""
    with suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", count)
    return tuple(jax.devices("cpu")[:count])


def put(tree: Any, sharding: Sharding) -> Any:
    """Return a tree's arrays on their devices; with several hosts, each puts its own part."""
    if sharding.is_fully_addressable:
        return jax.device_put(tree, sharding)

    def spread_out(array: Any) -> jax.Array:
        if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(spread_out(jax.random.key_data(array)))
        whole = np.asarray(array)
        return jax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])

    return jax.tree.map(spread_out, tree)


def devices(backend: Backend, count: int = 1, hosts: int = 1) -> tuple[jax.Device, ...]:  # pyright: ignore[reportInvalidTypeForm]
    """Return the first devices of the requested backend, equally many of each host; on the CPU made of its cores.

    Raises RuntimeError if JAX sees too few; it never falls back to another backend.
    """
    if backend == "cpu" and count > 1 and hosts == 1:
        split_cpu(count)
    try:
        available = jax.devices(backend)
    except (RuntimeError, AssertionError):  # a CPU-only jaxlib answers JAX_PLATFORMS=cuda with a bare AssertionError
        available = []
    if not available:
        raise RuntimeError(
            f"backend '{backend}' asked for, JAX sees none; "
            "install the gpu extra (cuda13 or cuda12) or run --backend cpu"
        )
    if hosts > 1:
        each = ([device for device in available if device.process_index == host] for host in range(hosts))
        available = [device for mine in each for device in mine[: count // hosts]]
    if len(available) < count:
        raise RuntimeError(
            f"{count} devices asked for on backend '{backend}', JAX sees {len(available)}; ask for fewer"
        )
    return tuple(available[:count])

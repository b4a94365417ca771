"""Where a step's arrays lie: on one device, or over several with the state on each and the batch split between them."""

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
    """The devices of a case, and what lies where on them."""

    devices: tuple[jax.Device, ...]  # pyright: ignore[reportInvalidTypeForm]
    state: Sharding  # whole on each device
    batch: Sharding  # its examples, axis 0, split between the devices
    batches: Sharding  # of several batches side by side: axis 1 split

    @property
    def outputs(self) -> Sharding | None:
        """What a compiled step must return; None where there is no choice."""
        return self.state if len(self.devices) > 1 else None

    @property
    def in_turn(self) -> bool:
        """Whether each call must end before the next is made.

        Parts of a CPU wait for each other on as many threads as there are cores: when two calls are under way, all
        threads can wait for parts that get none, and XLA ends the process.
        """
        return len(self.devices) > 1 and self.devices[0].platform == "cpu"

    def apart(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return what runs on each device with its own part of axis 0 of every argument, and of every result."""
        if not isinstance(self.batch, NamedSharding):
            return run
        mine = self.batch.spec
        return jax.shard_map(run, mesh=self.batch.mesh, in_specs=mine, out_specs=mine)


def shardings(case: Case, cpu_devices: int = 1) -> Shardings:
    """Return where a case's arrays lie.

    A CPU asked for as one device is split into as many as the batch divides over, up to `cpu_devices`.

    Raises RuntimeError if the backend or so many of its devices are not there, ValueError if the batch does not divide.
    """
    if case.batch % case.devices:
        raise ValueError(f"batch {case.batch} does not divide over {case.devices} devices; choose another of the two")
    if case.backend == "cpu" and case.devices == 1 and cpu_devices > 1:
        parts = split_cpu(min(cpu_devices, case.threads or cpu_devices))
        return shardings_over(parts[: _most(len(parts), case.batch)])
    return shardings_over(devices(case.backend, case.devices, case.hosts))


def _most(parts: int, batch: int) -> int:
    """Return the largest number of parts, up to so many, over which a batch divides."""
    return next(number for number in range(parts, 0, -1) if batch % number == 0)


def shardings_over(found: tuple[jax.Device, ...]) -> Shardings:  # pyright: ignore[reportInvalidTypeForm]
    """Return the placement over these devices."""
    if len(found) == 1:
        here = SingleDeviceSharding(found[0])
        return Shardings(devices=found, state=here, batch=here, batches=here)
    mesh = Mesh(np.array(found), ("data",))
    state, batch, batches = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("data",), (None, "data")))
    return Shardings(devices=found, state=state, batch=batch, batches=batches)


def split_cpu(count: int) -> tuple[jax.Device, ...]:  # pyright: ignore[reportInvalidTypeForm]
    """Return the devices that the cores form: so many, unless JAX has begun with another number."""
    with suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", count)
    return tuple(jax.devices("cpu")[:count])


def put(tree: Any, sharding: Sharding) -> Any:
    """Return a tree's arrays on their devices; where other hosts have some of them, each puts its own part there."""
    if sharding.is_fully_addressable:
        return jax.device_put(tree, sharding)

    def spread_out(array: Any) -> jax.Array:
        if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(spread_out(jax.random.key_data(array)))
        whole = np.asarray(array)
        return jax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])

    return jax.tree.map(spread_out, tree)


def devices(backend: Backend, count: int = 1, hosts: int = 1) -> tuple[jax.Device, ...]:  # pyright: ignore[reportInvalidTypeForm]
    """Return the first devices of the backend asked for, of each host as many; on the CPU they are made of its cores.

    Raises RuntimeError if JAX does not see as many; it never falls back to another backend.
    """
    if backend == "cpu" and count > 1 and hosts == 1:
        split_cpu(count)
    try:
        found = jax.devices(backend)
    except (RuntimeError, AssertionError):  # a CPU-only jaxlib answers JAX_PLATFORMS=cuda with a bare AssertionError
        found = []
    if not found:
        raise RuntimeError(
            f"backend '{backend}' asked for, JAX sees none; "
            "install the gpu extra (cuda13 or cuda12) or run --backend cpu"
        )
    if hosts > 1:
        each = ([device for device in found if device.process_index == host] for host in range(hosts))
        found = [device for mine in each for device in mine[: count // hosts]]
    if len(found) < count:
        raise RuntimeError(f"{count} devices asked for on backend '{backend}', JAX sees {len(found)}; ask for fewer")
    return tuple(found[:count])

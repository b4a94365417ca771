"""Where a step's arrays lie: on one device, or over several with the state on each and the batch split between them."""

from contextlib import suppress
from dataclasses import dataclass

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

from suite.workload import Backend, Case


@dataclass(frozen=True, kw_only=True)
class Placement:
    """The devices of a case, and what lies where on them."""

    devices: tuple[jax.Device, ...]  # pyright: ignore[reportInvalidTypeForm]
    state: Sharding  # whole on each device
    batch: Sharding  # its examples, axis 0, split between the devices
    batches: Sharding  # of several batches side by side: axis 1 split

    @property
    def outputs(self) -> Sharding | None:
        """What a compiled step must return; None where there is no choice."""
        return self.state if len(self.devices) > 1 else None


def placement(case: Case) -> Placement:
    """Return where a case's arrays lie.

    Raises RuntimeError if the backend or so many of its devices are not there, ValueError if the batch does not divide.
    """
    if case.batch % case.devices:
        raise ValueError(f"batch {case.batch} does not divide over {case.devices} devices; choose another of the two")
    found = devices(case.backend, case.devices)
    if case.devices == 1:
        here = SingleDeviceSharding(found[0])
        return Placement(devices=found, state=here, batch=here, batches=here)
    mesh = Mesh(np.array(found), ("data",))
    state, batch, batches = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("data",), (None, "data")))
    return Placement(devices=found, state=state, batch=batch, batches=batches)


def devices(backend: Backend, count: int = 1) -> tuple[jax.Device, ...]:  # pyright: ignore[reportInvalidTypeForm]
    """Return the first devices of the backend asked for; on the CPU they are made of its cores.

    Raises RuntimeError if JAX does not see as many; it never falls back to another backend.
    """
    if backend == "cpu" and count > 1:
        with suppress(RuntimeError):  # too late once JAX has begun; then those that there are must do
            jax.config.update("jax_num_cpu_devices", count)
    try:
        found = jax.devices(backend)
    except (RuntimeError, AssertionError):  # a CPU-only jaxlib answers JAX_PLATFORMS=cuda with a bare AssertionError
        found = []
    if not found:
        raise RuntimeError(
            f"backend '{backend}' asked for, JAX sees none; "
            "install the gpu extra (cuda13 or cuda12) or run --backend cpu"
        )
    if len(found) < count:
        raise RuntimeError(f"{count} devices asked for on backend '{backend}', JAX sees {len(found)}; ask for fewer")
    return tuple(found[:count])
